package mysql

import (
	"flag"
	"regexp"
	"strings"
	"testing"
	"time"

	sqldriver "database/sql/driver"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The golden files have the tables and the queries of each profile that tsmark ships. They are written again by
// go test ./driver/db/mysql -update.
func TestProfiles(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	spec := workload.Spec{Name: "cpu-only", Scale: 2, Interval: time.Second, Start: time.Unix(0, 0), End: time.Unix(9, 0)}
	dataset, err := tsbs.CPUOnly().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tidb", "doris", "starrocks"} {
		of, options, quirks := conformance.Profile(t, Driver(), name)
		conformance.Queries(t, of, options, "profile-"+name+".sql", update)
		resolved, err := of.Resolve(options)
		if err != nil {
			t.Fatal(err)
		}
		v := variant{name, quirks.(*sqlkit.Quirks)}
		l, err := v.design(resolved, collationMySQL).Layout(dataset.Schema())
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, table := range l.Tables {
			text.WriteString(token.ReplaceAllString(strings.Join(table.Make, "\n"), "…") + "\n")
		}
		for _, statement := range append(v.quirks.Session, v.quirks.Settling(l.Tables, v.dialect(resolved))...) {
			text.WriteString(statement + "\n")
		}
		conformance.Golden(t, "profile-"+name+"-tables.sql", text.String(), update)
	}
}

var token = regexp.MustCompile(`'made by tsmark, [0-9a-f]+'`)

// An INSERT with values in its text, for systems that prepare only queries.
func TestTextInsert(t *testing.T) {
	w := &preparedWriter{into: "INSERT INTO cpu VALUES ", columns: 3}
	var values []sqldriver.NamedValue
	for _, v := range []any{[]byte("2016-01-01 00:00:00"), int64(7), 0.5, nil, "it's", []byte(`a\b`)} {
		values = append(values, sqldriver.NamedValue{Value: v})
	}
	const want = `INSERT INTO cpu VALUES ('2016-01-01 00:00:00',7,5e-01),(NULL,'it\'s','a\\b')`
	if got := w.textOf(values); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
