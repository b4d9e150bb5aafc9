package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// runID is what run IDs look like. They are names of folders.
var runID = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-z]+$`)

// check finds what no results folder could have held. An archive may come from
// anybody: nothing in it may lead to a file outside the run's folder.
func check(entries []Entry) error {
	seen := make(map[string]bool)
	for _, e := range entries {
		if e.Run == nil || !runID.MatchString(e.Run.ID) {
			return errors.New("a run has no id")
		}
		if seen[e.Run.ID] {
			return fmt.Errorf("run %s is in it twice", e.Run.ID)
		}
		seen[e.Run.ID] = true
		if err := checkRun(&e); err != nil {
			return fmt.Errorf("run %s: %w", e.Run.ID, err)
		}
	}
	if len(entries) == 0 {
		return errors.New("it holds none")
	}
	return nil
}

func checkRun(e *Entry) error {
	for _, moment := range []time.Time{e.Run.Started, e.Run.Finished} {
		if moment.Year() < 0 || moment.Year() > 9999 { // which the store's texts cannot say
			return errors.New("its times are none")
		}
	}
	targets := make(map[string]bool)
	for i := range e.Run.Targets {
		t := &e.Run.Targets[i]
		if t.Name == "" || targets[t.Name] {
			return errors.New("its targets have not each a name of their own")
		}
		targets[t.Name] = true
		if _, err := t.Pooled(); err != nil {
			return fmt.Errorf("target %s: %w", t.Name, err)
		}
		repeats := make(map[int]bool)
		for _, r := range t.Repeats {
			if r.Number < 1 || repeats[r.Number] {
				return fmt.Errorf("target %s: its repeats have not each a number of their own", t.Name)
			}
			repeats[r.Number] = true
		}
	}
	files := make(map[string]bool)
	for _, f := range e.Files {
		if !fileName(f.Name) || files[f.Name] {
			return fmt.Errorf("%q cannot be a file of its folder", f.Name)
		}
		files[f.Name] = true
	}
	return nil
}

// fileName reports whether a name is one of a file below a folder, on every
// system.
func fileName(name string) bool {
	return fs.ValidPath(name) && name != "." && path.Clean(name) == name &&
		!strings.ContainsAny(name, `\:`) && filepath.IsLocal(filepath.FromSlash(name))
}
