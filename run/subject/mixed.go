package subject

import (
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
)

// Mixes reports whether the loads have a mixed phase: there are queries with known answers.
func (s *Subject) Mixes() bool {
	return s.Plan.Experiment.Mixed.Enabled() && s.Plan.Steps.Verify
}

// RowsBefore returns the number of rows loaded before the mixed phase.
func (s *Subject) RowsBefore() int64 {
	rows, percent := s.Expected.Survey.Rows, int64(s.Plan.Experiment.Mixed.Loaded)
	return rows/100*percent + rows%100*percent/100
}

// MixedQueries generates the queries that run with the writes of a cell of an operation log, which
// has a section for each type.
func (s *Subject) MixedQueries(written oplog.Cell, queriers int, sectionOf func(oplog.Cell) (*oplog.Section, error)) ([]engine.MixedQueries, error) {
	types := make([]engine.MixedQueries, len(s.Queries))
	for i, q := range s.Queries {
		c := MixedCell(written, q.Type.Name, queriers, s.Plan.Experiment.Mixed.QueryRate)
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
