package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tsmark/tsmark/internal/printable"
)

// markFile marks a folder made by tsmark, and lists its files.
const markFile = "tsmark-site.json"

type mark struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	Tool    string   `json:"tool"` // version of tsmark
	Files   []string `json:"files"`
}

const (
	markFormat  = "tsmark site"
	markVersion = 1
)

func (s *Site) writeMark() error {
	files := append(slices.Clone(s.files), markFile)
	slices.Sort(files)
	text, err := json.MarshalIndent(mark{markFormat, markVersion, s.opts.Tool.Version, files}, "", "  ")
	if err != nil {
		return err
	}
	return s.write(markFile, append(text, '\n'))
}

// Replaceable returns why a folder that is not empty may not be replaced by a site, in
// one line that says how to fix it. It returns nil for a folder with only a site in it.
func Replaceable(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, markFile))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("tsmark site did not make this folder; choose another name, or empty it first")
	}
	if err != nil {
		return err
	}
	var m mark
	if err := json.Unmarshal(text, &m); err != nil || m.Format != markFormat {
		return fmt.Errorf("its %s is damaged; choose another name, or empty the folder first", markFile)
	}
	made := make(map[string]bool, len(m.Files))
	for _, name := range m.Files {
		made[name] = true
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); !d.Type().IsRegular() || !made[name] {
			return fmt.Errorf("it holds %s, which tsmark site did not make; move that elsewhere, or choose another name", printable.Line(name))
		}
		return nil
	})
}
