package experiment

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/engine/pace"
)

// Mixed defines how the last part of each load is written while the experiment's queries run: by
// Writes or by rates. The zero value has no mixed phase.
type Mixed struct {
	Loaded int `yaml:"loaded"` // percentage of the rows that are loaded alone before: 1 to 99; 0: no mixed phase
	// Writes is the percentage of batches among all operations, such as 80, or the number of
	// batches per query, such as 4:1: see ParseWrites. Empty: writes and queries have independent
	// rates.
	Writes Amount `yaml:"writes,omitempty"`
	// RowRate and QueryRate are schedules, as pace.Parse reads them, or MaxRate: rows are written as
	// fast as the target accepts them, and each worker sends the next query once it has its answer.
	// Of two rates, an empty one is MaxRate; if both are empty, see DefaultRates.
	RowRate   string        `yaml:"row-rate,omitempty"`
	QueryRate string        `yaml:"query-rate,omitempty"` // see RowRate
	Queriers  int           `yaml:"queriers,omitempty"`   // connections that query; 0: as many as Queries.Workers
	Duration  time.Duration `yaml:"duration,omitempty"`   // the rest is then loaded alone; 0: until all rows are written
	// Weights are the relative frequencies of Queries.Types, in order, such as 3:1:1; empty: all
	// equal.
	Weights string `yaml:"weights,omitempty"`
}

// Enabled reports whether each load has a mixed phase.
func (m *Mixed) Enabled() bool { return m.Loaded > 0 }

// MaxRate stands for a rate without a limit.
const MaxRate = "max"

// DefaultDuration is how long a mixed phase lasts whose rates tsmark chooses.
const DefaultDuration = 30 * time.Second

// DefaultRates reports whether tsmark chooses the rates of the phase, since the experiment sets
// none.
func (m *Mixed) DefaultRates() bool {
	return m.Enabled() && m.Share() == 0 && m.RowRate == "" && m.QueryRate == ""
}

// Share returns the share of batches among all operations; 0: independent rates.
func (m *Mixed) Share() float64 {
	share, _ := ParseWrites(m.Writes) // Check reports the error
	return share
}

// MaxWeight limits each of Mixed.Weights, and MaxBatches the batches per query.
const (
	MaxWeight  = 1000
	MaxBatches = 1_000_000
)

// ParseWrites reads a percentage of batches among operations, from 1 to 99, or a number of batches
// per query, such as 4:1, and returns the share of batches; for 0 and an empty text it returns 0.
func ParseWrites(amount Amount) (share float64, err error) {
	text := string(amount)
	batches, ratio := strings.CutSuffix(text, ":1")
	n, err := strconv.Atoi(batches)
	switch {
	case text == "":
		return 0, nil
	case err == nil && ratio && n >= 1 && n <= MaxBatches:
		return float64(n) / float64(n+1), nil
	case err == nil && !ratio && n >= 0 && n <= 99:
		return float64(n) / 100, nil
	}
	return 0, fmt.Errorf("must be how many of a hundred operations are batches, from 1 to 99, or batches to one query, from 1:1 to %d:1, not %q", MaxBatches, text)
}

// ParseWeights reads Mixed.Weights; nil: all equal.
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

func (c *checker) checkMixed(e *Experiment) {
	m := &e.Mixed
	if *m == (Mixed{}) {
		return
	}
	c.checkRange("mixed.loaded", m.Loaded, 1, 99)
	if _, err := ParseWrites(m.Writes); err != nil {
		c.add("mixed.writes", "%s", err)
	}
	c.checkRange("mixed.queriers", m.Queriers, 0, MaxWorkers)
	c.duration("mixed.duration", m.Duration)
	c.mixedRate("mixed.row-rate", m.RowRate)
	c.mixedRate("mixed.query-rate", m.QueryRate)
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
	if _, err := pace.Parse(rate); err != nil && rate != MaxRate {
		c.add(path, "%s", err)
	}
	if c.experiment.Mixed.Share() > 0 {
		c.add(path, "goes by a schedule, and mixed.writes by what the other side does; leave one of them out")
	}
}
