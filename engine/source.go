package engine

import (
	"context"

	"github.com/tsmark/tsmark/workload"
)

// Source provides the queries of one type, rendered for the target on demand: a million rendered
// queries would take more memory than the rest of a run. It is used by one goroutine at a time.
type Source interface {
	// Len returns the number of queries.
	Len() int
	// ID returns the ID of the query at a place, from 0 to Len()-1. IDs are at least 0, and equal
	// for equal queries.
	ID(place int) int
	// Render returns the queries from a place on, in order: at least one, and as many as the source
	// chooses. They are valid until the next call. Nothing is measured meanwhile.
	Render(ctx context.Context, place int) ([]Rendered, error)
}

// List is a Source of queries that are rendered already.
type List []Rendered

// Len implements Source.
func (l List) Len() int { return len(l) }

// ID implements Source.
func (l List) ID(place int) int { return l[place].ID }

// Render implements Source.
func (l List) Render(_ context.Context, place int) ([]Rendered, error) { return l[place:], nil }

// shareOf returns the queries of a source that belong to a share.
func shareOf(s Source, share workload.Share) Source {
	if share.Single() {
		return s
	}
	return &shareSource{whole: s, share: share}
}

type shareSource struct {
	whole Source
	share workload.Share
	list  []Rendered
}

// Len implements Source.
func (s *shareSource) Len() int { return s.share.CountOf(s.whole.Len()) }

// ID implements Source.
func (s *shareSource) ID(place int) int { return s.whole.ID(s.share.Place(place)) }

// Render implements Source.
func (s *shareSource) Render(ctx context.Context, place int) ([]Rendered, error) {
	all, err := s.whole.Render(ctx, s.share.Place(place))
	s.list = s.list[:0]
	for i := 0; i < len(all); i += s.share.Count {
		s.list = append(s.list, all[i])
	}
	return s.list, err
}
