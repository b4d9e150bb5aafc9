package sqlite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/sqlite"
)

// cpu returns a table with the int fields, hosts host_0, … and one region.
func cpu(fields ...string) *series.Table {
	t := &series.Table{Name: "cpu", Tags: []series.Tag{
		{Key: "hostname", Values: series.Numbered{Prefix: "host_"}},
		{Key: "region", Values: every("eu")},
	}}
	for _, f := range fields {
		t.Fields = append(t.Fields, series.Field{Name: f, Type: series.Int})
	}
	return t
}

// every is a tag whose value is the same in all series.
type every string

func (e every) Append(dst []byte, _ uint32) ([]byte, bool) { return append(dst, e...), true }

// names gives each series its own value; missing stands for none.
type names []string

const missing = "\x00"

func (n names) Append(dst []byte, s uint32) ([]byte, bool) {
	if n[s] == missing {
		return dst, false
	}
	return append(dst, n[s]...), true
}

// fill makes the run rows long; times count microseconds from first, series
// and int fields follow them.
func fill(run *series.Run, rows, first int, seriesCount uint32) {
	run.Grow(rows)
	for r := range rows {
		n := first + r
		run.Series[r] = uint32(n) % seriesCount
		run.Times[r] = int64(n) * 1000
		for c := range run.Columns {
			run.Columns[c].Ints[r] = int64(n % 101)
		}
	}
}

// open opens the database in the folder, or in a new one, with options given
// as names and values.
func open(t testing.TB, dir string, given ...string) target.Target {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	kind := sqlite.Kind()
	set := make(map[string]string)
	for i := 0; i < len(given); i += 2 {
		set[given[i]] = given[i+1]
	}
	options, err := kind.Resolve(set)
	if err != nil {
		t.Fatal(err)
	}
	db, err := kind.Open(t.Context(), target.Env{Dir: dir}, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func prepare(t testing.TB, db target.Target, s *series.Schema) {
	t.Helper()
	if err := db.Prepare(t.Context(), s, target.Mark{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, db target.Target, b *series.Batch) target.Receipt {
	t.Helper()
	w, err := db.NewWriter(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIt(t, w)
	receipt, err := w.Write(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func ask(t testing.TB, db target.Target, text string) [][]query.Value {
	t.Helper()
	q, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIt(t, q)
	var answer query.Answer
	cost, err := q.Do(t.Context(), target.Request{Text: text}, &answer)
	if err != nil {
		t.Fatal(err)
	}
	if cost.Rows != int64(len(answer.Rows)) {
		t.Errorf("%d rows counted, %d received", cost.Rows, len(answer.Rows))
	}
	return answer.Rows
}

// exec runs statements whose answers do not matter.
func exec(t testing.TB, db target.Target, texts ...string) {
	t.Helper()
	for _, text := range texts {
		ask(t, db, text)
	}
}

func closeIt(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func same(t testing.TB, got, want [][]query.Value) {
	t.Helper()
	if g, w := show(got), show(want); g != w {
		t.Errorf("got:\n%swant:\n%s", g, w)
	}
}

func show(rows [][]query.Value) string {
	var s strings.Builder
	for _, row := range rows {
		for _, v := range row {
			fmt.Fprintf(&s, "%d:%q ", v.Kind, v)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

func integer(n int64) query.Value { return query.Value{Kind: query.Int, Int: n} }
func float(f float64) query.Value { return query.Value{Kind: query.Float, Float: f} }
func text(s string) query.Value   { return query.Value{Kind: query.Text, Text: []byte(s)} }

type sinkFunc func([]query.Value) error

func (f sinkFunc) Row(row []query.Value) error { return f(row) }
