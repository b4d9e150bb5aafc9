// Package buildinfo identifies the running build of tsmark.
package buildinfo

import (
	"cmp"
	_ "embed"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/module"

	"github.com/tsmark/tsmark/result"
)

// Module is the path of this program's module.
const Module = "github.com/tsmark/tsmark"

// archived is the commit of an archive of the repository, which git writes into
// the file; in a checkout it is what git would replace.
//
//go:embed archive.txt
var archived string

// Tool identifies this program. Its commit is that of the source: of a checkout as recorded by the
// Go tool, of a module from its pseudo-version, of an archive as written by git, and with go run in
// a checkout as reported by git now. It is empty if none of these applies, as for go install of a
// tagged version, which the version identifies.
var Tool = sync.OnceValue(func() result.Tool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	t := tool(info, archived)
	if t.Commit == "" {
		executable, err1 := os.Executable()
		dir, err2 := os.Getwd()
		if err1 == nil && err2 == nil && info.Main.Path == Module {
			t.Commit = commitText(ofRun(executable, dir, Module))
		}
	}
	return t
})

// unknown is the version of a build that the Go tool gave none.
const unknown = "(devel)"

func tool(info *debug.BuildInfo, archived string) result.Tool {
	t := result.Tool{Version: cmp.Or(info.Main.Version, unknown), Go: info.GoVersion}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			t.Commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if t.Commit != "" {
		t.Commit = commitText(t.Commit, dirty)
		return t
	}
	if module.IsPseudoVersion(t.Version) {
		version, _, _ := strings.Cut(t.Version, "+")
		t.Commit, _ = module.PseudoVersionRev(version)
		return t
	}
	if commit := strings.TrimSpace(archived); hash.MatchString(commit) {
		t.Commit = commit
	}
	return t
}

// hash matches commit hashes.
var hash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func commitText(commit string, dirty bool) string {
	if dirty && commit != "" {
		commit += "+dirty"
	}
	return commit
}

// Modules returns those of the modules that are linked into this program, with
// the versions that were built: a replaced module has that of its replacement.
func Modules(paths []string) []result.Module {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return modules(info, paths)
}

func modules(info *debug.BuildInfo, paths []string) []result.Module {
	var found []result.Module
	for _, m := range info.Deps {
		if !slices.Contains(paths, m.Path) {
			continue
		}
		built := m
		if m.Replace != nil {
			built = m.Replace
		}
		found = append(found, result.Module{Path: built.Path, Version: cmp.Or(built.Version, unknown)})
	}
	return found
}
