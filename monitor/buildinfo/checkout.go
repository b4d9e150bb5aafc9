package buildinfo

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// gitPatience is the time limit for git to report the commit.
const gitPatience = 2 * time.Second

// ofRun returns the commit of a program built by go run, for which the Go tool records none. It is
// the commit of the working directory, and only if that is a checkout of the module itself: another
// repository's commit is irrelevant.
func ofRun(executable, dir, module string) (commit string, dirty bool) {
	if !strings.Contains(filepath.ToSlash(executable), "/go-build") {
		return "", false // built to stay: it may be run anywhere, any time
	}
	root := rootOf(dir, module)
	if root == "" {
		return "", false
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitPatience)
	defer cancel()
	git := func(args ...string) (string, bool) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, args...)...)
		for _, variable := range os.Environ() {
			if !strings.HasPrefix(variable, "GIT_") { // which may lead to another repository
				cmd.Env = append(cmd.Env, variable)
			}
		}
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	top, ok := git("rev-parse", "--show-toplevel")
	if !ok || !isSameFolder(top, root) {
		return "", false
	}
	if commit, ok = git("rev-parse", "--verify", "HEAD"); !ok {
		return "", false
	}
	// As the Go tool has it, files that git does not know are changes too.
	changes, ok := git("status", "--porcelain")
	return commit, !ok || changes != ""
}

// rootOf returns the folder at or above dir that has the module's go.mod; empty: not found, or
// another module lies between.
func rootOf(dir, module string) string {
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			line, _, _ := bytes.Cut(text, []byte("\n"))
			if strings.TrimSpace(string(line)) == "module "+module {
				return dir
			}
			return ""
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// isSameFolder reports whether two names lead to one folder.
func isSameFolder(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}
