package tdengine

import (
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The tables of series are named as those of TDengine's fork of TSBS where its texts are to read them.
func TestChildren(t *testing.T) {
	table := conformance.Table("usage")
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 10}
	for option, want := range map[string]string{childSeries: "`tsmark`.`cpu_7`", childTag: "`tsmark`.`host_7`"} {
		o := conformance.Options(t, Driver(), optionChild, option)
		d := &database{design: newDesign(o), name: "tsmark", options: o}
		if err := d.design.check(schema); err != nil {
			t.Error(err)
		}
		if got := string(d.newWriter(nil, schema).tables[table].name(nil, 7)); got != want {
			t.Errorf("child=%s: the table of series 7 is %s, want %s", option, got, want)
		}
		_, err := tsbsRequest("SELECT 1 FROM host_7", o)
		if errors.Is(err, query.ErrUnsupported) == (option == childTag) {
			t.Errorf("child=%s: a text of TSBS: %v", option, err)
		}
	}
	if _, err := tsbsRequest("", driver.Options{optionChild: childTag, optionPrecision: "us"}); !errors.Is(err, query.ErrUnsupported) {
		t.Errorf("a text of TSBS over microseconds: %v", err)
	}
	byTag := newDesign(conformance.Options(t, Driver(), optionChild, childTag))
	other := conformance.Table("usage")
	other.Name, other.Tags = "disk", other.Tags[1:]
	for want, tables := range map[string][]*series.Table{
		"the dataset has 2 tables":                       {table, other},
		"the values of tag region of table disk are not": {other},
		"table none has no tags":                         {{Name: "none", Fields: table.Fields}},
	} {
		if err := byTag.check(&series.Schema{Tables: tables, Series: 10}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
