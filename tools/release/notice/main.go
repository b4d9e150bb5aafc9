// Command notice prints the licences of all code that is linked into a program, for
// distribution with it.
//
//	go -C tools run ./release/notice PROGRAM > NOTICE
//	go -C tools run ./release/notice --sbom FILE PROGRAM
//
// It uses the list of modules in the program itself (go version -m), and prints
// every licence file of each as it is in the module. A module without one is an error.
// The code that DuckDB bundles is not in modules: its licences are kept here, and another
// version of DuckDB is an error until somebody has reviewed them. With --sbom the same
// parts are added to the program's SBOM, in CycloneDX's JSON.
package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1:
		var text string
		if text, err = notice(args[0]); err == nil {
			_, err = os.Stdout.WriteString(text)
		}
	case len(args) == 3 && args[0] == "--sbom":
		err = complete(args[1], args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: notice PROGRAM, or notice --sbom FILE PROGRAM")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// notice returns the text for a program.
func notice(program string) (string, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", fmt.Errorf("reading what %s is built of: %w", program, err)
	}
	parts, err := folders(info.Deps)
	if err != nil {
		return "", err
	}
	more, err := bundledParts(info.Deps)
	if err != nil {
		return "", err
	}
	parts = append(parts, more...)
	root, err := goCommand("env", "GOROOT")
	if err != nil {
		return "", err
	}
	parts = append(parts, part{"Go's standard library " + info.GoVersion, os.DirFS(strings.TrimSpace(string(root))), false})
	return compose(info.Main.Path, parts)
}

// part is something with licences of its own.
type part struct {
	name   string
	files  fs.FS
	nested bool // licences below the first folder count too: those of code that was copied into it
}

// folders finds the files of modules, as the Go tool has downloaded and checked them.
func folders(modules []*debug.Module) ([]part, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		m = cmp.Or(m.Replace, m)
		args = append(args, m.Path+"@"+m.Version)
	}
	if len(modules) == 0 {
		return nil, nil
	}
	out, err := goCommand(args...)
	if err != nil {
		return nil, err
	}
	var parts []part
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		switch err := list.Decode(&m); {
		case errors.Is(err, io.EOF):
			return parts, nil
		case err != nil:
			return nil, fmt.Errorf("reading what go mod download says: %w", err)
		}
		parts = append(parts, part{m.Path + " " + m.Version, os.DirFS(m.Dir), true})
	}
}

func goCommand(args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}

// licence matches the names of files with licences and notices.
var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|unlicense|patents)([-._].*)?$`)

// licences reads the licence files of a part.
func licences(p part) (texts []string, err error) {
	err = fs.WalkDir(p.files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (!p.nested || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.Type().IsRegular() || !licence.MatchString(d.Name()) || strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := fs.ReadFile(p.files, name)
		texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		return err
	})
	if err == nil && len(texts) == 0 {
		err = errors.New("has no licence file")
	}
	if err != nil {
		return nil, fmt.Errorf("licences of %s: %w", p.name, err)
	}
	return texts, nil
}

// compose writes each text once, with all that it is of.
func compose(program string, parts []part) (string, error) {
	type entry struct {
		text string
		of   []string
	}
	var entries []entry
	var problems []error
	for _, p := range parts {
		texts, err := licences(p)
		problems = append(problems, err)
		for _, text := range texts {
			i := slices.IndexFunc(entries, func(e entry) bool { return e.text == text })
			if i < 0 {
				entries = append(entries, entry{text: text})
				i = len(entries) - 1
			}
			if !slices.Contains(entries[i].of, p.name) {
				entries[i].of = append(entries[i].of, p.name)
			}
		}
	}
	if err := errors.Join(problems...); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "This program contains %s, whose licence is in the file LICENSE, and the\nfollowing software, whose licences are below.\n\n", program)
	for _, p := range parts {
		fmt.Fprintf(&b, "  %s\n", p.name)
	}
	for _, e := range entries {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(e.of, "\n"), e.text)
	}
	return b.String(), nil
}
