package printed

import (
	"strings"
	"testing"
)

// The numbers of figures per document were counted by a reader.
func TestAll(t *testing.T) {
	count, doubtful, raw := map[string]int{}, map[string]int{}, map[string]int{}
	for _, f := range All() {
		count[f.Document]++
		if f.Doubt() != "" {
			doubtful[f.Document]++
		}
		if f.Raw() != "" {
			raw[f.Document]++
		}
	}
	for document, want := range map[string]int{"000": 198, "001": 92, "002": 332, "003": 31, "004": 2147, "005": 61, "006": 23} {
		if count[document] != want {
			t.Errorf("document %s has %d figures, want %d", document, count[document], want)
		}
	}
	if doubtful["004"] != 233 || raw["004"] != 233 {
		t.Errorf("004 has %d doubtful cells, %d of them with another value, want 233 and 233", doubtful["004"], raw["004"])
	}
}

// A doubtful cell keeps the printed number next to the authors' separately published one.
func TestDoubtfulCell(t *testing.T) {
	for _, f := range Figures("004", "load") {
		if f.Table == "load-total" && f.System == "TimescaleDB" && f.Parameters["dataset"] == "big" && f.Parameters["workers"] == "1" {
			if f.Value != 984.353 || f.Raw() != "944.353" || f.Best() != 944.353 {
				t.Errorf("printed %v, published %q, best %v", f.Value, f.Raw(), f.Best())
			}
			return
		}
	}
	t.Error("the cell is not there")
}

func TestParseReportsTheLine(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"document\n", "line 1: the columns"},
		{columns + "\n000\t1\n", "line 2: has 2 cells"},
		{columns + "\n000\t1\te\tQuestDB\ta=1\tload_s\tfast\ts\t\n", `line 2: "fast" is not a number`},
		{columns + "\n000\t1\te\tQuestDB\ta\tload_s\t1\ts\t\n", `line 2: parameter "a" has no value`},
	} {
		if _, err := Parse(c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v, want %q in it", c.text, err, c.says)
		}
	}
}
