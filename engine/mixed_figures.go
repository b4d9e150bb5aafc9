package engine

import (
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// finish fills in what is known however the phase ended.
func (m *mixed) finish() *Journal {
	m.loader.finish()
	m.out.Writes = m.loader.out
	m.out.Wall = time.Duration(m.last.v.Load()).Seconds()
	m.out.Early, m.out.Waiting = m.early.Load(), m.waiting.Load()
	if m.paced(m.cfg.RowRate) {
		m.out.RowRate = m.cfg.RowRate.String()
	}
	if m.paced(m.cfg.QueryRate) {
		m.out.QueryRate, m.out.Queue = m.cfg.QueryRate.String(), m.cfg.Queue
	}
	j := &Journal{Loaded: m.cfg.Loaded, Writes: m.ledger.written}
	for _, t := range m.types {
		if m.out.Wall > 0 {
			t.out.PerSecond = float64(t.out.Asked) / m.out.Wall
		}
		j.Types = append(j.Types, AnsweredType{Full: t.full, Counted: t.counted})
		m.out.Types = append(m.out.Types, t.out)
	}
	return j
}

// figures fills in the latencies.
func (m *mixed) figures() (err error) {
	encode := func(l *measure.Latency) (encoded result.Latency) {
		if err == nil {
			encoded, err = latencyOf(l)
		}
		return encoded
	}
	m.out.Writes.Batches = encode(m.loader.latency)
	if m.paced(m.cfg.RowRate) {
		response := encode(m.response)
		m.out.Response = &response
	}
	if m.paced(m.cfg.QueryRate) {
		lag := encode(m.lag)
		m.out.Lag = &lag
	}
	for i, t := range m.types {
		of := &m.out.Types[i]
		of.Service = encode(t.service)
		if m.paced(m.cfg.QueryRate) {
			response := encode(t.response)
			of.Response = &response
		}
	}
	return err
}
