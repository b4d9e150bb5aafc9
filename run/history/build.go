package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// BuildPlace is the placeholder for the folder of a target's build in its start command and options.
const BuildPlace = "{build}"

// Commits lists the commits of the repository in the current folder from good to bad, both included,
// along the first parents, as git bisect --first-parent does.
func Commits(ctx context.Context, good, bad string) ([]string, error) {
	first, err := git(ctx, "rev-parse", "--verify", "--end-of-options", good+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("--good: %w", err)
	}
	last, err := git(ctx, "rev-parse", "--verify", "--end-of-options", bad+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("--bad: %w", err)
	}
	if _, err := git(ctx, "merge-base", "--is-ancestor", first, last); err != nil {
		return nil, fmt.Errorf("--good: %s is not an ancestor of %s, the commit of --bad", good, bad)
	}
	text, err := git(ctx, "rev-list", "--reverse", "--first-parent", first+".."+last)
	return append([]string{first}, strings.Fields(text)...), err
}

func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(failure.String()), "\n")
		return "", fmt.Errorf("git %s: %s", args[0], cmp.Or(line, err.Error()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Builds are checkouts of commits, each built by the user's command.
type Builds struct {
	Dir     string // absolute path of the folder in which they are made
	Command string // for sh
	made    map[string]string
}

// Folder returns the folder of a commit's checkout, whether it was made or not.
func (b *Builds) Folder(commit string) string { return filepath.Join(b.Dir, commit) }

// skipStatus is the exit status of a command that cannot build a commit, as in git bisect run.
const skipStatus = 125

// Make checks a commit out and executes the command there, with the commit in TSMARK_COMMIT, unless it
// has done so. The command's exit status 125 is the reason why the commit cannot be tested.
func (b *Builds) Make(ctx context.Context, commit string) (reason string, err error) {
	if reason, ok := b.made[commit]; ok {
		return reason, nil
	}
	folder := b.Folder(commit)
	if _, err := os.Stat(folder); err == nil { // of an earlier bisection, which was killed
		_, _ = git(ctx, "worktree", "remove", "--force", folder)
	}
	if _, err := git(ctx, "worktree", "add", "--force", "--detach", folder, commit); err != nil {
		return "", err
	}
	if b.made == nil {
		b.made = make(map[string]string)
	}
	b.made[commit] = ""
	name := folder + ".log"
	log, err := os.Create(name)
	if err != nil {
		return "", fmt.Errorf("writing what the build prints: %w", err)
	}
	defer log.Close() // nothing depends on it
	cmd := exec.CommandContext(ctx, "sh", "-c", b.Command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = folder, append(os.Environ(), "TSMARK_COMMIT="+commit), log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == skipStatus {
		b.made[commit] = "its build ended with exit status 125; see " + name
		return b.made[commit], nil
	}
	if err != nil {
		return "", fmt.Errorf("building %s: %w; see %s (exit status 125 skips a commit)", commit, err, name)
	}
	return "", nil
}

// Remove removes all checkouts. Logs remain.
func (b *Builds) Remove(ctx context.Context) error {
	var problems []error
	for commit := range b.made {
		_, err := git(ctx, "worktree", "remove", "--force", b.Folder(commit))
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
