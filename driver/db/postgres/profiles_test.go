package postgres

import (
	"flag"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The golden files have the tables, the note and the queries of each profile that tsmark ships. They are written
// again by go test ./driver/db/postgres -update.
func TestProfiles(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	spec := workload.Spec{Name: "cpu-only", Scale: 2, Interval: time.Second, Start: time.Unix(0, 0), End: time.Unix(9, 0)}
	dataset, err := tsbs.CPUOnly().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"crate", "cockroach", "yugabyte"} {
		of, options, quirks := conformance.Profile(t, Driver(), name)
		conformance.Queries(t, of, options, "profile-"+name+".sql", update)
		resolved, err := of.Resolve(options)
		if err != nil {
			t.Fatal(err)
		}
		v := Variant{System: name, Bucket: bucket, quirks: quirks.(*sqlkit.Quirks)}
		l, err := v.layout(dataset.Schema(), resolved)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, table := range l.Tables {
			text.WriteString(randomDefault.ReplaceAllString(strings.Join(table.Make, "\n"), " DEFAULT …") + "\n")
		}
		for _, statement := range v.quirks.Settling(l.Tables, v.dialect(resolved)) {
			text.WriteString(statement + "\n")
		}
		conformance.Golden(t, "profile-"+name+"-tables.sql", text.String(), update)
	}
}

var randomDefault = regexp.MustCompile(` DEFAULT (TIMESTAMPTZ '[^']+'|\d+)`)

// Steps that a system lacks are not offered, and neither is what needs PostgreSQL's catalogs.
func TestProfileLacks(t *testing.T) {
	of, options, _ := conformance.Profile(t, Driver(), "crate")
	resolved, err := of.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	if steps := of.Caps(resolved).Steps; len(steps) > 0 {
		t.Errorf("steps: %v", steps)
	}
	if why := of.Literals(resolved).Unsupported; !strings.Contains(why, "CrateDB has no way to run a text") {
		t.Error(why)
	}
	if len(of.Durabilities) > 0 || of.Tested != nil {
		t.Errorf("it has PostgreSQL's durabilities or versions: %v, %v", of.Durabilities, of.Tested)
	}
	var d driver.Driver = of
	if _, err := d.Choose("", driver.Strict, nil); err == nil {
		t.Error("durability=strict is PostgreSQL's")
	}
}
