package clickhouse

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// A second try after a batch that was stored in part stores each series once.
func TestSeriesAreStoredOnce(t *testing.T) {
	d := Driver()
	db := conformance.Open(t, d, "", pairs(conformance.NewDatabase(t, d, "DROP DATABASE IF EXISTS %s SYNC", "layout", "normalized"))...).Required.(*database)
	defer conformance.Close(t, db)
	table := conformance.Table("a")
	conformance.Prepare(t, db.db(), 10, table)
	layout, err := db.Layout()
	if err != nil {
		t.Fatal(err)
	}
	// write stores series up to n by a writer that knows of none.
	write := func(n uint32) {
		t.Helper()
		c, err := db.config.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		l := &loader{d: db, conn: c, layout: layout}
		defer conformance.Close(t, l)
		fresh := sqlkit.TagsOf(layout.Schema)[table]
		w, err := l.Series(fresh)
		if err != nil {
			t.Fatal(err)
		}
		claims := fresh.NewClaims()
		for s := range n {
			if _, err := w.Add(claims, s); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	rows := func() int64 {
		t.Helper()
		row, err := sqlkit.QueryRow(t.Context(), db.admin, "SELECT count() FROM tags")
		if err != nil {
			t.Fatal(err)
		}
		return row[0].Int
	}
	write(3)
	write(3)
	if n := rows(); n != 6 {
		t.Fatalf("%d rows: nothing is looked up where nothing is in doubt", n)
	}
	(&loader{d: db}).Rollback(t.Context(), nil)
	write(5)
	if n := rows(); n != 8 {
		t.Errorf("%d rows, want those of two series more", n)
	}
}

func pairs(options map[string]string) (list []string) {
	for name, value := range options {
		list = append(list, name, value)
	}
	return list
}

// TestWhatIsRefused checks that a partly stored batch does not count as refused, and that one after
// which the server requests a delay does.
func TestWhatIsRefused(t *testing.T) {
	busy := func() error { return (&failure{code: codeTooManyParts, text: "Too many parts"}).explain("bench") }
	for _, stored := range []bool{false, true} {
		l := &loader{d: new(database), stored: stored}
		err := busy()
		l.Rollback(t.Context(), err)
		if got := driver.AsTemporary(err); got == nil || got.Refused == stored {
			t.Errorf("stored in part: %v; %+v", stored, got)
		}
	}
	if err := (&failure{code: 53, text: "Type mismatch"}).explain("bench"); driver.AsTemporary(err) != nil {
		t.Errorf("%v can be tried again", err)
	}
}

// The advice for a missing right is a statement that gives it.
func TestDenied(t *testing.T) {
	for said, want := range map[string]string{
		"bench: Not enough privileges. To execute this query, it's necessary to have the grant SELECT(content, id) ON default.tsmark_mark. (ACCESS_DENIED)": "run GRANT SELECT(content, id) ON default.tsmark_mark TO bench,",
		"bench: Not enough privileges. To execute this query, it's necessary to have grant CREATE TABLE ON default.cpu":                                     "run GRANT CREATE TABLE ON default.cpu TO bench,",
		"bench: Not enough privileges. To execute this query, it's necessary to have the grant KILL QUERY ON *.*. (ACCESS_DENIED)":                          "run GRANT KILL QUERY ON *.* TO bench,",
		"Not enough privileges": "give a user who has this right",
	} {
		if err := (&failure{code: codeAccessDenied, text: said}).explain("bench"); !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Fields are Nullable only where rows may lack them.
func TestNullable(t *testing.T) {
	field := series.Field{Name: "a", Type: series.Int}
	for _, c := range []struct {
		table series.Table
		want  string
	}{
		{series.Table{Dense: true}, "Int64"},
		{series.Table{}, "Nullable(Int64)"},
		{series.Table{Dense: true, Widths: []uint32{1}}, "Nullable(Int64)"},
	} {
		if got := newDesign(nil).columnType(&c.table, &field); got != c.want {
			t.Errorf("%+v: %s, want %s", c.table, got, c.want)
		}
	}
}
