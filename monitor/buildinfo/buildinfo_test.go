package buildinfo

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

func TestTool(t *testing.T) {
	if got := Tool(); got.Version == "" || got.Go != runtime.Version() {
		t.Errorf("Tool() = %+v", got)
	}
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	tests := []struct {
		info     debug.BuildInfo
		archived string
		want     result.Tool
	}{
		{debug.BuildInfo{GoVersion: "go1.26"}, "$Format:%H$", result.Tool{Version: "(devel)", Go: "go1.26"}},
		{
			debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{setting("vcs.revision", "abc"), setting("vcs.modified", "false")}},
			"", result.Tool{Version: "v1.2.3", Commit: "abc", Go: "go1.26"},
		},
		{
			debug.BuildInfo{Settings: []debug.BuildSetting{setting("vcs.modified", "true"), setting("vcs.revision", "abc")}},
			"", result.Tool{Version: "(devel)", Commit: "abc+dirty"},
		},
		{
			debug.BuildInfo{Settings: []debug.BuildSetting{setting("vcs.modified", "true")}},
			"", result.Tool{Version: "(devel)"},
		},
		{ // go install module@main
			debug.BuildInfo{Main: debug.Module{Version: "v0.3.1-0.20260102030405-0123456789ab"}},
			"$Format:%H$", result.Tool{Version: "v0.3.1-0.20260102030405-0123456789ab", Commit: "0123456789ab"},
		},
		{ // go install module@v1.2.3
			debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "$Format:%H$", result.Tool{Version: "v1.2.3"},
		},
		{ // go build in what git archive wrote
			debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, strings.Repeat("0a", 20) + "\n",
			result.Tool{Version: "(devel)", Commit: strings.Repeat("0a", 20)},
		},
	}
	for _, tt := range tests {
		if got := tool(&tt.info, tt.archived); got != tt.want {
			t.Errorf("tool(%+v) = %+v, want %+v", tt.info, got, tt.want)
		}
	}
}

func TestModules(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.0.0"},
		{Path: "example.org/b", Version: "v1.2.3"},
		{Path: "example.org/c", Version: "v2.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v2.0.1"}},
		{Path: "example.org/d", Version: "v1.0.0", Replace: &debug.Module{Path: "../d"}},
	}}
	got := modules(info, []string{"example.org/d", "example.org/c", "example.org/b", "example.org/none"})
	want := []result.Module{{Path: "example.org/b", Version: "v1.2.3"}, {Path: "example.org/fork", Version: "v2.0.1"}, {Path: "../d", Version: "(devel)"}}
	if !slices.Equal(got, want) {
		t.Errorf("modules are %v, want %v", got, want)
	}
}

// What go run has built is of the checkout in which it runs, and of no other
// repository.
func TestOfRun(t *testing.T) {
	const temporary, installed = "/tmp/go-build123/b001/exe/tsmark", "/usr/local/bin/tsmark"
	root := t.TempDir()
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", cmd, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git(root, "init", "-q")
	write("go.mod", "module "+Module+"\n\ngo 1.26\n")
	write("sub/x.go", "package sub\n")
	write("other/go.mod", "module example.org/other\n")
	write("vendored/a", "")
	git(root, "add", ".")
	git(root, "commit", "-q", "-m", "x")
	commit := git(root, "rev-parse", "HEAD")
	check := func(name, executable, dir, wantCommit string, wantDirty bool) {
		t.Helper()
		if got, dirty := ofRun(executable, filepath.Join(root, dir), Module); got != wantCommit || dirty != wantDirty {
			t.Errorf("%s: %q, %v, want %q, %v", name, got, dirty, wantCommit, wantDirty)
		}
	}
	check("the checkout", temporary, "", commit, false)
	check("a folder of it", temporary, "sub", commit, false)
	check("an installed program", installed, "", "", false)
	check("another module in it", temporary, "other", "", false)
	t.Setenv("GIT_DIR", filepath.Join(root, "none"))
	check("whatever the environment says", temporary, "", commit, false)
	write("sub/x.go", "package sub // changed\n")
	check("changed", temporary, "", commit, true)
	// A copy of the module within somebody's repository.
	write("copy/go.mod", "module "+Module+"\n")
	check("an unrelated repository", temporary, "copy", "", false)
	if got, _ := ofRun(temporary, t.TempDir(), Module); got != "" {
		t.Errorf("no repository: %q", got)
	}
}
