package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// Confirm decides whether the named objects may be dropped from a place, the target's
// Description.Location. Its error says why not.
type Confirm func(ctx context.Context, place string, named []string) error

// Force makes room for loads by dropping objects that tsmark did not create, if the user agrees.
type Force struct {
	Confirm Confirm // its errors are returned as they are; nil: nothing may be dropped
	// Dropped is called after objects were dropped.
	Dropped func(place string, named []string)

	agreed map[string][]string // objects that the user agreed to drop, by place
}

// Allow returns an error if the user does not agree to drop the objects in the way; refusal
// is the Session's error. It does not call Confirm twice for the same objects.
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

// MakeRoom drops the objects in the way if the user agrees.
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

// Prepare is Session.Prepare, and makes room first if necessary.
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
