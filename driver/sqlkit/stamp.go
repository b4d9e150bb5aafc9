package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/session"
)

// MarkTable holds the mark, as a text in the column ContentColumn of its only
// row. Its name is tsmark's own in every database.
const (
	MarkTable     = "tsmark_mark"
	ContentColumn = "content"
)

// Place is a database as messages name it.
type Place struct {
	Name    string // its path, or name and address
	Instead string // what a user gives to have another one: give another path
}

// ReadStamp returns the stamp of a database whose tables are present; read
// returns what the mark's table holds, or session.ErrNoMark where it is empty.
// The error wraps session.ErrNoMark where
// there is no table at all, and driver.ErrExisting where tsmark did not make
// them, naming them.
func (p Place) ReadStamp(present []driver.Object, read func() (string, error)) (session.Stamp, error) {
	switch {
	case len(present) == 0:
		return session.Stamp{}, fmt.Errorf("%s %w", p.Name, session.ErrNoMark)
	case !slices.ContainsFunc(present, func(o driver.Object) bool { return o.Name == MarkTable }):
		return session.Stamp{}, fmt.Errorf("%s %w: %s; %s", p.Name, driver.ErrExisting, some(present), p.Instead)
	}
	text, err := read()
	switch {
	case errors.Is(err, session.ErrNoMark):
		return session.Stamp{}, fmt.Errorf("%s %w", p.Name, err)
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrUnreachable):
		return session.Stamp{}, fmt.Errorf("%s: %w", p.Name, err)
	}
	var s session.Stamp
	if err == nil {
		s, err = session.ParseStamp(text)
	}
	if err != nil {
		return session.Stamp{}, fmt.Errorf("%s %w: its table %s is not as tsmark writes it (%w); %s", p.Name, driver.ErrExisting, MarkTable, err, p.Instead)
	}
	return s, nil
}

// Foreign returns an error that wraps driver.ErrExisting and names the first of
// the tables that are to be made which is there already and is not tsmark's.
// Names that differ by case alone are the same where fold is set.
func (p Place) Foreign(old session.Stamp, present []driver.Object, made []string, fold bool) error {
	for _, o := range present {
		if InTheWay(old, o, made, fold) {
			return fmt.Errorf("%s %w: a table or index %s%s; drop it or %s", p.Name, driver.ErrExisting, o.Name, old.Taken(o), p.Instead)
		}
	}
	return nil
}

// InTheWay reports whether an object that tsmark did not make has the name of
// one that is to be made.
func InTheWay(old session.Stamp, o driver.Object, made []string, fold bool) bool {
	return o.Name != MarkTable && !old.Owns(o) &&
		slices.ContainsFunc(made, func(name string) bool { return name == o.Name || fold && strings.EqualFold(name, o.Name) })
}

// some lists the first names.
func some(present []driver.Object) string {
	const shown = 3
	names := make([]string, len(present))
	for i, o := range present {
		names[i] = o.Name
	}
	if len(names) <= shown {
		return "tables " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("tables %s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
