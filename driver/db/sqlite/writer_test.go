package sqlite_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// Values come back to the last bit, with the kinds that SQLite has.
func TestRoundTrip(t *testing.T) {
	db := open(t, "")
	table := &series.Table{
		Name: "group", // a reserved word
		Tags: []series.Tag{
			{Key: "Rack", Values: conformance.Names{`it's "r0"`, conformance.Missing, "", "12"}},
			{Key: "height", Type: series.Float, Values: conformance.Names{"-0.5", "1e300", conformance.Missing, "7"}},
		},
		Fields: []series.Field{{Name: "order", Type: series.Int}, {Name: "Größe", Type: series.Float}},
	}
	conformance.Prepare(t, db, 4, table)
	var b series.Batch
	run := b.Add(table)
	run.Grow(5)
	copy(run.Series, []uint32{0, 1, 2, 3, 0})
	copy(run.Times, []int64{math.MinInt64, -1, 0, math.MaxInt64, 1})
	copy(run.Columns[0].Ints, []int64{math.MinInt64, math.MaxInt64, -1, 1 << 53, 0})
	copy(run.Columns[1].Floats, []float64{math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, 3, 0})
	run.SetNull(0, 3)
	run.SetNull(1, 4)
	receipt := conformance.Write(t, db, &b)
	if receipt.Rows != 5 || receipt.Sent.IsZero() || receipt.Acked.Before(receipt.Sent) || receipt.WireBytes < 5*3*8 {
		t.Errorf("receipt %+v", receipt)
	}
	conformance.CheckRows(t, conformance.Query(t, db, `SELECT time, "Rack", height, "order", "Größe" FROM "group" JOIN tags ON id = tags_id ORDER BY time`),
		conformance.Row(math.MinInt64, `it's "r0"`, -0.5, math.MinInt64, math.Inf(1)),
		conformance.Row(-1, nil, 1e300, math.MaxInt64, math.Inf(-1)),
		conformance.Row(0, "", nil, -1, math.SmallestNonzeroFloat64),
		conformance.Row(1, `it's "r0"`, -0.5, 0, nil),
		conformance.Row(math.MaxInt64, "12", 7.0, nil, 3.0))
}

const countRows = "SELECT (SELECT count(*) FROM cpu), (SELECT count(*) FROM tags)"

// A batch that fails leaves nothing, whoever undid it, and the next one brings
// the rows of tags that it would have brought.
func TestFailedBatchLeavesNothing(t *testing.T) {
	const last = 4999
	for name, test := range map[string]struct {
		says  string
		spoil func(t *testing.T, db driver.DB, run *series.Run)
		fix   func(t *testing.T, db driver.DB, run *series.Run)
	}{
		"a series beyond the schema": {
			"series 10 is not of the schema",
			func(_ *testing.T, _ driver.DB, run *series.Run) { run.Series[last] = 10 },
			func(_ *testing.T, _ driver.DB, run *series.Run) { run.Series[last] = 9 },
		},
		"SQLite undoes the statement": {
			"no more", refuse("ABORT"), accept,
		},
		"SQLite undoes the transaction": {
			"no more", refuse("ROLLBACK"), accept,
		},
		"SQLite undoes nothing": {
			"no more", refuse("FAIL"), accept,
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, "")
			table := conformance.Table("a")
			table.Fields = append(table.Fields, series.Field{Name: "share", Type: series.Float})
			conformance.Prepare(t, db, 10, table)
			w := conformance.Writer(t, db)
			defer conformance.Close(t, w)
			var b series.Batch
			run := b.Add(table)
			fillShares(run)
			test.spoil(t, db, run)
			if _, err := w.Write(t.Context(), &b); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the spoiled batch: %v", err)
			}
			conformance.CheckRows(t, conformance.Query(t, db, countRows), conformance.Row(0, 0))
			test.fix(t, db, run)
			if _, err := w.Write(t.Context(), &b); err != nil {
				t.Error(err)
			}
			conformance.CheckRows(t, conformance.Query(t, db, countRows), conformance.Row(5000, 10))
		})
	}
}

// fillShares fills an int field, and a float field with zeros.
func fillShares(run *series.Run) {
	run.Columns[1].Ints = make([]int64, 5000) // which Fill fills
	conformance.Fill(run, 5000, 0, 10)
	clear(run.Columns[1].Floats)
}

// refuse makes SQLite refuse the last row of the batch in one of its ways.
func refuse(how string) func(*testing.T, driver.DB, *series.Run) {
	return func(t *testing.T, db driver.DB, _ *series.Run) {
		conformance.Query(t, db, "CREATE TRIGGER guard BEFORE INSERT ON cpu WHEN NEW.time = 4999000 BEGIN SELECT RAISE("+how+", 'no more'); END")
	}
}

func accept(t *testing.T, db driver.DB, _ *series.Run) {
	conformance.Query(t, db, "DROP TRIGGER guard")
}

func TestWriteErrors(t *testing.T) {
	db := open(t, "")
	if _, err := db.NewWriter(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "prepare") {
		t.Errorf("a writer before Prepare: %v", err)
	}
	conformance.Prepare(t, db, 10, conformance.Table("a"))
	w := conformance.Writer(t, db)
	var b series.Batch
	conformance.Fill(b.Add(conformance.Table("a")), 1, 0, 10)
	if _, err := w.Write(t.Context(), &b); err == nil || !strings.Contains(err.Error(), "not of the schema") {
		t.Errorf("a foreign table: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Write(cancelled, &b); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	conformance.Close(t, w)
	conformance.Close(t, w)
	if _, err := w.Write(t.Context(), &b); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a closed writer: %v", err)
	}
	conformance.CheckRows(t, conformance.Query(t, db, countRows), conformance.Row(0, 0))
}

// Writers take turns; each series' row of tags is written once.
func TestConcurrentWriters(t *testing.T) {
	for _, journal := range []string{"wal", "truncate"} {
		t.Run(journal, func(t *testing.T) {
			db := open(t, "", "journal_mode", journal, "synchronous", "off")
			table := conformance.Table("a")
			conformance.Prepare(t, db, 300, table)
			const workers, batches, rows = 4, 6, 500
			conformance.WriteAtOnce(t, db, table, 300, workers, batches, rows)
			const all = workers * batches * rows
			conformance.CheckRows(t, conformance.Query(t, db, "SELECT count(*), count(DISTINCT time), count(DISTINCT hostname) FROM cpu JOIN tags ON id = tags_id"),
				conformance.Row(all, all, 300))
			conformance.CheckRows(t, conformance.Query(t, db, "SELECT count(*) FROM tags"), conformance.Row(300))
		})
	}
}
