package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// check finds what no results folder could have held. An archive may come from
// anybody: nothing in it may lead to a file outside the run's folder.
func check(entries []Entry) error {
	seen := make(map[string]bool)
	for _, e := range entries {
		if e.Run == nil || !result.ProperID(e.Run.ID) {
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
	if err := result.Check(e.Run); err != nil {
		return err
	}
	if _, err := e.Run.Pooled(); err != nil {
		return err
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
