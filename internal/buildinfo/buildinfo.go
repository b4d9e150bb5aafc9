// Package buildinfo tells which build of tsmark is running.
package buildinfo

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/tsmark/tsmark/result"
)

// Tool identifies this program. Its commit is empty where it was not built
// from a checkout, as in go run of a package or go test.
func Tool() result.Tool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return result.Tool{Version: unknown, Go: runtime.Version()}
	}
	return tool(info)
}

// unknown is the version of a build that the Go tool gave none.
const unknown = "(devel)"

func tool(info *debug.BuildInfo) result.Tool {
	t := result.Tool{Version: info.Main.Version, Go: info.GoVersion}
	if t.Version == "" {
		t.Version = unknown
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			t.Commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && t.Commit != "" {
		t.Commit += "+dirty"
	}
	return t
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
