package sqlkit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// record is a loader that records its calls, and fails at one of them.
type record struct {
	did    []string
	failAt string
}

func (r *record) do(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	r.did = append(r.did, what)
	if what == r.failAt {
		return errors.New("no more")
	}
	return nil
}

func (r *record) Begin(context.Context, *series.Batch) error { return r.do("begin") }
func (r *record) Commit(context.Context) (time.Time, error)  { return time.Now(), r.do("commit") }
func (r *record) Rollback(context.Context, error)            { _ = r.do("rollback") }
func (r *record) Close() error                               { return r.do("close") }
func (r *record) Rows(t *series.Table) (sqlkit.RowWriter, error) {
	return &recorded{r, t.Name}, r.do("open %s", t.Name)
}
func (r *record) Series(t *sqlkit.Tags) (sqlkit.SeriesWriter, error) {
	return &recorded{r, t.Name}, r.do("open %s", t.Name)
}

type recorded struct {
	*record
	name string
}

func (r *recorded) Append(_ context.Context, runs []*series.Run) (int64, error) {
	rows := 0
	for _, run := range runs {
		rows += run.Rows()
	}
	return int64(rows), r.do("%s: %d rows in %d runs", r.name, rows, len(runs))
}
func (r *recorded) Add(_ *sqlkit.Claims, s uint32) (int64, error) {
	return 100, r.do("%s: series %d", r.name, s)
}
func (r *recorded) Flush(context.Context) (int64, error) { return 1000, r.do("flush %s", r.name) }
func (r *recorded) Close()                               { _ = r.do("close %s", r.name) }

// A batch is a transaction: series come before rows, and tables together. After a
// failure nothing stays open, and the series that were new are so again.
func TestWriter(t *testing.T) {
	tags := []series.Tag{{Key: "host"}}
	s := &series.Schema{Series: 3, Tables: []*series.Table{{Name: "a", Tags: tags}, {Name: "b", Tags: tags}}}
	layout, err := design(new(sql.Dialect)).Layout(s)
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	for i, table := range []*series.Table{s.Tables[1], s.Tables[0], s.Tables[0]} { // not in the order of the schema
		run := b.Add(table)
		run.Grow(2)
		copy(run.Series, []uint32{0, uint32(i)})
	}
	const batch = "open a; tags: series 0; tags: series 1; tags: series 2; flush tags; a: 4 rows in 2 runs; b: 2 rows in 1 runs; commit"
	to := &record{failAt: "b: 2 rows in 1 runs"}
	w := &sqlkit.Writer{System: "Base", Layout: layout, Loader: to}
	if _, err := w.Write(t.Context(), &b); err == nil || err.Error() != "writing to Base: table b: no more" {
		t.Error(err)
	}
	ended := to.did[len(to.did)-4:]
	slices.Sort(ended[:3])
	if got := strings.Join(ended, "; "); got != "close a; close b; close tags; rollback" {
		t.Errorf("after a failure: %s", got)
	}
	to.did, to.failAt = nil, ""
	receipt, err := w.Write(t.Context(), &b)
	if got := strings.Join(to.did, "; "); err != nil || got != "begin; open tags; open b; "+batch || receipt.Rows != 6 || receipt.WireBytes != 1306 || receipt.Acked.Before(receipt.Sent) {
		t.Errorf("%s; %+v, %v", got, receipt, err)
	}
	to.did = nil
	if _, err := w.Write(t.Context(), &b); err != nil || to.did[1] != "flush tags" {
		t.Errorf("%v, %v", to.did, err)
	}
	to.did, to.failAt = nil, "begin"
	if _, err := w.Write(t.Context(), &b); err == nil || len(to.did) != 1 {
		t.Errorf("without a begin: %v, %v", to.did, err)
	}
}
