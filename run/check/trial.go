package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// trialName is the table of the trial, and the dataset in its mark.
const trialName = "check_by_tsmark"

// The trial's size.
const (
	trialSeries = 2
	trialEpochs = 10
	trialStep   = time.Minute
)

// trialStart is the start of TSBS's datasets: a server with a retention period drops such rows.
var trialStart = time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)

// trial is a dataset of a few rows of one table.
type trial struct{ schema *series.Schema }

func newTrial() trial {
	table := &series.Table{
		Name: trialName, Tags: []series.Tag{{Key: "host", Values: hosts{}}},
		Fields: []series.Field{{Name: "whole", Type: series.Int}, {Name: "part", Type: series.Float}}, Dense: true,
	}
	return trial{&series.Schema{
		Tables: []*series.Table{table}, Series: trialSeries,
		First: trialStart, Last: trialStart.Add((trialEpochs - 1) * trialStep), Step: trialStep,
	}}
}

// hosts are the values of the trial's tag.
type hosts struct{}

// Append implements series.TagValues.
func (hosts) Append(dst []byte, series uint32) ([]byte, bool) {
	return strconv.AppendUint(append(dst, "host_"...), uint64(series), 10), true
}

// Schema implements workload.Dataset.
func (t trial) Schema() *series.Schema { return t.schema }

// Open implements workload.Dataset.
func (t trial) Open() workload.Reader { return &trialReader{table: t.schema.Tables[0]} }

type trialReader struct {
	table *series.Table
	next  int
}

// Next implements workload.Reader.
func (r *trialReader) Next(b *series.Batch, most int) error {
	b.Reset()
	n := min(most, trialSeries*trialEpochs-r.next)
	if n == 0 {
		return io.EOF
	}
	run := b.Add(r.table)
	run.Grow(n)
	for i := range n {
		at := r.next + i
		epoch := at / trialSeries
		run.Series[i] = uint32(at % trialSeries)
		run.Times[i] = trialStart.Add(time.Duration(epoch) * trialStep).UnixNano()
		run.Columns[0].Ints[i] = int64(at)
		run.Columns[1].Floats[i] = float64(at) + 0.5
	}
	r.next += n
	return nil
}

// quickest is a cheap query that every system can answer: the newest row of each host.
func quickest() query.Query {
	return query.Query{Type: trialName, Table: trialName, Shape: query.Last{By: "host", Fields: []string{"whole", "part"}}}
}

// trial creates, writes and counts a few rows under tsmark's own names, if it replaces no other
// data. It reports whether they exist.
func (x *examination) trial(ctx context.Context, db driver.DB) bool {
	d := newTrial()
	if x.caps.Discards {
		x.add("rights", Skip, "", "it keeps nothing")
		return false
	}
	if !x.existing(ctx, db) {
		if x.last().Status == OK {
			x.inspect(ctx, db)
		}
		return false
	}
	if refusal := x.caps.Refuse(x.Name, d.schema, series.Values{First: d.schema.First, Last: d.schema.Last, Step: trialStep}); refusal != nil {
		x.add("rights", Skip, "", "not tried: %s", refusal.Problem)
		return false
	}
	own := session.New(db)
	if err := own.Inspect(ctx, d.schema); err != nil {
		x.fails("rights", err)
		return false
	}
	step, err := x.load(ctx, db, d)
	if err != nil {
		x.fails("rights", fmt.Errorf("to %s: %w", step, err))
		x.clear(ctx, db)
		return false
	}
	x.add("rights", OK, "", "may create, write and read: %d rows went through the path of a load", trialSeries*trialEpochs)
	return true
}

// inspect checks permissions if no trial can be loaded.
func (x *examination) inspect(ctx context.Context, db driver.DB) {
	if err := session.New(db).Inspect(ctx, nil); err != nil {
		x.fails("rights", err)
		return
	}
	x.add("rights", Skip, "give a place that is empty to have them tried", "not tried: a trial would take the place of the dataset")
}

