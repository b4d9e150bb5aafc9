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

// dueTimes is when the client's arrivals are, of those of all.
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

// patience is how long a querier at its own rate waits until it
// looks again whether a window fits.
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
				m.waiting.Add(1) // too late: nothing is written any more
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

// watermark is that of all clients, as this one knows it; math.MinInt64: there is none yet.
func (m *mixed) watermark() int64 {
	if m.cfg.Part.Peers != nil {
		return m.least.Load()
	}
	return m.ledger.watermark.Load()
}

// draw takes the next type and query in turn, of those that are the client's, and places
// it below the watermark. It returns the type, -1 where none fits, and the query with its
// place among those drawn for the type.
func (m *mixed) draw() (kind, place int, q query.Query) {
	watermark := m.watermark()
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
		if m.cfg.Windows.Place(&q, m.cfg.Start, to) {
			workload.OnRow(m.dataset, &q, to)
			if m.cfg.Align {
				q.Align()
			}
			return kind, place, q
		}
	}
	return -1, 0, query.Query{}
}

// query runs one query, if there is one, for an arrival, whose n stands for
// nothing here.
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
	t.record(&op, &answer)
	switch {
	case err == nil || op.Outcome == oplog.AtLeast: // of one that was cut off, what it took is a lower bound
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

// fewGroups is how many rows a Last answer has at most that is kept whole.
const fewGroups = 10_000

// KeepsWhole reports whether the answer to a Last query is kept whole, though it is of stored
// rows: of rows that share the newest time any one is right, which a digest cannot tell.
func KeepsWhole(q *query.Query, s *series.Schema) bool {
	_, last := q.Shape.(query.Last)
	return last && s.Series <= fewGroups
}

// interleave returns in which order types of these weights are run, as their
// positions: each as often as its weight says in a round, and spread over it as
// evenly as can be (smooth weighted round robin, as nginx chooses its servers).
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
