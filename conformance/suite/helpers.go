package suite

import (
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// Table returns the table cpu with the int fields, whose series are host_0,
// host_1, … of one region.
func Table(fields ...string) *series.Table {
	t := &series.Table{Name: "cpu", Tags: []series.Tag{
		{Key: "hostname", Values: series.Numbered{Prefix: "host_"}},
		{Key: "region", Values: every("eu")},
	}}
	for _, f := range fields {
		t.Fields = append(t.Fields, series.Field{Name: f, Type: series.Int})
	}
	return t
}

// every is a tag with the same value in all series.
type every string

func (e every) Append(dst []byte, _ uint32) ([]byte, bool) { return append(dst, e...), true }

// Names assigns each series its own value; Missing means no value.
type Names []string

// Missing is the name of a series that lacks the tag.
const Missing = "\x00"

// Append implements series.TagValues.
func (n Names) Append(dst []byte, s uint32) ([]byte, bool) {
	if n[s] == Missing {
		return dst, false
	}
	return append(dst, n[s]...), true
}

// Prepare prepares the target for tables of seriesCount series.
func Prepare(t T, db driver.DB, seriesCount uint32, tables ...*series.Table) {
	t.Helper()
	if err := session.New(db).Prepare(t.Context(), schemaOf(seriesCount, tables...), session.Mark{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
}

func schemaOf(seriesCount uint32, tables ...*series.Table) *series.Schema {
	return &series.Schema{Tables: tables, Series: seriesCount}
}

// Write writes a batch through a writer of its own.
func Write(t T, db driver.DB, b *series.Batch) driver.Receipt {
	t.Helper()
	w, err := db.NewWriter(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(t, w)
	receipt, err := w.Write(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// Querier opens a querier.
func Querier(t T, db driver.DB) driver.Querier {
	t.Helper()
	q, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Query returns the answer to a request, through a querier of its own.
func Query(t T, db driver.DB, text string) [][]query.Value {
	t.Helper()
	q := Querier(t, db)
	defer Close(t, q)
	var answer query.Answer
	cost, err := q.Do(t.Context(), driver.Request{Text: text}, &answer)
	if err != nil {
		t.Fatal(err)
	}
	if cost.Rows != int64(len(answer.Rows)) {
		t.Errorf("%d rows counted, %d received", cost.Rows, len(answer.Rows))
	}
	return answer.Rows
}

// Close closes a resource of a test.
func Close(t T, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
