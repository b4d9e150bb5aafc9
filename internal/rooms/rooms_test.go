// Package rooms_test holds the layout of the repository to the table in CONTRIBUTING.md:
// which package may import which, and how large a package may become.
package rooms_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "github.com/tsmark/tsmark/"

// TestImportOrder reports each import that runs against the order of the table in CONTRIBUTING.md.
// Tests may import anything.
func TestImportOrder(t *testing.T) {
	table := readTable(t)
	for _, p := range listPackages(t) {
		from := table.row(p.name())
		if from < 0 {
			t.Errorf("package %s is in no folder of the table in CONTRIBUTING.md", p.name())
			continue
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if ours && table.row(to) > from {
				t.Errorf("%s -> %s: a package imports only packages above it in CONTRIBUTING.md", p.name(), to)
			}
		}
	}
}

// Limits of one package, without its tests.
const (
	maxFiles       = 25
	maxLines       = 5000
	maxLinesOfFile = 600
)

// TestPackageSize reports each package that has outgrown the limits.
func TestPackageSize(t *testing.T) {
	for _, p := range listPackages(t) {
		lines := 0
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			n := bytes.Count(text, []byte("\n"))
			if n > maxLinesOfFile {
				t.Errorf("%s of %s has %d lines, and at most %d are allowed; split it", file, p.name(), n, maxLinesOfFile)
			}
			lines += n
		}
		if len(p.GoFiles) > maxFiles || lines > maxLines {
			t.Errorf("%s has %d files and %d lines, and at most %d and %d are allowed; split it", p.name(), len(p.GoFiles), lines, maxFiles, maxLines)
		}
	}
}

// folders is the table of CONTRIBUTING.md: for each row, its folders.
type folders [][]string

// row returns the index of the row with the longest folder that holds the package, or -1.
func (f folders) row(pkg string) int {
	row, longest := -1, 0
	for i, names := range f {
		for _, name := range names {
			if len(name) > longest && (pkg == name || strings.HasPrefix(pkg, name+"/")) {
				row, longest = i, len(name)
			}
		}
	}
	return row
}

func readTable(t *testing.T) folders {
	t.Helper()
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "| folder | contents |\n|---|---|\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no table of folders")
	}
	var table folders
	folder := regexp.MustCompile("`([a-z0-9/]+)/`")
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var names []string
		for _, match := range folder.FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			if _, err := os.Stat(filepath.Join("../..", match[1])); err != nil {
				t.Errorf("CONTRIBUTING.md: %v", err)
			}
			names = append(names, match[1])
		}
		table = append(table, names)
	}
	return table
}

// listedPackage is the part of go list's answer that the tests use.
type listedPackage struct {
	ImportPath, Dir  string
	GoFiles, Imports []string
}

func (p listedPackage) name() string { return strings.TrimPrefix(p.ImportPath, module) }

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(fmt.Errorf("go list: %w", err))
	}
	var packages []listedPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
