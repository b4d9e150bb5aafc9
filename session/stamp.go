package session

import (
	"encoding/json"
	"slices"

	"github.com/tsmark/tsmark/driver"
)

// stamp is the content of the note: the mark, and the objects that tsmark created. A stamp names
// objects before they are created, so that they are known even if tsmark is killed while creating
// them.
type stamp struct {
	Mark Mark `json:"mark"`
	// Tables are the names of the objects that tsmark created and may drop.
	Tables []string `json:"tables"`
	// Identities are the identities of Tables. An identity is unknown if tsmark was killed while it
	// created the object; then the name alone decides.
	Identities map[string]string `json:"identities,omitempty"`
	// Columns are the possible columns of objects, if the driver reports driver.Object.Columns.
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

// add adds an object and its known properties to the stamp.
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

// identify copies the identities of the stamp's objects from the existing objects.
func (s *stamp) identify(present []driver.Object) {
	for _, o := range present {
		if slices.Contains(s.Tables, o.Name) && o.Schema == "" && o.Of == "" {
			o.Columns = nil // the stamp already has the possible columns
			s.add(o)
		}
	}
}

// owns reports whether tsmark created an object: the stamp has its name and identity. An object
// that another user dropped and created again is not tsmark's.
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

// isTaken reports whether another user created an object under a name in the stamp.
func (s *stamp) isTaken(o driver.Object) bool {
	return slices.Contains(s.Tables, o.Name) && o.Schema == "" && o.Of == "" && !s.owns(o)
}
