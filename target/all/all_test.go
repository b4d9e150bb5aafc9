package all

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for _, kind := range Kinds() {
		found, err := Find(kind.Name)
		if err != nil || found.Name != kind.Name {
			t.Errorf("Find(%q) = %q, %v", kind.Name, found.Name, err)
		}
		if kind.Help == "" || kind.Render == nil || kind.Open == nil || kind.Caps.TimePrecision <= 0 {
			t.Errorf("%s is not complete: %+v", kind.Name, kind)
		}
	}
	if _, err := Find("duckbd"); err == nil || !strings.Contains(err.Error(), `did you mean "duckdb"?`) {
		t.Errorf("a mistyped name: %v", err)
	}
}

func TestNamesDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, kind := range Kinds() {
		if seen[kind.Name] {
			t.Errorf("two kinds are called %s", kind.Name)
		}
		seen[kind.Name] = true
	}
}
