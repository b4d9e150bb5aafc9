package session

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// What follows is for drivers that keep the mark themselves, and goes with the
// last of them.

// Bridged is a database whose driver keeps the mark itself.
type Bridged interface {
	ReadMark(context.Context) (Mark, error)
	Prepare(context.Context, *series.Schema, Mark) error
	WriteMark(context.Context, Mark) error
	InspectSchema(context.Context, *series.Schema) error
}

// BridgedClearer is one that lists and drops what others made.
type BridgedClearer interface {
	Foreign(context.Context, *series.Schema) ([]string, error)
	Clear(ctx context.Context, schema *series.Schema, named []string) error
}

// Unported has the methods that such a database does not have yet.
type Unported struct{}

// Objects implements driver.DB.
func (Unported) Objects(context.Context) ([]driver.Object, error) { panic("not ported") }

// Plan implements driver.DB.
func (Unported) Plan(*series.Schema) ([]driver.Object, error) { panic("not ported") }

// Create implements driver.DB.
func (Unported) Create(context.Context, *series.Schema) error { panic("not ported") }

// Drop implements driver.DB.
func (Unported) Drop(context.Context, []driver.Object) error { panic("not ported") }

// Note implements driver.DB.
func (Unported) Note(context.Context) (string, error) { panic("not ported") }

// SetNote implements driver.DB.
func (Unported) SetNote(context.Context, string) error { panic("not ported") }

// Stamp is what tsmark keeps in a database: the mark, and what it made there.
type Stamp struct {
	Mark Mark `json:"mark"`
	// Tables are the names of the objects that tsmark made and may drop.
	Tables []string `json:"tables"`
	// Identities are those of Tables. One that is not there is not known: an
	// older tsmark wrote the stamp, or tsmark was killed while it made the
	// tables. Then the name alone tells.
	Identities map[string]string `json:"identities,omitempty"`
}

// Text is the stamp as it is stored.
func (s *Stamp) Text() (string, error) {
	content, err := json.Marshal(s)
	return string(content), err
}

// ParseStamp reads what Text returned.
func ParseStamp(text string) (Stamp, error) {
	var s Stamp
	err := json.Unmarshal([]byte(text), &s)
	return s, err
}

// Identify takes the identities of the stamp's tables from what is present.
func (s *Stamp) Identify(present []driver.Object) {
	s.Identities = make(map[string]string)
	for _, o := range present {
		if o.Identity != "" && slices.Contains(s.Tables, o.Name) {
			s.Identities[o.Name] = o.Identity
		}
	}
}

// Owns reports whether tsmark made an object: it has the name and the identity
// of one that it made. What was dropped and made again by somebody else is not
// tsmark's.
func (s *Stamp) Owns(o driver.Object) bool {
	known := s.Identities[o.Name]
	return slices.Contains(s.Tables, o.Name) && (known == "" || known == o.Identity)
}

// Own returns the names of those of the present objects that tsmark made.
func (s *Stamp) Own(present []driver.Object) []string {
	var names []string
	for _, o := range present {
		if s.Owns(o) {
			names = append(names, o.Name)
		}
	}
	return names
}

// Taken says of an object that tsmark does not own why it is not its own: that
// somebody made it again under a name of the stamp's. Empty: nothing but that
// tsmark did not make it.
func (s *Stamp) Taken(o driver.Object) string {
	if !slices.Contains(s.Tables, o.Name) || s.Owns(o) {
		return ""
	}
	return ", which is not the one that tsmark made under that name"
}
