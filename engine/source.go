package engine

import (
	"context"

	"github.com/tsmark/tsmark/workload"
)

// Source is the queries of one type, rendered for the target when they are
// needed: a million rendered ones take more memory than a run needs for all else.
// It is used by one goroutine at a time.
type Source interface {
	// Len is how many queries there are.
	Len() int
	// ID is that of the query at a place, from 0 to before Len: at least 0, and the
	// same for equal queries.
	ID(place int) int
	// Render returns queries from that place on, in their order: at least one, and
	// as many as it sees fit. They are valid until the next call. Nothing is
	// measured meanwhile.
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

// shareOf is the queries of a source that are of a share.
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