// load executes a small load. It returns the step that failed.
func (x *examination) load(ctx context.Context, db driver.DB, d trial) (step string, err error) {
	mark := session.Mark{
		Dataset: workload.Spec{Name: trialName, Start: trialStart, End: d.schema.Last, Interval: trialStep}, Fingerprint: trialName,
		RowsExpected: trialSeries * trialEpochs, Loaded: time.Now().UTC(), Tool: buildinfo.Tool().Version,
		Target: x.Name, Driver: x.Driver.Name, Layout: x.Driver.LayoutOf(x.Options),
	}
	if err := session.New(db).Prepare(ctx, d.schema, mark); err != nil {
		return "create tables", err
	}
	if err := write(ctx, db, d); err != nil {
		return "write rows", err
	}
	if _, err := driver.AwaitSettled(ctx, db); err != nil {
		return "wait until the rows have settled", err
	}
	expected, err := oracle.Pass(ctx, d, nil, nil, func(int) {})
	if err != nil {
		return "survey the trial", err
	}
	counted, err := verify.Census(ctx, db, &expected.Survey, verify.Sent{}, nil)
	for _, c := range counted {
		if err == nil && c.Problem != "" {
			err = fmt.Errorf("%s, behind a load that was accepted; look whether the server drops rows of 2016, as by a retention", c.Problem)
		}
	}
	return "read the rows", err
}

// write writes the rows as a worker of a load does.
func write(ctx context.Context, db driver.DB, d trial) (err error) {
	w, err := db.NewWriter(ctx, 0)
	if err != nil {
		return err
	}
	defer func() {
		if closed := w.Close(); err == nil {
			err = closed
		}
	}()
	var b series.Batch
	for r := d.Open(); ; {
		switch err := r.Next(&b, trialSeries*trialEpochs); {
		case errors.Is(err, io.EOF):
			_, err = w.Flush(ctx)
			return err
		case err != nil:
			return err
		}
		if _, err := w.Write(ctx, &b); err != nil {
			return err
		}
	}
}

// answers runs the quickest query, compares its answer, and reports its time together with the
// latency.
func (x *examination) answers(ctx context.Context, db driver.DB) {
	const check = "query"
	d, q := newTrial(), quickest()
	request, err := x.Driver.Render(&q, d.schema, x.Options)
	if errors.Is(err, query.ErrUnsupported) {
		x.add(check, Skip, "", "%s", oneLine(err))
		return
	}
	var expected *oracle.Expectations
	if err == nil {
		expected, err = oracle.Pass(ctx, d, []query.Query{q}, nil, func(int) {})
	}
	if err == nil {
		verdict, failed := verify.Answers(ctx, verify.Config{Workers: 1, Semantics: x.Driver.Semantics}, db, x.Driver.Renderer(x.Options), d, expected.Full)
		if err = failed; err == nil && verdict.Difference != "" {
			err = errors.New(verdict.Difference)
		}
	}
	var took []time.Duration
	if err == nil {
		took, err = times(ctx, db, request, x.Pings)
	}
	if err != nil {
		x.fails(check, err)
		return
	}
	median := took[len(took)/2]
	text := fmt.Sprintf("the newest row of each of %d hosts is answered as expected, in %s at least, %s median of %d", trialSeries, milliseconds(took[0]), milliseconds(median), len(took))
	if x.path == 0 {
		x.add(check, OK, "", "%s", text)
		return
	}
	share := float64(x.path) / float64(median)
	text += fmt.Sprintf("; the path is %.0f %% of that", 100*share)
	if share > 0.5 && !x.local {
		x.add(check, Warned, "run tsmark nearer to the server, or read short queries as the network's times", "%s", text)
		return
	}
	x.add(check, OK, "", "%s", text)
}

// times runs a query repeatedly; the times ascend.
func times(ctx context.Context, db driver.DB, r driver.Request, n int) ([]time.Duration, error) {
	q, err := db.NewQuerier(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer q.Close() // only used for reading
	took := make([]time.Duration, n)
	for i := range took {
		begin := time.Now()
		if _, err := q.Do(ctx, r, nil); err != nil {
			return nil, err
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took, nil
}

// clear drops the trial, even if ctx has ended.
func (x *examination) clear(ctx context.Context, db driver.DB) {
	longer, release := limit.Outlive(ctx)
	defer release()
	mark, err := session.New(db).Mark(longer)
	if errors.Is(err, session.ErrNoMark) {
		return // it was not created
	}
	if err == nil && mark.Dataset.Name != trialName {
		return // another load happened in the meantime
	}
	if err == nil {
		err = session.New(db).Clear(longer)
	}
	if err != nil {
		x.fails("drop", fmt.Errorf("the trial %s is left behind: %w", trialName, err))
		return
	}
	x.add("drop", OK, "", "may drop: nothing of the trial is left")
}
