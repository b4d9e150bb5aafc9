package engine

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// mixedType holds the queries of one type and their results.
type mixedType struct {
	queries []query.Query
	log     *oplog.Section
	next    atomic.Int64 // queries drawn
	ended   atomic.Bool  // withheld or not supported

	mu            sync.Mutex // guards what follows
	out           result.MixedType
	tally         *tally.Tally
	answered      int
	full, counted reservoir
}

// newMixedType returns a type whose queries arrive by a schedule; an empty schedule means whenever
// a querier is free. Period is that of the times over time.
func newMixedType(q MixedQueries, schedule string, queriers, keep, count int, seed string, period time.Duration) *mixedType {
	t := &mixedType{
		queries: q.Queries, log: q.Log, out: result.MixedType{Type: q.Type, Wanted: keep},
		tally: tally.New(oplog.Cell{Kind: oplog.Query, Part: oplog.Mixed, Type: q.Type, Schedule: schedule, Workers: queriers}, period),
		full:  reservoir{Sample: NewSample(seed, q.Type, keep)}, counted: reservoir{Sample: NewSample(seed, q.Type, count)},
	}
	t.ended.Store(len(q.Queries) == 0)
	return t
}

// end ends the type. Only the first call sets the reason.
func (t *mixedType) end(set func(*result.MixedType)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended.Swap(true) {
		set(&t.out)
	}
}

// record adds an operation to the figures of the type, and its answer to the samples. An answer
// that is not kept in full may be kept as its number of rows.
func (t *mixedType) record(op *oplog.Op, a *Answered) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tally.Add(op)
	if op.Outcome != oplog.OK {
		return
	}
	if rejected := t.full.offer(a); rejected != nil {
		rejected.Answer, rejected.Digest = nil, nil
		t.counted.offer(rejected)
	}
}

// count adds an operation to the figures of the type.
func (t *mixedType) count(op *oplog.Op) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tally.Add(op)
}

// finish fills in the figures that do not depend on how the phase ended.
func (m *mixed) finish() (*Journal, error) {
	var err error
	m.out.Writes, err = m.loader.figures()
	m.out.Early, m.out.Waiting = m.early.Load(), m.waiting.Load()
	if m.out.QueryRate != "" {
		lag, lagErr := result.LatencyOf(m.lag)
		m.out.Lag, err = &lag, errors.Join(err, lagErr)
	}
	j := &Journal{Loaded: m.cfg.Loaded, Shares: []WrittenShare{{Writes: m.ledger.written, Own: m.cfg.Part.Own}}}
	var tallies []*tally.Tally
	for _, t := range m.types {
		j.Types = append(j.Types, AnsweredType{Full: t.full.kept, Counted: t.counted.kept})
		m.out.Types, tallies = append(m.out.Types, t.out), append(tallies, t.tally)
	}
	err = errors.Join(err, mixedFigures(&m.out, m.tally, tallies))
	m.out.Saturated = m.saturation()
	return j, err
}

// saturation describes how the schedules of a phase were missed; empty: they were kept, or nothing
// had a schedule. Rows were late if the last batch was, by a share of the phase and by several batches.
func (m *mixed) saturation() string {
	out := &m.out
	if out.Wall <= 0 {
		return ""
	}
	done := out.Early
	for i := range out.Types {
		done += out.Types[i].Executed
	}
	text := ""
	if out.QueryRate != "" {
		o := result.OpenLoop{Arrivals: out.Arrivals, Dropped: out.Dropped, Waiting: out.Waiting, Offered: float64(out.Arrivals) / out.Wall}
		text = saturation(&o, float64(done)/out.Wall, 0)
	}
	w := &out.Writes
	last, due := cmp.Or(w.Acked, w.Sent), m.lastDue.Seconds()
	if out.RowRate == "" || due <= 0 || last-due <= max(backlogShare*out.Wall, backlogFew*w.Batches.Median) {
		return text
	}
	rows := fmt.Sprintf("%s rows/s written of %s/s scheduled", rateText(float64(w.Rows)/last), rateText(float64(w.Rows)/due))
	if text != "" {
		return text + "; " + rows
	}
	return "saturated: " + rows
}

// mixedFigures fills in the figures derived from operations: the batches, and the queries of each
// type in the result.
func mixedFigures(out *result.Mixed, writes *tally.Tally, types []*tally.Tally) (err error) {
	last := writes.Span.Last
	for _, t := range types {
		last = max(last, t.Span.Last)
	}
	out.Wall = last.Seconds()
	if out.RowRate != "" {
		response, responseErr := result.LatencyOf(writes.Response)
		out.Response, err = &response, responseErr
	}
	for i, t := range types {
		err = errors.Join(err, typeFigures(&out.Types[i], t, out.Wall))
	}
	return err
}

// typeFigures fills in the figures of a type; wall is the length of the phase in seconds.
func typeFigures(out *result.MixedType, t *tally.Tally, wall float64) error {
	q, err := result.QueriesOf(t)
	out.Executed, out.AtLeast = q.Executed, q.AtLeast
	out.Rows, out.Bytes, out.Values, out.Accumulated = q.Rows, q.Bytes, q.Values, q.Accumulated
	out.Service = q.Service
	if q.Open != nil {
		out.Response = &q.Open.Response
	}
	for _, p := range t.Course() {
		out.Course = append(out.Course, result.MeanPoint{At: p.At.Seconds(), Count: p.Count, Mean: p.Mean.Seconds()})
	}
	if wall > 0 {
		out.PerSecond = float64(q.Executed) / wall
	}
	return err
}
