package write

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/doc"
)

func TestBarOf(t *testing.T) {
	for columns, want := range map[float64]string{0: "▏", 1: "█", 1.5: "█▌", 2.125: "██▏", 2.875: "██▉", 3: "███"} {
		if got := barOf(columns); got != want {
			t.Errorf("%v columns: %q, want %q", columns, got, want)
		}
	}
}

// A fact has a space after its key, however long the key is.
func TestLongKeys(t *testing.T) {
	var out strings.Builder
	if err := WriteText(&out, &doc.Document{Chapters: []doc.Chapter{{Facts: []doc.Fact{{Key: "host", Value: "here"}, {Key: "files read twice", Value: "by DuckDB"}}}}}, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if want := "  host              here\n  files read twice  by DuckDB\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
