package experiment

import (
	"errors"
	"reflect"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
)

// Set gives a key of a section, a pointer to one of the structs that a file's
// sections are read into, the value that a text means there. Its error says what
// is wrong, without the key.
func Set(section any, key, text string) error {
	v := reflect.ValueOf(section).Elem()
	var known []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if name != key {
			known = append(known, name)
			continue
		}
		d := decoder{experiment: &Experiment{origins: make(map[string]Origin)}, place: Origin{Flag: key}}
		d.assign(key, text, v.Field(i))
		if len(d.problems) > 0 {
			var p *Problem
			errors.As(d.problems[0], &p)
			return errors.New(p.Text)
		}
		return nil
	}
	return errors.New("is no key" + suggest.Among(key, known))
}
