package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/owndata"
)

// standardInput is the argument that stands for standard input.
const standardInput = "-"

// namesData reports whether an argument of tsmark run names rows and not an experiment: standard
// input, a folder, a pattern, or a file with an extension other than YAML's.
func (s *Executor) namesData(name string) bool {
	if s.app.Catalog.IsBuiltIn([]string{name}) {
		return false
	}
	info, err := os.Stat(name)
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case name == standardInput, err == nil && info.IsDir(), err != nil && strings.ContainsAny(name, "*?["):
		return true
	case ext == ".yaml" || ext == ".yml":
		return false
	default:
		return input.FormatOfName(name) != "" || len(ext) > 1
	}
}

// targets divides the arguments of tsmark run into targets and the others. Names of files and of
// built-in experiments are not targets, even if they are also the names of drivers.
func (s *Executor) targets(args []string) (targets, others []string) {
	for _, name := range args {
		t, err := experiment.ParseTarget(name)
		if err == nil {
			_, err = s.app.Catalog.Driver(t.Driver)
		}
		if _, missing := os.Stat(name); err != nil || missing == nil || s.app.Catalog.IsBuiltIn([]string{name}) {
			others = append(others, name)
			continue
		}
		targets = append(targets, name)
	}
	return targets, others
}

// ownData returns the experiment that loads users' files, if the arguments of tsmark run name
// such; otherwise nil.
func (s *Executor) ownData(ctx context.Context, args []string) (*experiment.Experiment, error) {
	for _, name := range args {
		if infile.IsURL(name) && !strings.HasPrefix(name, "http") {
			return nil, fmt.Errorf("%s names a target; write tsmark run --target %[1]s", name)
		}
	}
	other := slices.IndexFunc(args, func(name string) bool { return !s.namesData(name) })
	switch {
	case len(args) == 0 || len(args) == 1 && other == 0:
		return nil, nil
	case other >= 0:
		return nil, fmt.Errorf("tsmark run takes one experiment, or files with rows, but was given %d, and %s is an experiment", len(args), args[other])
	case len(args) > 1 && slices.Contains(args, standardInput):
		return nil, errors.New("tsmark run reads either standard input (-) or files; save the input to a file to load both")
	}
	e := experiment.Default()
	e.Name = input.WithoutExtension(filepath.Clean(args[0]))
	files := make([]string, len(args))
	for i, name := range args {
		if name == standardInput {
			e.Name = "stdin"
			var err error
			if name, err = copyInput(ctx, s.app, os.Stdin, maxInput); err != nil {
				return nil, err
			}
		}
		files[i] = owndata.QuoteFile(name)
	}
	e.Workload.Name = owndata.Name
	e.Workload.Settings.Set(owndata.Name+".files", strings.Join(files, ", "))
	return e, nil
}

// maxInput bounds the copy of standard input, in bytes.
const maxInput = 4 << 30

// copyInput copies standard input to a file, since rows are read more than once. The file is named
// by its content, so that equal inputs share it.
func copyInput(ctx context.Context, a *app.App, from io.Reader, most int64) (string, error) {
	folder := filepath.Join(a.Folder(), "stdin")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("standard input cannot be copied: %w", err)
	}
	fmt.Fprintf(a.Stderr, "tsmark: standard input is copied to %s, at most %s\n", folder, humanize.IBytes(uint64(most)))
	to, err := os.CreateTemp(folder, "incomplete-*")
	if err != nil {
		return "", fmt.Errorf("standard input cannot be copied: %w", err)
	}
	defer os.Remove(to.Name()) // unless it was renamed
	sum := sha256.New()
	done := make(chan error, 1)
	var n int64
	go func() { // a read of a terminal or a pipe ignores ctx
		var err error
		n, err = io.Copy(io.MultiWriter(to, sum), io.LimitReader(from, most+1))
		done <- errors.Join(err, to.Close())
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case err = <-done:
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("standard input cannot be copied: %w", err)
	case n == 0:
		return "", errors.New("standard input is empty; give rows, as in tsmark run - <trips.csv")
	case n > most:
		return "", fmt.Errorf("standard input has more than %s; save it to a file, and give its name", humanize.IBytes(uint64(most)))
	}
	name := filepath.Join(folder, "stdin."+hex.EncodeToString(sum.Sum(nil))[:16])
	if err := os.Rename(to.Name(), name); err != nil {
		return "", fmt.Errorf("standard input cannot be copied: %w", err)
	}
	fmt.Fprintf(a.Stderr, "tsmark: %s of standard input are in %s; tsmark rerun and resume need the file, and you may remove it\n", humanize.IBytes(uint64(n)), name)
	return name, nil
}

// ownDataProblem names the flag that an error about users' files is about. A problem of a file
// names the file already.
func ownDataProblem(err error) error {
	var bad *workload.SpecError
	if !errors.As(err, &bad) {
		return err
	}
	setting, ours := strings.CutPrefix(bad.Setting, owndata.Name+".")
	switch {
	case !ours:
		return err
	case setting == "files":
		return errors.New(bad.Problem)
	}
	return fmt.Errorf("--%s %s: %s", owndata.Name, setting, bad.Problem)
}
