package experiment

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/engine/pace"
)

// Mixed says how the last part of each load is written while the experiment's
// queries are run: by Writes or Batches, by rates, or, where none is given,
// as fast as the target goes. The zero value has no such part.
type Mixed struct {
	Loaded int `yaml:"loaded"` // percent of the rows that are loaded before, alone: 1 to 99; 0: no mixed part
	// Writes is how many of a hundred operations are batches, the others being
	// queries, and Batches how many come to one query; one of them, or neither: each
	// side goes at its own rate.
	Writes    int           `yaml:"writes,omitempty"`
	Batches   int           `yaml:"batches,omitempty"`
	RowRate   string        `yaml:"row-rate,omitempty"`   // schedule of rows, as pace.Parse reads it; empty: as fast as they are taken
	QueryRate string        `yaml:"query-rate,omitempty"` // schedule of queries; empty: each querier sends the next when it has its answer
	Queriers  int           `yaml:"queriers,omitempty"`   // connections that query; 0: as many as Queries.Workers
	Duration  time.Duration `yaml:"duration,omitempty"`   // then the rest is loaded alone; 0: until all is written
	// Weights is how often each of Queries.Types is run in comparison with the
	// others, in their order, as in 3:1:1; empty: all alike.
	Weights string `yaml:"weights,omitempty"`
}

// On reports whether a part of each load is mixed.
func (m *Mixed) On() bool { return m.Loaded > 0 }

// Share returns the share of batches in all operations; 0: each side goes at its
// own rate.
func (m *Mixed) Share() float64 {
	if m.Batches > 0 {
		return float64(m.Batches) / float64(m.Batches+1)
	}
	return float64(m.Writes) / 100
}

// MaxWeight bounds each of Mixed.Weights, and MaxBatches Mixed.Batches.
const (
	MaxWeight  = 1000
	MaxBatches = 1_000_000
)

// ParseWeights reads Mixed.Weights; nil: all alike.
func ParseWeights(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var weights []int
	for _, part := range strings.Split(text, ":") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > MaxWeight {
			return nil, fmt.Errorf("must be whole numbers from 1 to %d, one a query type, as in 3:1:1, not %q", MaxWeight, text)
		}
		weights = append(weights, n)
	}
	return weights, nil
}

func (c *checker) mixed(e *Experiment) {
	m := &e.Mixed
	if *m == (Mixed{}) {
		return
	}
	c.within("mixed.loaded", m.Loaded, 1, 99)
	c.within("mixed.writes", m.Writes, 0, 99)
	c.within("mixed.batches", m.Batches, 0, MaxBatches)
	c.within("mixed.queriers", m.Queriers, 0, MaxWorkers)
	c.duration("mixed.duration", m.Duration)
	c.mixedRate("mixed.row-rate", m.RowRate)
	c.mixedRate("mixed.query-rate", m.QueryRate)
	if m.Writes > 0 && m.Batches > 0 {
		c.add("mixed.batches", "says what mixed.writes says; leave one of them out")
	}
	weights, err := ParseWeights(m.Weights)
	types := e.Queries.Types
	switch {
	case err != nil:
		c.add("mixed.weights", "%s", err)
	case weights != nil && (len(weights) != len(types) || e.Queries.chosenByWord()):
		c.add("mixed.weights", "has %d weights, and queries.types must name as many types", len(weights))
	}
	switch {
	case e.Load.File != "":
		c.add("mixed", "is for rows that are generated, not for those of a file; leave out load.file or the section")
	case len(types) == 0:
		c.add("mixed", "runs queries while rows are written; name query types in queries.types, or leave the section out")
	}
}

func (c *checker) mixedRate(path, rate string) {
	if rate == "" {
		return
	}
	if _, err := pace.Parse(rate); err != nil {
		c.add(path, "%s", err)
	}
	for _, other := range []struct {
		path string
		n    int
	}{{"mixed.writes", c.experiment.Mixed.Writes}, {"mixed.batches", c.experiment.Mixed.Batches}} {
		if other.n > 0 {
			c.add(path, "goes by a schedule, and %s by what the other side does; leave one of them out", other.path)
		}
	}
}
