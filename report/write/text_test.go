package write

import "testing"

func TestBarOf(t *testing.T) {
	for columns, want := range map[float64]string{0: "▏", 1: "█", 1.5: "█▌", 2.125: "██▏", 2.875: "██▉", 3: "███"} {
		if got := barOf(columns); got != want {
			t.Errorf("%v columns: %q, want %q", columns, got, want)
		}
	}
}
