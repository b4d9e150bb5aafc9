package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed template
var templates embed.FS

// kits are the kits that a driver can start from.
var kits = []string{"sql", "http", "metric"}

// skeleton is a new driver.
type skeleton struct {
	Name string // as users write it, and the name of the package
	Kit  string
}

// SQL reports whether queries are SQL.
func (d skeleton) SQL() bool { return d.Kit == "sql" }

// Metric reports whether the system stores metrics, each with one number at a time.
func (d skeleton) Metric() bool { return d.Kit == "metric" }

var validName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// newDriver returns an error if the name cannot name a package or the kit is unknown.
func newDriver(name, kit string) (skeleton, error) {
	if !validName.MatchString(name) {
		return skeleton{}, fmt.Errorf("name %q: use lower-case letters and digits, starting with a letter", name)
	}
	if !slices.Contains(kits, kit) {
		return skeleton{}, fmt.Errorf("--kit %q: must be one of %s", kit, strings.Join(kits, ", "))
	}
	return skeleton{Name: name, Kit: kit}, nil
}

// files maps the path of each new file to its template.
func (d skeleton) files() map[string]string {
	folder := "driver/db/" + d.Name + "/"
	files := map[string]string{
		folder + "driver.go":             "driver.go.tmpl",
		folder + "database.go":           "database.go.tmpl",
		folder + d.Name + "_test.go":     "driver_test.go.tmpl",
		"servers/" + d.Name:              "server.tmpl",
		"docs/drivers/" + d.Name + ".md": "page.md.tmpl",
	}
	if d.SQL() {
		files[folder+"dialect.go"] = "dialect.go.tmpl"
	}
	return files
}

// entry is the place in an existing file for the driver's name: behind the pattern's
// last match.
type entry struct {
	file    string
	pattern *regexp.Regexp
	text    string
}

func (d skeleton) entries() []entry {
	return []entry{
		{"driver/all/all.go", regexp.MustCompile(`(?m)^\t"github\.com/tsmark/tsmark/driver"\n`), fmt.Sprintf("\t\"github.com/tsmark/tsmark/driver/db/%s\"\n", d.Name)},
		{"driver/all/all.go", regexp.MustCompile(`(?m)^\t\t\w+\.Driver\(\),\n`), fmt.Sprintf("\t\t%s.Driver(),\n", d.Name)},
		{"docs/nav.yaml", regexp.MustCompile(`(?m)^ *- docs/drivers/\w+\.md\n`), fmt.Sprintf("    - docs/drivers/%s.md\n", d.Name)},
		{"README.md", regexp.MustCompile(`\[\w+\]\(docs/drivers/\w+\.md\)`), fmt.Sprintf(" · [%s](docs/drivers/%[1]s.md)", d.Name)},
		{"docs/scale-out.md", regexp.MustCompile("(?m)^\\| `\\w+`.*\\| (yes|no).*\\|\n"), fmt.Sprintf("| `%s` | no |\n", d.Name)},
	}
}

// write writes the driver into the repository and returns the paths of the files that it has
// made or changed. It writes nothing if one of the new files exists already.
func (d skeleton) write(root string) ([]string, error) {
	contents := make(map[string][]byte)
	for name, source := range d.files() {
		if _, err := os.Stat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s exists already: choose another name, or delete it", name)
		}
		t, err := template.ParseFS(templates, "template/"+source)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := t.Execute(&text, d); err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
		contents[name] = text.Bytes()
	}
	for _, e := range d.entries() {
		text, ok := contents[e.file]
		if !ok {
			var err error
			if text, err = os.ReadFile(filepath.Join(root, e.file)); err != nil {
				return nil, fmt.Errorf("adding %s: %w; is --root the folder of the repository?", d.Name, err)
			}
		}
		matches := e.pattern.FindAllIndex(text, -1)
		if len(matches) == 0 {
			return nil, fmt.Errorf("%s: no place for %s was found: add it by hand where %q would match", e.file, d.Name, e.pattern)
		}
		end := matches[len(matches)-1][1]
		contents[e.file] = slices.Concat(text[:end], []byte(e.text), text[end:])
	}
	var written []string
	for name, text := range contents {
		if strings.HasSuffix(name, ".go") {
			formatted, err := format.Source(text)
			if err != nil {
				return nil, fmt.Errorf("formatting %s: %w", name, err)
			}
			text = formatted
		}
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		mode := os.FileMode(0o666)
		if strings.HasPrefix(name, "servers/") {
			mode = 0o777
		}
		if err := os.WriteFile(path, text, mode); err != nil {
			return nil, err
		}
		written = append(written, name)
	}
	slices.Sort(written)
	return written, nil
}
