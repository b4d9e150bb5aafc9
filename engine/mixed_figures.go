package engine

import (
	"errors"

	"github.com/tsmark/tsmark/result"
)

// finish fills in what is known however the phase ended.
func (m *mixed) finish() (*Journal, error) {
	var err error
	m.out.Writes, err = m.loader.figures()
	last := m.tally.Span.Last
	for _, t := range m.types {
		last = max(last, t.tally.Span.Last)
	}
	m.out.Wall = last.Seconds()
	m.out.Early, m.out.Waiting = m.early.Load(), m.waiting.Load()
	if m.out.RowRate != "" {
		response, responseErr := result.LatencyOf(m.tally.Response)
		m.out.Response, err = &response, errors.Join(err, responseErr)
	}
	if m.out.QueryRate != "" {
		lag, lagErr := result.LatencyOf(m.lag)
		m.out.Lag, err = &lag, errors.Join(err, lagErr)
	}
	j := &Journal{Loaded: m.cfg.Loaded, Writes: m.ledger.written}
	for _, t := range m.types {
		err = errors.Join(err, t.figures(m.out.Wall))
		j.Types = append(j.Types, AnsweredType{Full: t.full, Counted: t.counted})
		m.out.Types = append(m.out.Types, t.out)
	}
	return j, err
}
