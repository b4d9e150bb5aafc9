// Package sqltarget is what targets share that keep datasets in SQL tables: the
// mark and which tables are tsmark's own, and which series have their row of
// tags.
package sqltarget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/target"
)

// MarkTable holds the mark, as a text in the column ContentColumn of its only
// row. Its name is tsmark's own in every database.
const (
	MarkTable     = "tsmark_mark"
	ContentColumn = "content"
)

// Stamp is what the mark's table holds.
type Stamp struct {
	Mark   target.Mark `json:"mark"`
	Tables []string    `json:"tables"` // that tsmark made and may drop
}

// Text is the stamp as it is stored.
func (s Stamp) Text() (string, error) {
	content, err := json.Marshal(s)
	return string(content), err
}

// Place is a database as messages name it.
type Place struct {
	Name    string // its path, or name and address
	Instead string // what a user gives to have another one: give another path
}

// ReadStamp returns the stamp of a database whose tables are present; read
// returns what the mark's table holds. The error wraps target.ErrNoMark where
// there is no table at all, and target.ErrForeign where tsmark did not make
// them, naming them.
func (p Place) ReadStamp(present []string, read func() (string, error)) (Stamp, error) {
	switch {
	case len(present) == 0:
		return Stamp{}, fmt.Errorf("%s %w", p.Name, target.ErrNoMark)
	case !slices.Contains(present, MarkTable):
		return Stamp{}, fmt.Errorf("%s %w: %s; %s", p.Name, target.ErrForeign, some(present), p.Instead)
	}
	text, err := read()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, target.ErrUnreachable) {
		return Stamp{}, fmt.Errorf("%s: %w", p.Name, err)
	}
	var s Stamp
	if err == nil {
		err = json.Unmarshal([]byte(text), &s)
	}
	if err != nil {
		return Stamp{}, fmt.Errorf("%s %w: its table %s is not as tsmark writes it (%w); %s", p.Name, target.ErrForeign, MarkTable, err, p.Instead)
	}
	return s, nil
}

// Foreign returns an error that wraps target.ErrForeign and names the first of
// the tables that are to be made which is there already and is not tsmark's.
// Names that differ by case alone are the same where fold is set.
func (p Place) Foreign(old Stamp, present, made []string, fold bool) error {
	for _, name := range present {
		if name == MarkTable || slices.Contains(old.Tables, name) {
			continue
		}
		if slices.ContainsFunc(made, func(own string) bool { return own == name || fold && strings.EqualFold(own, name) }) {
			return fmt.Errorf("%s %w: a table or index %s; drop it or %s", p.Name, target.ErrForeign, name, p.Instead)
		}
	}
	return nil
}

// some lists the first names.
func some(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return "tables " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("tables %s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// Distinct returns an error that names what two of the tables would be called,
// or what the mark's table is called. Names that differ by case alone are the
// same where fold is set.
func Distinct(names []string, fold bool) error {
	taken := map[string]bool{MarkTable: true}
	for _, name := range names {
		key := name
		if fold {
			key = strings.ToLower(name)
		}
		if taken[key] {
			return fmt.Errorf("two tables or indexes would be called %s: rename a table of the workload", name)
		}
		taken[key] = true
	}
	return nil
}
