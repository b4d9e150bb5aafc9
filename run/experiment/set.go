package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ParseSetting reads the value of a --set flag, PATH=VALUE.
func ParseSetting(text string) (path, value string, err error) {
	path, value, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		return "", "", fmt.Errorf("%q names no key with a value; write PATH=VALUE, as in load.retry=5", text)
	}
	return path, value, nil
}

// Set sets the key at a path of the matrix to the value of a text. The origin is where the user
// wrote it.
func (e *Experiment) Set(path, value string, o Origin) error {
	k, ok := e.find(path)
	if !ok {
		return &Problem{Origin: o, Text: fmt.Sprintf("%q is not a key that can be set%s", path, e.hint(path))}
	}
	if e.origins == nil {
		e.origins = make(map[string]Origin)
	}
	if k.target < 0 {
		d := decoder{experiment: e, place: o}
		d.set(k, path, value)
		e.SetOrigin(path, o)
		return errors.Join(d.problems...)
	}
	return e.setOption(&e.Targets[k.target], fmt.Sprintf("targets[%d]", k.target), k.option, value, o)
}

// setOption sets an option, or one of TargetKeys, of the target at a path. Problems with the options
// of the target name the origin.
func (e *Experiment) setOption(t *Target, path, option, value string, o Origin) error {
	switch {
	case option == "profile" || option == "durability":
		e.origins[path], e.origins[path+".options"] = o, o
	case slices.Contains(TargetKeys(), option):
		e.origins[path+"."+option] = o
	default:
		e.origins[path+".options"] = o
	}
	if err := t.Set(option, value); err != nil {
		return e.Problem(path+"."+option, "%s", err)
	}
	return nil
}
