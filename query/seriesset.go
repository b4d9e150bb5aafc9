package query

import (
	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/series"
)

// SeriesSet is a set of series of a table, identified by their tags. It keeps a 64-bit hash (XXH64)
// of each: for a million series the probability of a collision is below 1 in 10 million.
type SeriesSet struct {
	columns []Column
	hashes  map[uint64]struct{}
	scratch []byte
}

// NewSeriesSet returns an empty set of series of the table, identified by all of its tags, or by
// all tags except numeric ones.
func NewSeriesSet(t *series.Table, numeric bool) *SeriesSet {
	s := &SeriesSet{hashes: make(map[uint64]struct{})}
	for i := range t.Tags {
		switch tag := &t.Tags[i]; {
		case !tag.Numeric():
			s.columns = append(s.columns, Column{tag.Key, Text})
		case numeric:
			s.columns = append(s.columns, Column{tag.Key, Float})
		}
	}
	return s
}

// Columns are the tags of a series, in their order.
func (s *SeriesSet) Columns() []Column { return s.columns }

// Len returns the number of series.
func (s *SeriesSet) Len() int { return len(s.hashes) }

// Add adds a series by its tags, which it may have. NULL: it lacks the tag.
func (s *SeriesSet) Add(tags []Value) { s.hashes[s.hash(tags)] = struct{}{} }

// Has reports whether a series is in the set.
func (s *SeriesSet) Has(tags []Value) bool {
	_, has := s.hashes[s.hash(tags)]
	return has
}

// Common returns how many series are in both sets.
func (s *SeriesSet) Common(other *SeriesSet) int {
	n := 0
	for h := range s.hashes {
		if _, has := other.hashes[h]; has {
			n++
		}
	}
	return n
}

func (s *SeriesSet) hash(tags []Value) uint64 {
	s.scratch = appendRow(s.scratch[:0], s.columns, tags)
	return xxhash.Sum64(s.scratch)
}
