package docsite

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Every field of the document of a run has a comment, from which the site takes its meaning.
func TestFieldsHaveComments(t *testing.T) {
	found, err := readTypes(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found.reach("result.Run") {
		for _, f := range found.fields(name) {
			if f.meaning == "" {
				t.Errorf("%s: field %q has no comment; describe its meaning and unit", name, f.name)
			}
		}
	}
}

func TestFields(t *testing.T) {
	found, err := readTypes(fstest.MapFS{
		"result/a.go":  {Data: []byte("package result\n\ntype Run struct {\n\tName string `json:\"name\"` // a|b\n\tSecret int `json:\"-\"`\n\t// Load is the load;\n\t// nil: none.\n\tLoad *measure.Load `json:\"load,omitempty\"`\n\tPlace\n}\n\ntype Place struct {\n\tShares []string `json:\"shares\"`\n}\n")},
		"measure/b.go": {Data: []byte("package measure\n\ntype Load struct {\n\tBy map[string]time.Duration `json:\"by\"` // seconds\n}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	const head = "| field | JSON | meaning |\n|---|---|---|\n"
	want := "\n### Run\n\n" + head + "| `name` | text | a\\|b |\n| `load` | [Load](#load) | Load is the load; nil: none. |\n| … | [Place](#place) | its fields, in place of this line |\n" +
		"\n### Load\n\n" + head + "| `by` | object of number | seconds |\n" +
		"\n### Place\n\n" + head + "| `shares` | array of text |  |\n"
	if diff := cmp.Diff(want, found.markdown("result.Run")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The pages of the reference have tables that are not in their source.
func TestReference(t *testing.T) {
	s := &site{repository: os.DirFS("../..")}
	for page, want := range map[string]string{
		"docs/results.md":      "| `p999` | s | 99.9th percentile",
		"docs/iotdb-config.md": "| `DB_SWITCH` |",
		"docs/iotdb.md":        "| `late-mean` | `10` |",
		"docs/metrics.md":      "| `churn` | `0.06` |",
		"docs/ticks.md":        "| `skew` | `1` |",
		"docs/tsbs.md":         "| lastpoint | newest row of every host |",
		"docs/measuring.md":    "",
	} {
		if got, err := s.reference(page); err != nil || !strings.Contains(got, want) || (want == "" && got != "") {
			t.Errorf("%s: %q, %v", page, got, err)
		}
	}
}
