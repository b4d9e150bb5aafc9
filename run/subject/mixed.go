package subject

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/experiment"
)

// Mixes reports whether the loads have a mixed phase: there are queries with known answers.
func (s *Subject) Mixes() bool {
	return s.Plan.Experiment.Mixed.Enabled() && s.Plan.Steps.Verify
}

// Lives reports whether a life follows the loads.
func (s *Subject) Lives() bool { return s.Plan.Experiment.Life.Enabled() }

// LifeRows returns the number of the dataset's first rows that are not written during a life, and how
// many of these, the first ones, the load leaves out for a backfill.
func (s *Subject) LifeRows() (backfill, before int64) {
	life := &s.Plan.Experiment.Life
	before = s.Expected.Survey.Rows - life.Rows()
	return before * int64(life.BackfillShare()) / 100, before
}

// CheckLife returns an error unless the rows of the dataset suffice for the life, and for as many before it.
func (s *Subject) CheckLife(rows int64) error {
	life := &s.Plan.Experiment.Life
	if life.Enabled() && rows < 2*life.Rows() {
		return s.Plan.Experiment.Problem("life.ingest", "writes %d rows in %s, and the dataset has %d; it needs twice as many rows as the life writes: raise workload.scale or timestamp-end, or lower ingest or duration", life.Rows(), experiment.DurationText(life.Duration), rows)
	}
	return nil
}

// RowsBefore returns the number of rows loaded before the mixed phase.
func (s *Subject) RowsBefore() int64 {
	rows, percent := s.Expected.Survey.Rows, int64(s.Plan.Experiment.Mixed.Loaded)
	return rows/100*percent + rows%100*percent/100
}

// PaceMixed sets the rates of a mixed phase that writes some rows, if the experiment sets none: the
// rows are due evenly over the duration of the phase, and meanwhile enough queries of each type for
// a 99th percentile.
func (s *Subject) PaceMixed(c *engine.MixedConfig, rows int64) {
	m := &s.Plan.Experiment.Mixed
	if !m.DefaultRates() || len(s.Queries) == 0 {
		return
	}
	seconds := cmp.Or(m.Duration, experiment.DefaultDuration).Seconds()
	total, least := len(s.Queries), 1 // of the weights
	if weights := s.Plan.Settings.Weights; len(weights) > 0 {
		total, least = 0, slices.Min(weights)
		for _, w := range weights {
			total += w
		}
	}
	// The times of the answers that are kept do not count; a quarter more allows for windows that
	// do not fit yet.
	queries := 1.25 * float64(measure.MinimumSamples(0.99)+int64(c.Keep)) * float64(total) / float64(least)
	// Rounded up, so that the last row is due before the end.
	c.RowRate = pace.Constant(min(math.Floor(float64(rows)/seconds)+1, pace.MaxRate))
	c.QueryRate = pace.Constant(min(math.Floor(queries/seconds)+1, pace.MaxRate))
}

// MixedQueries generates the queries that run with the writes of a cell of an operation log, which
// has a section for each type. The queries run by a schedule; empty: none.
func (s *Subject) MixedQueries(written oplog.Cell, queriers int, schedule string, sectionOf func(oplog.Cell) (*oplog.Section, error)) ([]engine.MixedQueries, error) {
	types := make([]engine.MixedQueries, len(s.Queries))
	for i, q := range s.Queries {
		c := MixedCell(written, q.Type.Name, queriers, schedule)
		section, err := sectionOf(c)
		if err != nil {
			return nil, err
		}
		types[i] = engine.MixedQueries{Type: c.Type, Queries: slices.AppendSeq(make([]query.Query, 0, q.Set.Count), q.All), Log: section}
		if weights := s.Plan.Settings.Weights; weights != nil {
			types[i].Weight = weights[i]
		}
	}
	return types, nil
}

// MixedCell is the cell for the queries of a type that run by a schedule in a mixed phase.
func MixedCell(written oplog.Cell, queryType string, queriers int, schedule string) oplog.Cell {
	written.Kind, written.Type, written.Workers, written.Schedule = oplog.Query, queryType, queriers, schedule
	return written
}

// MixedSeed is the seed for the samples of answers in a mixed phase.
func MixedSeed(check, target string, repeat int) string {
	return check + " mixed " + target + " " + strconv.Itoa(repeat)
}
