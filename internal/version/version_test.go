package version

import (
	"slices"
	"testing"
)

func TestCompare(t *testing.T) {
	want := []string{"1.3.0", "1.3.0-1", "2.0.1-alpha", "2.0.1-beta", "2.0.1", "9", "9.0", "9.0.0", "9.2.9", "9.2.10", "10.1"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Compare)
	if !slices.Equal(got, want) {
		t.Errorf("sorted as %q, want %q", got, want)
	}
	for _, v := range want {
		if Compare(v, v) != 0 {
			t.Errorf("%s differs from itself", v)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][2]string{"questdb@9.2.3": {"questdb", "9.2.3"}, "questdb": {"questdb", ""}} {
		name, version := Split(text)
		if name != want[0] || version != want[1] || Join(name, version) != text {
			t.Errorf("%s: %q, %q", text, name, version)
		}
	}
	if !IsWithin("9.2.3", "9.2") || IsWithin("9.21", "9.2") || !IsWithin("9.2", "9.2") {
		t.Error("series are prefixes by whole parts")
	}
}
