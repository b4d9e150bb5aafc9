package history

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A commit is built once, in a checkout of its own; exit status 125 skips it, any other failure is an
// error, and the checkouts are removed in the end.
func TestBuilds(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	repository := t.TempDir()
	t.Chdir(repository)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "someone")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	ctx := t.Context()
	do := func(args ...string) {
		t.Helper()
		if _, err := git(ctx, args...); err != nil {
			t.Fatal(err)
		}
	}
	do("init", "-q")
	for _, content := range []string{"0", "1", "125", "7"} {
		if err := os.WriteFile("status", []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		do("add", "status")
		do("commit", "-q", "-m", content)
	}
	do("branch", "side", "HEAD~3")
	commits, err := Commits(ctx, "HEAD~3", "HEAD")
	if err != nil || len(commits) != 4 {
		t.Fatalf("%d commits, %v", len(commits), err)
	}
	for _, ends := range [][2]string{{"HEAD", "HEAD~1"}, {"nothing", "HEAD"}, {"HEAD~1", "--all"}} {
		if _, err := Commits(ctx, ends[0], ends[1]); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("from %s to %s: %v", ends[0], ends[1], err)
		}
	}
	b := &Builds{Dir: t.TempDir(), Command: `echo "$TSMARK_COMMIT" >> built; s=$(cat status); [ "$s" -lt 2 ] || exit "$s"`}
	for range 2 {
		if reason, err := b.Make(ctx, commits[1]); err != nil || reason != "" {
			t.Fatal(reason, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(b.Folder(commits[1]), "built")); err != nil || string(text) != commits[1]+"\n" {
		t.Errorf("built %q, %v", text, err)
	}
	if reason, err := b.Make(ctx, commits[2]); err != nil || !strings.Contains(reason, "125") {
		t.Errorf("reason %q, %v", reason, err)
	}
	if _, err := b.Make(ctx, commits[3]); err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("error %v", err)
	}
	if err := b.Remove(ctx); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(b.Dir)
	if err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.IsDir() }) {
		t.Errorf("left %v, %v", left, err)
	}
}
