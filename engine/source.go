package engine

import "context"

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
