package driver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/workload"
)

// Mark is what a load leaves in the database, so that later commands know
// what they face.
type Mark struct {
	Dataset      workload.Spec `json:"dataset"`
	Fingerprint  string        `json:"fingerprint"`
	RowsExpected int64         `json:"rows_expected"` // -1: not known when the load began
	RowsAcked    int64         `json:"rows_acked"`
	Complete     bool          `json:"complete"` // every row was acknowledged
	Loaded       time.Time     `json:"loaded"`
	Tool         string        `json:"tool"` // tsmark's version
	// Unverified is why answers cannot be checked: the rows came from a file
	// and nobody knows how to make them again. Empty: they can.
	Unverified string `json:"unverified,omitempty"`
	// SentTwice is how many rows were sent again although they may have been
	// stored the first time, and the system does not dedupe: so many more than
	// expected can be duplicates.
	SentTwice int64 `json:"sent_twice,omitempty"`
	// Run is the id of the run that loaded it, and that may load it again.
	Run string `json:"run,omitempty"`
	// Target is the name of the target that was loaded, Driver what drove it, and
	// Repeat which load of the target it was in its run, from 1. Empty and 0: a
	// tsmark that did not say so loaded it.
	Target string `json:"target,omitempty"`
	Driver string `json:"driver,omitempty"`
	Repeat int    `json:"repeat,omitempty"`
	// Layout is the values of the options that have Option.Layout set, as they
	// were when the tables were made.
	Layout map[string]string `json:"layout,omitempty"`
}

// LayoutOf returns the values of the options that say how data is laid out, by
// name.
func (k *Driver) LayoutOf(o Options) map[string]string {
	layout := make(map[string]string)
	for _, option := range k.Options {
		if option.Layout {
			layout[option.Name] = o[option.Name]
		}
	}
	return layout
}

// Differs says in what the data that a mark tells of is laid out otherwise than
// a target of the driver with the options would lay it out; empty: in nothing
// that is known. What the mark does not name, as one by an older tsmark,
// counts as alike.
func (m *Mark) Differs(k *Driver, o Options) string {
	if m.Driver != "" && m.Driver != k.Name {
		return fmt.Sprintf("was loaded as %s, not %s", m.Driver, k.Name)
	}
	var was, is []string
	for _, option := range k.Options {
		loaded, known := m.Layout[option.Name]
		if now := o[option.Name]; option.Layout && known && loaded != now {
			was, is = append(was, setting(option.Name, loaded)), append(is, setting(option.Name, now))
		}
	}
	if len(was) == 0 {
		return ""
	}
	return fmt.Sprintf("was loaded with %s, not with %s", strings.Join(was, ","), strings.Join(is, ","))
}

// setting is an option with its value, as a user would write it.
func setting(name, value string) string {
	if value == "" {
		return "no " + name
	}
	return name + "=" + value
}

// Object is something in a database that has a name: a table, a view, a
// measurement.
type Object struct {
	Name string
	// Identity tells it from another one that has or had the name: what the
	// system gives to an object once and never again, or where it has no such
	// thing, the columns. Empty: nothing does.
	Identity string
}

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
func (s *Stamp) Identify(present []Object) {
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
func (s *Stamp) Owns(o Object) bool {
	known := s.Identities[o.Name]
	return slices.Contains(s.Tables, o.Name) && (known == "" || known == o.Identity)
}

// Described is the identity of an object by what describes it, such as its
// columns, where the system gives it none.
func Described(by ...string) string {
	hash := sha256.New()
	for _, part := range by {
		fmt.Fprintf(hash, "%q", part) // so that parts cannot run into each other
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

// Token is a text that nobody else has, for systems in which a description is
// an object's identity: as a comment of the object it makes that its own.
func Token() string {
	var random [8]byte
	rand.Read(random[:])
	return fmt.Sprintf("made by tsmark, %x", random)
}

// Own returns the names of those of the present objects that tsmark made.
func (s *Stamp) Own(present []Object) []string {
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
func (s *Stamp) Taken(o Object) string {
	if !slices.Contains(s.Tables, o.Name) || s.Owns(o) {
		return ""
	}
	return ", which is not the one that tsmark made under that name"
}
