package all

import "testing"

func TestKindsAreComplete(t *testing.T) {
	for _, kind := range Kinds() {
		if kind.Help == "" || kind.Render == nil || kind.Open == nil || kind.Caps.TimePrecision <= 0 {
			t.Errorf("%s is not complete: %+v", kind.Name, kind)
		}
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
