package experiment

import (
	"time"

	"github.com/tsmark/tsmark/pace"
)

// Mixed says how the last part of each load is written while the experiment's
// questions are asked: by Writes, by rates, or, where none is given, as fast as
// the target goes. The zero value has no such part.
type Mixed struct {
	Loaded int `yaml:"loaded"` // percent of the rows that are loaded before, alone: 1 to 99; 0: no mixed part
	// Writes is how many of a hundred operations are batches, the others being
	// queries; 0: each side goes at its own rate.
	Writes    int           `yaml:"writes,omitempty"`
	RowRate   string        `yaml:"row-rate,omitempty"`   // schedule of rows, as pace.Parse reads it; empty: as fast as they are taken
	QueryRate string        `yaml:"query-rate,omitempty"` // schedule of queries; empty: each querier asks when it has its answer
	Queriers  int           `yaml:"queriers,omitempty"`   // connections that ask; 0: as many as Queries.Workers
	Duration  time.Duration `yaml:"duration,omitempty"`   // then the rest is loaded alone; 0: until all is written
}

// On reports whether a part of each load is mixed.
func (m *Mixed) On() bool { return m.Loaded > 0 }

func (c *checker) mixed(m *Mixed, l *Load) {
	if *m == (Mixed{}) {
		return
	}
	c.within("mixed.loaded", m.Loaded, 1, 99)
	c.within("mixed.writes", m.Writes, 0, 99)
	c.within("mixed.queriers", m.Queriers, 0, MaxWorkers)
	c.duration("mixed.duration", m.Duration)
	c.mixedRate("mixed.row-rate", m.RowRate)
	c.mixedRate("mixed.query-rate", m.QueryRate)
	if l.File != "" {
		c.add("mixed", "is for rows that are generated, not for those of a file; leave out load.file or the section")
	}
}

func (c *checker) mixedRate(path, rate string) {
	if rate == "" {
		return
	}
	if _, err := pace.Parse(rate); err != nil {
		c.add(path, "%s", err)
	}
	if c.experiment.Mixed.Writes > 0 {
		c.add(path, "goes by a schedule, and mixed.writes by what the other side does; leave one of them out")
	}
}
