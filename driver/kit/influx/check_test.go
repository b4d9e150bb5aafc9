package influx

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/series"
)

// What line protocol cannot say is told with its name.
func TestTablesThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*series.Table){
		"a table is called tsmark_mark, which is tsmark's own":              func(t *series.Table) { t.Name = Note },
		`a table is called "#a", which no measurement can be`:               func(t *series.Table) { t.Name = "#a" },
		"two tags or fields of table cpu are called hostname":               func(t *series.Table) { t.Fields[0].Name = "hostname" },
		"two tags or fields of table cpu are called time, or it has":        func(t *series.Table) { t.Fields[0].Name = "time" },
		`table cpu has a tag or field called "a\nb", which line protocol`:   func(t *series.Table) { t.Fields[0].Name = "a\nb" },
		"what begins with " + OwnPrefix + " is tsmark's own: rename it":     func(t *series.Table) { t.Tags[0].Key = OwnPrefix + "x" },
		`table cpu has a tag or field called "a\\", which line protocol ca`: func(t *series.Table) { t.Tags[0].Key = `a\` },
	} {
		table := conformance.Table("usage")
		change(table)
		stub.Says(t, CheckSchema(&series.Schema{Tables: []*series.Table{table}, Series: 1}), want)
	}
	if err := CheckSchema(&series.Schema{Tables: []*series.Table{conformance.Table("usage")}, Series: 1}); err != nil {
		t.Error(err)
	}
}
