package experiment

import (
	"errors"
	"reflect"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
)

// noCount is what is wrong with a 0 that somebody wrote where 0 stands for the
// default.
const noCount = "must be 1 or more, not 0; leave it out for the default"

// counts finds the zeros that somebody wrote in a section of counts of which 0
// stands for the default.
func (c *checker) counts(path string, section any) {
	v := reflect.ValueOf(section)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if _, given := c.experiment.origins[path+"."+name]; given && v.Field(i).Kind() == reflect.Uint32 && v.Field(i).IsZero() {
			c.add(path+"."+name, noCount)
		}
	}
}

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
		if v.Field(i).Kind() == reflect.Uint32 && v.Field(i).IsZero() {
			return errors.New(noCount)
		}
		return nil
	}
	return errors.New("is no key" + suggest.Among(key, known))
}
