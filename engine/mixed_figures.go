package engine

import (
	"errors"

	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
)

// finish fills in what is known however the phase ended.
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
	return j, errors.Join(err, mixedFigures(&m.out, m.tally, tallies))
}

// mixedFigures fills in what the operations tell: the batches, and the queries of each of
// the result's types.
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

// typeFigures fills in those of a type, of a phase that took so many seconds.
func typeFigures(out *result.MixedType, t *tally.Tally, wall float64) error {
	q, err := result.QueriesOf(t)
	out.Executed, out.AtLeast = q.Executed, q.AtLeast
	out.Rows, out.Bytes, out.Values, out.Accumulated = q.Rows, q.Bytes, q.Values, q.Accumulated
	out.Service = q.Service
	if q.Open != nil {
		out.Response = &q.Open.Response
	}
	if wall > 0 {
		out.PerSecond = float64(q.Executed) / wall
	}
	return err
}
