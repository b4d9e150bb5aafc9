package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// dispatchQueries puts queries into the queue when they are due, until the
// phase ends.
func (m *mixed) dispatchQueries(ctx, phase context.Context) error {
	defer close(m.queue)
	if m.cfg.QueryRate == nil {
		return nil
	}
	err := release(phase, m.start, m.dueTimes(), m.queue, func(a arrival, taken bool) {
		m.lag.Record(a.lag)
		m.out.Arrivals++
		if !taken {
			m.out.Dropped++
		}
	})
	if phase.Err() != nil {
		return ctx.Err()
	}
	return err
}

// dueTimes returns the times of this client's share of the arrivals.
func (m *mixed) dueTimes() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		n := 0
		for at := range m.cfg.QueryRate.Arrivals() {
			if m.cfg.Part.Share.Has(n) && !yield(at) {
				return
			}
			n++
		}
	}
}

// patience is the time that a querier at its own rate waits until it checks again whether a window
// fits.
const patience = time.Millisecond

// mixedWorker runs queries over a connection of its own.
type mixedWorker struct {
	*mixed
	target  driver.DB
	worker  int
	querier driver.Querier
	logs    []*oplog.Recorder // one a type
}

// queryAll runs queries when they are due, or in a closed loop, until the phase ends.
func (m *mixedWorker) queryAll(ctx, phase context.Context) error {
	for _, t := range m.types {
		m.logs = append(m.logs, t.log.Recorder(m.worker, m.start))
	}
	defer func() {
		for _, log := range m.logs {
			log.Close()
		}
	}()
	if m.cfg.Share > 0 || m.cfg.QueryRate != nil {
		for a := range m.queue {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if phase.Err() != nil && m.cfg.Share == 0 {
				m.waiting.Add(1) // too late: the writes have ended
				continue
			}
			if ran, err := m.query(ctx, a); err != nil {
				return err
			} else if !ran && slices.ContainsFunc(m.types, func(t *mixedType) bool { return !t.ended.Load() }) {
				m.early.Add(1)
			}
		}
		return ctx.Err()
	}
	for phase.Err() == nil {
		ran, err := m.query(ctx, arrival{})
		if err != nil {
			return err
		}
		if !ran {
			select {
			case <-phase.Done():
			case <-time.After(patience):
			}
		}
	}
	return ctx.Err()
}

// watermark returns the watermark of all clients, as known to this one; math.MinInt64: none yet.
func (m *mixed) watermark() int64 {
	if m.cfg.Part.Peers != nil {
		return m.least.Load()
	}
	return m.ledger.watermark.Load()
}

// draw returns the next type and query of this client's share, placed below the watermark: the
// index of the type, or -1 if no query fits, and the query with its place among the queries drawn
// for the type.
func (m *mixed) draw() (kind, place int, q query.Query) {
	watermark := m.watermark()
	if m.cfg.Follow != nil {
		watermark = m.cfg.Follow.Below(watermark)
	}
	if watermark == math.MinInt64 {
		return -1, 0, query.Query{}
	}
	to := time.Unix(0, watermark).UTC()
	share := m.cfg.Part.Share
	first := m.order[(m.drawn.Add(1)-1+int64(share.Index))%int64(len(m.order))]
	for i := range m.types {
		kind := (first + i) % len(m.types)
		t := m.types[kind]
		if t.ended.Load() {
			continue
		}
		place := share.Place(int(t.next.Add(1)-1)) % len(t.queries)
		q := t.queries[place]
		if m.cfg.Windows.Place(&q, m.cfg.Start, to, m.dataset.Schema().Sessions) {
			workload.OnRow(m.dataset, &q, to)
			if m.cfg.Align {
				q.Align()
			}
			return kind, place, q
		}
	}
	return -1, 0, query.Query{}
}

// query draws a query and runs it for an arrival, whose n is not used. It returns false if no query
// fits.
func (m *mixedWorker) query(ctx context.Context, due arrival) (ran bool, err error) {
	kind, place, q := m.draw()
	if kind < 0 {
		return false, nil
	}
	t := m.types[kind]
	request, err := m.render(&q, m.dataset.Schema())
	if errors.Is(err, query.ErrUnsupported) {
		t.end(func(out *result.MixedType) { out.Unsupported = err.Error() })
		return true, nil
	} else if err != nil {
		return true, err
	}
	t.mu.Lock()
	n := t.answered
	t.answered++
	t.mu.Unlock()
	answer := Answered{Query: q, Place: place, Position: int64(m.cfg.Part.Share.Place(n))}
	sink := answer.read(wholeAnswer(&q, m.dataset.Schema()), q.Columns(m.dataset.Schema().Table(q.Table)))
	op := oplog.Op{Worker: uint32(m.worker), Sequence: answer.Position, Query: int64(q.ID)}
	err = m.clock.run(ctx, m.querier, m.cfg.Timeout, request, sink, m.start, &op)
	op.Values = op.Rows * int64(q.Values())
	if m.cfg.paced(m.cfg.QueryRate) {
		op.Intended, op.Lag = due.due, due.lag
	}
	m.logs[kind].Record(op)
	answer.At, answer.Rows = op.Start, op.Rows
	if m.cfg.Follow != nil {
		t.count(&op)
		if m.cfg.Follow.Ended(kind, &op, &answer, err) && ctx.Err() == nil {
			m.replaceBroken(ctx, err)
			return true, nil
		}
	} else {
		t.record(&op, &answer)
	}
	switch {
	case err == nil || op.Outcome == oplog.AtLeast: // the time of a query that was cut off is a lower bound
	case ctx.Err() != nil:
		return true, fmt.Errorf("query %d of %s: %w", q.ID, q.Type, err)
	case errors.Is(err, driver.ErrUnreachable):
		fresh, gone := driver.Reconnect(ctx, m.target, m.worker)
		if gone != nil {
			return true, fmt.Errorf("query %d of %s: %w", q.ID, q.Type, err)
		}
		m.querier.Close() // it is broken
		m.querier = fresh
		t.end(func(out *result.MixedType) {
			out.Failed = result.NewFailure(result.ConnectionLost, &unanswered{q.ID, err})
		})
	case errors.Is(err, query.ErrUnsupported):
		t.end(func(out *result.MixedType) { out.Unsupported = err.Error() })
	default:
		t.end(func(out *result.MixedType) {
			out.Failed = result.NewFailure(result.ServerError, &unanswered{q.ID, err})
		})
	}
	return true, nil
}

// wholeAnswer reports whether an answer is kept whole.
func wholeAnswer(q *query.Query, s *series.Schema) bool { return !q.Stored() || KeepsWhole(q, s) }

// fewGroups is the maximum number of rows of a Last answer that is kept whole.
const fewGroups = 10_000

// KeepsWhole reports whether the answer to a Last query is kept whole although it contains stored
// rows. If several rows share the newest time, any of them is a valid answer, and a digest cannot
// check that.
func KeepsWhole(q *query.Query, s *series.Schema) bool {
	_, last := q.Shape.(query.Last)
	return last && s.Series <= fewGroups
}

// interleave returns the order in which types with these weights are run, as indexes: in a round
// each type occurs as often as its weight says, spread as evenly as possible (smooth weighted round
// robin, as nginx selects servers).
func interleave(weights []int) []int {
	total := 0
	for _, w := range weights {
		total += w
	}
	credit := make([]int, len(weights))
	var order []int
	for range total {
		most := 0
		for i, w := range weights {
			if credit[i] += w; credit[i] > credit[most] {
				most = i
			}
		}
		credit[most] -= total
		order = append(order, most)
	}
	return order
}
