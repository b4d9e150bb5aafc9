package life_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/life"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// live runs a short life of a database in memory that has loaded 1,000 of 2,400 rows of ten hosts,
// except for those of a backfill.
func live(t *testing.T, backfill int64, change func(*driver.DB, *driver.Caps), events ...experiment.Event) (life.Outcome, driver.DB) {
	t.Helper()
	return liveWith(t, "cpu-only", 2, backfill, change, events...)
}

// liveWith is live with rows of a workload, for some seconds.
func liveWith(t *testing.T, workloadName string, seconds int, backfill int64, change func(*driver.DB, *driver.Caps), events ...experiment.Event) (life.Outcome, driver.DB) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	all := tsbs.Workloads()
	w := all[slices.IndexFunc(all, func(w workload.Workload) bool { return w.Name() == workloadName })]
	d, err := w.Dataset(workload.Spec{Name: workloadName, Seed: 1, Scale: 10, Start: start, End: start.Add(40 * time.Minute), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	kind := memory.Driver("memory")
	db, err := kind.Open(t.Context(), driver.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Create(t.Context(), d.Schema()); err != nil {
		t.Fatal(err)
	}
	const loaded = 1000
	load := engine.LoadConfig{Workers: 1, BatchSize: 20, Period: time.Second, Retry: retry.Policy{Times: 1}}
	if _, err := engine.Load(t.Context(), load, workload.SkipRows(workload.LimitRows(d, loaded), backfill), db, func(int) {}); err != nil {
		t.Fatal(err)
	}
	caps := kind.Caps(nil)
	if change != nil {
		change(&db, &caps)
	}
	of := query.Query{Type: "sum", Table: "cpu", Start: start, End: start.Add(10 * time.Minute), Shape: query.Buckets{Width: time.Minute, Aggregate: query.Max, Fields: []string{"usage_user"}}}
	last := query.Query{Type: "lastpoint", Table: "cpu", Shape: query.Last{By: "hostname", Fields: []string{"usage_user"}}}
	var windows []query.Query
	for i := range 50 {
		of.ID = i
		windows = append(windows, of)
	}
	outcome, err := life.Run(t.Context(), life.Config{
		Base: engine.MixedConfig{
			LoadConfig: load, Queriers: 2, Start: start, Windows: workload.Uniform, Keep: 1000, Loaded: loaded, Queue: 100, Seed: "1",
			Duration: time.Duration(seconds) * time.Second, RowRate: pace.Constant(1200 / seconds), QueryRate: pace.Constant(100),
		},
		BatchSize: 50, Backfill: backfill, Events: events, Dataset: d, DB: db, Caps: caps, Render: func(q *query.Query, s *series.Schema) (driver.Request, error) { return kind.Render(q, s, nil) },
		Types:     []engine.MixedQueries{{Type: "sum", Queries: windows}, {Type: "lastpoint", Queries: []query.Query{last}}},
		NoRestart: "it has no server", WrittenBytes: func() int64 { return -1 },
		Announce: func(string) func(string, bool) { return func(string, bool) {} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcome, db
}

// checkContents compares the contents of the database with the expected contents at the end.
func checkContents(t *testing.T, outcome life.Outcome, db driver.DB) {
	t.Helper()
	found, err := verify.Census(t.Context(), db, outcome.Contents, verify.Sent{}, nil)
	if err != nil || len(found) == 0 {
		t.Errorf("the contents: %+v, error %v", found, err)
	}
	for _, c := range found {
		if c.Problem != "" {
			t.Error(c.Problem)
		}
	}
}

// strict refuses rows with the new field until it has grown, and from writers that were connected before.
type strict struct {
	driver.Required
	schema *series.Schema // nil: it has not grown
}

func (s *strict) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := s.Required.NewWriter(ctx, worker)
	return &strictWriter{w, s.schema}, err
}

func (s *strict) grow(to *series.Schema) error {
	s.schema = to
	return nil
}

type strictWriter struct {
	driver.Writer
	schema *series.Schema
}

func (w *strictWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	for i := range b.Runs {
		t := b.Runs[i].Table
		if w.schema == nil && t.FieldIndex("grown") >= 0 || w.schema != nil && !slices.Contains(w.schema.Tables, t) {
			return driver.Receipt{}, errors.New("the writer does not know the columns of table " + t.Name)
		}
	}
	return w.Writer.Write(ctx, b)
}

// Answers match the rows that the database has at their time, before, during and after events.
func TestAnswersBesideEvents(t *testing.T) {
	t.Parallel()
	outcome, db := liveWith(t, "cpu-only", 4, 200, func(db *driver.DB, _ *driver.Caps) {
		of, grow := &strict{Required: db.Required}, db.Grow
		db.Required = of
		db.Grow = func(s *series.Schema) error { return cmp.Or(of.grow(s), grow(s)) }
	},
		experiment.Event{At: 400 * time.Millisecond, Do: experiment.EventBackfill},
		experiment.Event{At: 700 * time.Millisecond, Do: experiment.EventLate, Share: 40, For: 300 * time.Millisecond},
		experiment.Event{At: 1100 * time.Millisecond, Do: experiment.EventRestart},
		experiment.Event{At: 1200 * time.Millisecond, Do: "step:vacuum"},
		experiment.Event{At: 1300 * time.Millisecond, Do: experiment.EventDelete},
		experiment.Event{At: 1400 * time.Millisecond, Do: experiment.EventGrow})
	l := outcome.Life
	if problem := l.Problem(); problem != "" {
		t.Error(problem)
	}
	for _, q := range l.Base.Types {
		if q.Verdict.Checked == 0 {
			t.Errorf("no answer of %s was checked", q.Type)
		}
	}
	if e := l.Events[0]; e.Rows != 200 || !e.HasFigure() {
		t.Errorf("the backfill: %+v, want 200 rows", e)
	}
	if e := l.Events[1]; e.Rows == 0 || !e.HasFigure() {
		t.Errorf("late rows: %+v, want some", e)
	}
	for i, want := range []string{"it has no server", "the driver has no steps"} {
		if e := l.Events[2+i]; !strings.Contains(e.Unsupported, want) {
			t.Errorf("%s: unsupported %q, want %q", e.Do, e.Unsupported, want)
		}
	}
	if e := l.Events[4]; !e.HasFigure() {
		t.Errorf("the deletion: %+v", e)
	}
	if e := l.Events[5]; !e.HasFigure() {
		t.Errorf("the growth: %+v", e)
	}
	checkContents(t, outcome, db)
	fields := outcome.Contents.Tables[0].Fields
	if grown := fields[len(fields)-1].Count; grown == 0 || grown > outcome.Contents.Rows/2 {
		t.Errorf("%d of %d rows are expected to have the new field", grown, outcome.Contents.Rows)
	}
	written := 1000 + l.Base.Writes.Rows + l.Events[1].Rows
	if rows := outcome.Contents.Rows; rows >= written || rows < written*8/10 {
		t.Errorf("%d rows are expected at the end, and %d were written; one of ten hosts was deleted", rows, written)
	}
}

// A database that says it has deleted a tenant's rows, and has not, gives wrong answers.
func TestDeletionThatDeletesNothing(t *testing.T) {
	t.Parallel()
	outcome, _ := live(t, 0, func(db *driver.DB, caps *driver.Caps) {
		caps.Changes.Delete.By = "DELETE"
		db.DeleteSeries = func(context.Context, *series.Schema, *series.Table, string, string) error { return nil }
	}, experiment.Event{At: 500 * time.Millisecond, Do: experiment.EventDelete, Tag: "hostname", Value: "host_3"})
	if problem := outcome.Life.Problem(); !strings.HasPrefix(problem, "lastpoint: query ") {
		t.Errorf("the answers with the tenant's rows: %q, want a difference of lastpoint", problem)
	}
}

// Deleting a tag that only some tables have leaves the rows of the other tables.
func TestDeletionInSomeTables(t *testing.T) {
	t.Parallel()
	outcome, db := liveWith(t, "devops", 2, 0, nil, experiment.Event{At: 500 * time.Millisecond, Do: experiment.EventDelete, Tag: "fstype", Value: "ext4"})
	if problem := outcome.Life.Problem(); problem != "" {
		t.Error(problem)
	}
	if e := outcome.Life.Events[0]; !e.HasFigure() {
		t.Errorf("the deletion: %+v", e)
	}
	checkContents(t, outcome, db)
}

// Rows that a database loses during a backfill are missing from its answers.
func TestBackfillThatIsLost(t *testing.T) {
	t.Parallel()
	outcome, _ := live(t, 400, func(db *driver.DB, _ *driver.Caps) {
		open := db.Required
		db.Required = &losing{Required: open}
	}, experiment.Event{At: 500 * time.Millisecond, Do: experiment.EventBackfill})
	if problem := outcome.Life.Problem(); !strings.HasPrefix(problem, "sum: query ") {
		t.Errorf("the answers without the backfilled rows: %q, want a difference of sum", problem)
	}
}

// Rows that a backfill sends again, after the connection broke, may be stored twice.
func TestBackfillAgain(t *testing.T) {
	t.Parallel()
	outcome, db := live(t, 400, func(db *driver.DB, _ *driver.Caps) {
		db.Required = &breaking{Required: db.Required}
	}, experiment.Event{At: 500 * time.Millisecond, Do: experiment.EventBackfill})
	r := outcome.Life.Events[0].Retries
	if r == nil || r.SentTwice != 50 {
		t.Fatalf("retries: %+v, want 50 rows that were sent twice", r)
	}
	found, err := verify.Census(t.Context(), db, outcome.Contents, verify.Sent{Acknowledged: true, Twice: r.SentTwice}, nil)
	if err != nil || found[0].Problem != "" || found[0].Duplicates != 50 {
		t.Errorf("the contents: %+v, error %v; want 50 duplicates", found, err)
	}
}

// breaking stores the rows of the first batch larger than those of the base, and breaks the connection before it
// acknowledges them.
type breaking struct {
	driver.Required
	broken atomic.Bool
}

func (b *breaking) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := b.Required.NewWriter(ctx, worker)
	return &breakingWriter{w, &b.broken}, err
}

type breakingWriter struct {
	driver.Writer
	broken *atomic.Bool
}

func (w *breakingWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	receipt, err := w.Writer.Write(ctx, b)
	if err == nil && b.Rows() == 50 && w.broken.CompareAndSwap(false, true) {
		err = &driver.Temporary{Err: errors.New("connection reset by peer")}
	}
	return receipt, err
}

// losing acknowledges the rows of batches larger than those of the base, except for the last one,
// and does not store them.
type losing struct{ driver.Required }

func (l *losing) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := l.Required.NewWriter(ctx, worker)
	return &losingWriter{Writer: w}, err
}

type losingWriter struct {
	driver.Writer
	batches int
}

func (w *losingWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if b.Rows() == 50 {
		if w.batches++; w.batches < 8 {
			return driver.Receipt{Sent: time.Now(), Acked: time.Now(), Rows: 50}, nil
		}
	}
	return w.Writer.Write(ctx, b)
}

// watched notes when the writer of the base begins, which is after the start of the life, and when it has ended.
type watched struct {
	driver.Required
	begun  chan time.Time
	closed chan struct{}
	close  func() // closes closed, once
}

// watch watches a database with one writer.
func watch(db *driver.DB) *watched {
	w := &watched{Required: db.Required, begun: make(chan time.Time, 1), closed: make(chan struct{})}
	w.close = sync.OnceFunc(func() { close(w.closed) })
	db.Required = w
	return w
}

func (w *watched) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	of, err := w.Required.NewWriter(ctx, worker)
	return &watchedWriter{of, w}, err
}

type watchedWriter struct {
	driver.Writer
	of *watched
}

func (w *watchedWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	select {
	case w.of.begun <- time.Now():
	default:
	}
	return w.Writer.Write(ctx, b)
}

func (w *watchedWriter) Close() error {
	w.of.close()
	return w.Writer.Close()
}

// An event that lasts until the base has ended changes no rows that the base has read and not written, and no
// event follows it.
func TestEventAtTheEnd(t *testing.T) {
	t.Parallel()
	var batches []int
	outcome, db := live(t, 0, func(db *driver.DB, _ *driver.Caps) {
		base, correct := watch(db), db.Correct
		db.Correct = func(ctx context.Context, b *series.Batch) error {
			if len(batches) == 0 {
				<-base.closed
				time.Sleep(100 * time.Millisecond) // until the life knows
			}
			batches = append(batches, b.Rows())
			return correct(ctx, b)
		}
	}, experiment.Event{At: 500 * time.Millisecond, Do: experiment.EventCorrect},
		experiment.Event{At: 600 * time.Millisecond, Do: experiment.EventDelete},
		experiment.Event{At: 700 * time.Millisecond, Do: experiment.EventCorrect, Share: 50})
	for _, e := range outcome.Life.Events[1:] {
		if e.Unsupported != "the life ended before it" {
			t.Errorf("%+v after the end", e)
		}
	}
	if n := len(batches) - 1; n < 1 || slices.Min(batches[:n]) < 25 || slices.Max(batches) > 50 {
		t.Errorf("corrections in batches of %v rows, want 25 to 50 in all but the last", batches)
	}
	checkContents(t, outcome, db)
}

// A life that ends before a row with the new field is written says so.
func TestGrowthAtTheEnd(t *testing.T) {
	t.Parallel()
	outcome, db := live(t, 0, func(db *driver.DB, _ *driver.Caps) {
		base, grow := watch(db), db.Grow
		db.Grow = func(s *series.Schema) error {
			time.Sleep(time.Until((<-base.begun).Add(2100 * time.Millisecond))) // the base waits meanwhile
			return grow(s)
		}
	}, experiment.Event{At: 500 * time.Millisecond, Do: experiment.EventGrow})
	if e := outcome.Life.Events[0]; e.HasFigure() || e.Unsupported != "the life ended before a row with the new field was written" {
		t.Errorf("the growth: %+v", e)
	}
	checkContents(t, outcome, db)
}

// Series that were late send rows again, and may be late again: of ten, more than the first event left over.
func TestLateAgain(t *testing.T) {
	t.Parallel()
	outcome, db := live(t, 0, nil,
		experiment.Event{At: 300 * time.Millisecond, Do: experiment.EventLate, Share: 60, For: 100 * time.Millisecond},
		experiment.Event{At: 600 * time.Millisecond, Do: experiment.EventLate, Share: 60, For: 100 * time.Millisecond},
		experiment.Event{At: 800 * time.Millisecond, Do: experiment.EventBackfill})
	late := 0
	for _, e := range outcome.Life.Events[:2] {
		var n int
		if _, err := fmt.Sscanf(e.What, "late rows: %d series", &n); err != nil || e.Rows == 0 || !e.HasFigure() {
			t.Errorf("late rows: %+v, error %v", e, err)
		}
		late += n
	}
	if late <= 10 {
		t.Errorf("%d series were late in two events, want some of them in both", late)
	}
	if e := outcome.Life.Events[2]; e.Unsupported != "too few rows precede the life" {
		t.Errorf("a backfill without rows: %+v", e)
	}
	if problem := outcome.Life.Problem(); problem != "" {
		t.Error(problem)
	}
	checkContents(t, outcome, db)
}

// Rows of late series that the base has read, and had no time to write, stay away.
func TestLateUntilTheEnd(t *testing.T) {
	t.Parallel()
	outcome, db := live(t, 0, nil, experiment.Event{At: 1500 * time.Millisecond, Do: experiment.EventLate, Share: 50, For: 2 * time.Second})
	if e := outcome.Life.Events[0]; e.Rows == 0 {
		t.Errorf("late rows: %+v", e)
	}
	checkContents(t, outcome, db)
}

// A correction lasts until its values are visible, in a database that takes rows again and replaces the old ones later.
func TestCorrectionThatIsVisibleLater(t *testing.T) {
	t.Parallel()
	const later = 100 * time.Millisecond
	outcome, db := live(t, 0, func(db *driver.DB, _ *driver.Caps) {
		r := &replacing{Required: db.Required, waiting: make(chan *series.Batch, 1000)}
		correct := db.Correct
		db.Required, db.Correct = r, nil
		go func() {
			for b := range r.waiting {
				time.Sleep(later)
				if err := correct(t.Context(), b); err != nil {
					t.Error(err)
				}
			}
		}()
		t.Cleanup(func() { close(r.waiting) })
	}, experiment.Event{At: 500 * time.Millisecond, Do: experiment.EventCorrect, Share: 1})
	if problem := outcome.Life.Problem(); problem != "" {
		t.Error(problem)
	}
	if e := outcome.Life.Events[0]; e.Rows == 0 || e.End-e.Begin < later.Seconds() {
		t.Errorf("the correction: %+v, want it to last until its last batch is visible", e)
	}
	checkContents(t, outcome, db)
}

// replacing replaces stored rows by those of batches of a single series, which the base never writes, some time after it
// has acknowledged them.
type replacing struct {
	driver.Required
	waiting chan *series.Batch
}

func (r *replacing) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := r.Required.NewWriter(ctx, worker)
	return &replacingWriter{w, r.waiting}, err
}

type replacingWriter struct {
	driver.Writer
	waiting chan<- *series.Batch
}

func (w *replacingWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if of := b.Runs[0].Series; slices.Max(of) > slices.Min(of) {
		return w.Writer.Write(ctx, b)
	}
	w.waiting <- b.CopyRows(func(*series.Run, int) int { return 1 })
	return driver.Receipt{Sent: time.Now(), Acked: time.Now(), Rows: int64(b.Rows())}, nil
}

// Rows that a backfill adds after a correction have the corrected values.
func TestBackfillAfterCorrection(t *testing.T) {
	t.Parallel()
	outcome, db := live(t, 200, nil,
		experiment.Event{At: 400 * time.Millisecond, Do: experiment.EventCorrect, Share: 50},
		experiment.Event{At: 800 * time.Millisecond, Do: experiment.EventBackfill})
	if problem := outcome.Life.Problem(); problem != "" {
		t.Error(problem)
	}
	checkContents(t, outcome, db)
}
