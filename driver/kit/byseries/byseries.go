// Package byseries sorts the rows of a batch for systems that store each series separately: series by
// series, and by time within each.
package byseries

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/series"
)

// Place identifies a row of a batch by the index of its run among the runs passed to Sort, and its
// index within the run.
type Place struct{ Run, Row int32 }

// Group is a series of a batch and its rows: the Places from First up to, but not including, Last.
type Group struct {
	Series      uint32
	First, Last int
}

// Sorter sorts the rows of a batch's tables. It reuses its memory.
type Sorter struct {
	Groups []Group // in the order of their first rows
	// Places are the rows of each group, in the order of times. Rows of equal time keep their order:
	// the last one counts.
	Places []Place

	counts []int32 // number of rows of each series, then the position of its next row
}

// New returns a sorter for a dataset with the given number of series.
func New(series uint32) *Sorter { return &Sorter{counts: make([]int32, series)} }

// Sort sorts the rows of runs of one table.
func (s *Sorter) Sort(runs []*series.Run) error {
	s.Groups = s.Groups[:0]
	rows := 0
	for _, run := range runs {
		rows += run.Rows()
		for _, of := range run.Series {
			if int(of) >= len(s.counts) {
				return fmt.Errorf("a row is of series %d, and the dataset has %d", of, len(s.counts))
			}
			if s.counts[of] == 0 {
				s.Groups = append(s.Groups, Group{Series: of})
			}
			s.counts[of]++
		}
	}
	if cap(s.Places) < rows {
		s.Places = make([]Place, rows)
	}
	s.Places = s.Places[:rows]
	at := 0
	for i := range s.Groups {
		g := &s.Groups[i]
		g.First = at
		at += int(s.counts[g.Series])
		g.Last = at
		s.counts[g.Series] = int32(g.First)
	}
	for r, run := range runs {
		for row, of := range run.Series {
			s.Places[s.counts[of]] = Place{int32(r), int32(row)}
			s.counts[of]++
		}
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		s.counts[g.Series] = 0
		own := s.Places[g.First:g.Last]
		byTime := func(a, b Place) int { return cmp.Compare(runs[a.Run].Times[a.Row], runs[b.Run].Times[b.Row]) }
		if !slices.IsSortedFunc(own, byTime) {
			slices.SortStableFunc(own, byTime)
		}
	}
	return nil
}
