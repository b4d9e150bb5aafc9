package session

import (
	"encoding/json"
	"slices"

	"github.com/tsmark/tsmark/driver"
)

// stamp is what the note says: the mark, and what tsmark made. A stamp names
// objects before they are made, so that those are known of which tsmark was
// killed in the making.
type stamp struct {
	Mark Mark `json:"mark"`
	// Tables are the names of the objects that tsmark made and may drop.
	Tables []string `json:"tables"`
	// Identities are those of Tables. One is unknown if tsmark was killed while it
	// made the objects. Then the name alone tells.
	Identities map[string]string `json:"identities,omitempty"`
	// Columns are those that objects may have, of which driver.Object.Columns
	// tells.
	Columns map[string][]string `json:"columns,omitempty"`
}

func (s *stamp) text() (string, error) {
	content, err := json.Marshal(s)
	return string(content), err
}

func parseStamp(text string) (*stamp, error) {
	s := new(stamp)
	err := json.Unmarshal([]byte(text), s)
	return s, err
}

// add has the stamp name an object, with what is known of it.
func (s *stamp) add(o driver.Object) {
	if !slices.Contains(s.Tables, o.Name) {
		s.Tables = append(s.Tables, o.Name)
	}
	if o.Identity != "" {
		if s.Identities == nil {
			s.Identities = make(map[string]string)
		}
		s.Identities[o.Name] = o.Identity
	}
	if o.Columns != nil {
		if s.Columns == nil {
			s.Columns = make(map[string][]string)
		}
		s.Columns[o.Name] = o.Columns
	}
}

// identify takes the identities of what the stamp names from what is there.
func (s *stamp) identify(present []driver.Object) {
	for _, o := range present {
		if slices.Contains(s.Tables, o.Name) && o.Schema == "" && o.Of == "" {
			o.Columns = nil // those that it may have are known
			s.add(o)
		}
	}
}

// owns reports whether tsmark made an object: it has the name and the identity
// of one that it made. What was dropped and made again by somebody else is not
// tsmark's.
func (s *stamp) owns(o driver.Object) bool {
	if !slices.Contains(s.Tables, o.Name) || o.Schema != "" || o.Of != "" {
		return false
	}
	if known := s.Identities[o.Name]; known != "" && known != o.Identity {
		return false
	}
	allowed := s.Columns[o.Name]
	return allowed == nil || !slices.ContainsFunc(o.Columns, func(c string) bool { return !slices.Contains(allowed, c) })
}

// isTaken reports whether somebody made an object again under a name of the
// stamp's.
func (s *stamp) isTaken(o driver.Object) bool {
	return slices.Contains(s.Tables, o.Name) && o.Schema == "" && o.Of == "" && !s.owns(o)
}
