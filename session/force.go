package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// Confirm decides whether what is named may be dropped from a place, which is where
// the target is as its description has it. Its error says why not.
type Confirm func(ctx context.Context, place string, named []string) error

// Force makes room for loads where the user lets it go what tsmark did not
// create.
type Force struct {
	Confirm Confirm // its errors are returned as they are; nil: nothing may be dropped
	// Dropped is told what was.
	Dropped func(place string, named []string)

	agreed map[string][]string // what the user lets go, by place
}

// Allow returns an error where what is in the way must stay; refusal is that of
// the Session. What was let go is not asked for again.
func (f *Force) Allow(ctx context.Context, s Session, schema *series.Schema, refusal error) (place string, named []string, err error) {
	if f.Confirm == nil {
		return "", nil, fmt.Errorf("%w, or add --force to have it dropped", refusal)
	}
	d, err := s.db.Describe(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("reading version and settings: %w", err)
	}
	found, err := s.Existing(ctx, schema)
	if err != nil {
		return "", nil, err
	}
	named = Names(found)
	if agreed, ok := f.agreed[d.Location]; ok && slices.Equal(agreed, named) {
		return d.Location, named, nil
	}
	if err := f.Confirm(ctx, d.Location, named); err != nil {
		return "", nil, err
	}
	if f.agreed == nil {
		f.agreed = make(map[string][]string)
	}
	f.agreed[d.Location] = named
	return d.Location, named, nil
}

// MakeRoom drops what is in the way, if the user lets it.
func (f *Force) MakeRoom(ctx context.Context, s Session, schema *series.Schema, refusal error) error {
	place, named, err := f.Allow(ctx, s, schema, refusal)
	if err != nil {
		return err
	}
	if err := s.Drop(ctx, schema, named); err != nil {
		return err
	}
	if f.Dropped != nil {
		f.Dropped(place, named)
	}
	return nil
}

// Prepare is the Session's, and makes room first where it must.
func (f *Force) Prepare(ctx context.Context, s Session, schema *series.Schema, m Mark) error {
	err := s.Prepare(ctx, schema, m)
	if errors.Is(err, driver.ErrExisting) {
		if err := f.MakeRoom(ctx, s, schema, err); err != nil {
			return err
		}
		err = s.Prepare(ctx, schema, m)
	}
	return err
}
