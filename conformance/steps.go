package conformance

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tsmark/tsmark/conformance/suite"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Table returns the table cpu with the int fields, whose series are host_0,
// host_1, … of one region.
func Table(fields ...string) *series.Table { return suite.Table(fields...) }

// Names assigns each series its own value; Missing means no value.
type Names = suite.Names

// Missing is the name of a series that lacks the tag.
const Missing = suite.Missing

// Fill makes the run rows long. Times are microseconds counted from first;
// series and int fields follow them.
func Fill(run *series.Run, rows, first int, seriesCount uint32) {
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

// Options resolves a driver's options from alternating names and values.
func Options(t testing.TB, d driver.Driver, pairs ...string) driver.Options {
	t.Helper()
	options := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		options[pairs[i]] = pairs[i+1]
	}
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// Open opens a target in the folder dir, or in a temporary one if dir is empty. The options
// are alternating names and values.
func Open(t testing.TB, d driver.Driver, dir string, pairs ...string) driver.DB {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	db, err := d.Open(t.Context(), driver.Env{Dir: dir, Create: true}, Options(t, d, pairs...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Prepare prepares the target for tables of seriesCount series.
func Prepare(t testing.TB, db driver.DB, seriesCount uint32, tables ...*series.Table) {
	t.Helper()
	suite.Prepare(t, db, seriesCount, tables...)
}

// Write writes a batch through a writer of its own.
func Write(t testing.TB, db driver.DB, b *series.Batch) driver.Receipt {
	t.Helper()
	return suite.Write(t, db, b)
}

// Querier opens a querier.
func Querier(t testing.TB, db driver.DB) driver.Querier {
	t.Helper()
	return suite.Querier(t, db)
}

// Query returns the answer to a request, through a querier of its own.
func Query(t testing.TB, db driver.DB, text string) [][]query.Value {
	t.Helper()
	return suite.Query(t, db, text)
}

// Close closes a resource of a test.
func Close(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	suite.Close(t, c)
}

// WriteAtOnce has several writers write batches of rows at once, each row at a
// time of its own.
func WriteAtOnce(t testing.TB, db driver.DB, table *series.Table, seriesCount uint32, workers, batches, rows int) {
	t.Helper()
	var group sync.WaitGroup
	for worker := range workers {
		w, err := db.NewWriter(t.Context(), worker)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			defer Close(t, w)
			var b series.Batch
			for batch := range batches {
				b.Reset()
				Fill(b.Add(table), rows, (worker*batches+batch)*rows, seriesCount)
				if _, err := w.Write(t.Context(), &b); err != nil {
					t.Error(err)
				}
			}
			if _, err := w.Flush(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// Writer opens a writer.
func Writer(t testing.TB, db driver.DB) driver.Writer {
	t.Helper()
	w, err := db.NewWriter(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// CheckRows fails the test if an answer is not equal to the rows, including the kinds of
// their values.
func CheckRows(t testing.TB, got [][]query.Value, want ...[]query.Value) {
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

// Row returns a row of an answer: int and int64 become Int, float64 Float,
// string Text, nil NULL. A query.Value is kept.
func Row(values ...any) []query.Value {
	row := make([]query.Value, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case int:
			row[i] = query.Value{Kind: query.Int, Int: int64(v)}
		case int64:
			row[i] = query.Value{Kind: query.Int, Int: v}
		case float64:
			row[i] = query.Value{Kind: query.Float, Float: v}
		case string:
			row[i] = query.Value{Kind: query.Text, Text: []byte(v)}
		case query.Value:
			row[i] = v
		case nil:
		default:
			panic(fmt.Sprintf("an answer has no %T", v))
		}
	}
	return row
}
