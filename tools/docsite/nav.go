package docsite

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/goccy/go-yaml"
)

// navFile names the pages in the order of reading.
const navFile = "docs/nav.yaml"

// readNav reads the order of the pages, and finds documents that it leaves out.
func (s *site) readNav() error {
	source, err := fs.ReadFile(s.repository, navFile)
	if err != nil {
		return fmt.Errorf("reading the order of pages: %w", err)
	}
	var nav []struct {
		Section string   `yaml:"section"`
		Pages   []string `yaml:"pages"`
	}
	if err := yaml.UnmarshalWithOptions(source, &nav, yaml.Strict()); err != nil {
		return fmt.Errorf("%s: %w", navFile, err)
	}
	var problems []error
	for _, listed := range nav {
		part := &section{Title: listed.Section}
		for _, name := range listed.Pages {
			switch _, err := fs.Stat(s.repository, name); {
			case s.page(name) != nil:
				problems = append(problems, fmt.Errorf("%s: names %s twice", navFile, name))
				continue
			case err != nil:
				problems = append(problems, fmt.Errorf("%s: names %s, which does not exist", navFile, name))
				continue
			}
			p := &page{Source: name, Path: pathOf(name)}
			part.Pages = append(part.Pages, p)
			s.pages = append(s.pages, p)
		}
		s.sections = append(s.sections, part)
	}
	documents, err := documents(s.repository)
	if err != nil {
		return err
	}
	for _, name := range documents {
		if s.page(name) == nil {
			problems = append(problems, fmt.Errorf("%s: does not name %s; add it where a reader should come to it", navFile, name))
		}
	}
	return errors.Join(problems...)
}

// documents lists the Markdown files of the repository's first folder and below docs.
func documents(repository fs.FS) ([]string, error) {
	names, err := fs.Glob(repository, "*.md")
	if err != nil {
		return nil, fmt.Errorf("listing documents: %w", err)
	}
	err = fs.WalkDir(repository, path.Dir(navFile), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing documents: %w", err)
	}
	return names, nil
}
