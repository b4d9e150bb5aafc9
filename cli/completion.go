package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/servers"
)

// The shells' behaviour besides a list of completions: noFiles offers no file names, noSpace
// adds no space either, since more of the word may follow.
const (
	noFiles = cobra.ShellCompDirectiveNoFileComp
	noSpace = noFiles | cobra.ShellCompDirectiveNoSpace
)

// completionTime is the maximum time that a shell waits for the list of runs, which may be in a
// remote database.
const completionTime = 2 * time.Second

// complete lets the shell complete a flag's value from a list.
func complete(cmd *cobra.Command, flag string, values []string) {
	completeBy(cmd, flag, cobra.FixedCompletions(values, noFiles))
}

// completeBy lets the shell complete a flag's value by a function.
func completeBy(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the flag was defined a line earlier
	}
}

// BashCompletion writes the script by which bash completes the command line, with a
// description of each word if descriptions are wanted.
//
// It is cobra's, except for commas: bash's printf %q puts a backslash before them, cobra's
// script then takes only completions with the typed prefix, and nobody types
// --target questdb\,host.
func BashCompletion(root *cobra.Command, w io.Writer, descriptions bool) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, descriptions); err != nil {
		return fmt.Errorf("writing the completion of bash: %w", err)
	}
	text := script.String()
	for line, variable := range map[string]string{
		`comp=$(printf "%q" "${compline%%$tab*}")`:             "comp",
		`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]}")`:        "COMPREPLY[0]",
		`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}")`: "COMPREPLY[0]",
	} {
		if !strings.Contains(text, line+"\n") {
			panic("cobra's script of bash has changed: it has no " + line)
		}
		text = strings.ReplaceAll(text, line+"\n", line+"\n        "+variable+"=${"+variable+"//\\\\,/,}\n")
	}
	_, err := io.WriteString(w, text)
	return err
}

// afterComma makes each of the values one of a list whose others are in the word
// already: those are not offered again.
func afterComma(word string, values []cobra.Completion) []cobra.Completion {
	at := strings.LastIndexByte(word, ',') + 1
	given := strings.Split(word[:at], ",")
	var list []cobra.Completion
	for _, v := range values {
		if text, _, _ := strings.Cut(v, "\t"); !slices.Contains(given, text) {
			list = append(list, word[:at]+v)
		}
	}
	return list
}

// completeTarget offers [NAME=]DRIVER[,OPTION=VALUE]…: drivers, then a driver's options,
// then the values of an option that has a choice of them.
func (c catalog) completeTarget(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	first, rest, hasOptions := strings.Cut(word, ",")
	name, kind, named := strings.Cut(first, "=")
	if !named {
		name, kind = "", name
	} else {
		name += "="
	}
	if !hasOptions {
		var list []cobra.Completion
		for _, d := range c.drivers {
			list = append(list, cobra.CompletionWithDesc(name+d.Name, d.Help))
		}
		return list, noSpace
	}
	d, err := c.driver(kind)
	if err != nil {
		return nil, noFiles
	}
	list, directive := completeSettings(targetOptions(&d), rest)
	for i := range list {
		list[i] = first + "," + list[i]
	}
	return list, directive
}

// targetOptions returns everything that may follow a driver: its options, and the names of sets
// of them. See experiment.ParseTarget.
func targetOptions(d *driver.Driver) []option.Option {
	options := slices.Clone(d.Options)
	for _, set := range []struct {
		name, help string
		of         []driver.Profile
	}{
		{"profile", "set of options by which users run the system", d.Profiles},
		{"durability", "when an acknowledged row is on disk", d.Durabilities},
	} {
		var names []string
		for _, p := range set.of {
			names = append(names, p.Name)
		}
		if len(names) > 0 {
			options = append(options, option.Option{Name: set.name, Help: set.help, Type: option.Choice(names...)})
		}
	}
	return options
}

// completeSettings offers NAME=VALUE,… of options. Where a value is not one of a choice,
// it may be a file.
func completeSettings(options []option.Option, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	at := strings.LastIndexByte(word, ',') + 1
	name, _, isValue := strings.Cut(word[at:], "=")
	var list []cobra.Completion
	if isValue {
		i := slices.IndexFunc(options, func(o option.Option) bool { return o.Name == name })
		if i < 0 {
			return nil, noFiles
		}
		words := options[i].Type.Words()
		if len(words) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		for _, w := range words {
			list = append(list, word[:at]+name+"="+w)
		}
		return list, noSpace
	}
	for _, o := range options {
		if before := "," + word[:at]; !strings.Contains(before, ","+o.Name+"=") {
			list = append(list, cobra.CompletionWithDesc(word[:at]+o.Name+"=", o.Help))
		}
	}
	return list, noSpace
}

// completeSettingsOf is completeSettings as the completion of a flag.
func completeSettingsOf(options []option.Option) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeSettings(options, word)
	}
}

// completeQueryTypes offers query types, joined by commas, and the words for many of
// them; behind such a word, types to leave out.
func (c catalog) completeQueryTypes(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	without := strings.HasPrefix(word, experiment.AllTypes+",") || strings.HasPrefix(word, experiment.CoreTypes+",")
	known := make(map[string]bool)
	for _, w := range c.workloads {
		for _, t := range w.QueryTypes() {
			if known[t.Name] {
				continue // of several workloads
			}
			known[t.Name] = true
			name := t.Name
			if without {
				name = experiment.Without + name
			}
			list = append(list, cobra.CompletionWithDesc(name, t.Help))
		}
	}
	if !strings.Contains(word, ",") {
		list = append(list, cobra.CompletionWithDesc(experiment.CoreTypes, "one type of each kind"), cobra.CompletionWithDesc(experiment.AllTypes, "all types of the workload"))
	}
	return afterComma(word, list), noSpace
}

// completeSweep offers the paths of an experiment that --sweep takes, with those of the
// targets that are given.
func (s *settings) completeSweep(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.Contains(word, "=") {
		return nil, noFiles
	}
	e := experiment.Default() // errors in the command line are reported when it runs
	if len(args) > 0 {
		if read, err := s.catalog.readExperiment(args[0]); err == nil {
			e = read
		}
	}
	for i, text := range s.targets {
		if i == 0 {
			e.Targets = nil
		}
		if t, err := experiment.ParseTarget(text); err == nil {
			e.Targets = append(e.Targets, t)
		}
	}
	var list []cobra.Completion
	for _, path := range experiment.Paths() {
		list = append(list, path+"=")
	}
	for _, w := range s.catalog.workloads {
		for section, options := range map[string][]option.Option{"workload.": w.Settings(), "queries.": w.QuerySettings()} {
			for _, o := range options {
				list = append(list, cobra.CompletionWithDesc(section+w.Name()+"."+o.Name+"=", o.Help))
			}
		}
	}
	for _, t := range e.Targets {
		if d, err := s.catalog.driver(t.Driver); err == nil {
			for _, o := range d.Options {
				list = append(list, cobra.CompletionWithDesc("targets."+t.Name+"."+o.Name+"=", o.Help))
			}
		}
	}
	return list, noSpace
}

// completeSteps offers the steps after a load of all drivers, joined by commas.
func (c catalog) completeSteps(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	known := make(map[string]bool)
	for _, d := range c.drivers {
		defaults, err := d.Resolve(nil)
		if err != nil {
			continue
		}
		for _, step := range d.Caps(defaults).Steps {
			if !known[step.Name] {
				known[step.Name] = true
				list = append(list, cobra.CompletionWithDesc(step.Name, step.Help))
			}
		}
	}
	return afterComma(word, list), noSpace
}

// which describes the results that a command accepts.
type which struct {
	most       int  // arguments; 0: any number
	sweeps     bool // the ids of sweeps, too
	unfinished bool // only results that resume can continue
	files      bool // or a file
}

// completeRuns offers the ids of runs as arguments, newest first.
func (a *app) completeRuns(w which) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if w.most > 0 && len(args) >= w.most {
			return nil, noFiles
		}
		list := slices.DeleteFunc(a.runIDs(cmd.Context(), w), func(c cobra.Completion) bool {
			id, _, _ := strings.Cut(c, "\t")
			return slices.Contains(args, id)
		})
		directive := noFiles
		if w.files {
			directive = cobra.ShellCompDirectiveDefault
		}
		return list, directive | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeSide offers RUN[,RUN…][:TARGET], as tsmark compare takes it.
func (a *app) completeSide(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, noFiles
	}
	runs, _, named := strings.Cut(word, ":")
	if !named {
		return afterComma(word, a.runIDs(cmd.Context(), which{})), noSpace | cobra.ShellCompDirectiveKeepOrder
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	kept, err := a.existingResults(ctx)
	if err != nil {
		return nil, noFiles
	}
	defer kept.Close() // reading only
	first, _, _ := strings.Cut(runs, ",")
	run, err := kept.Run(ctx, first)
	if err != nil {
		return nil, noFiles
	}
	var list []cobra.Completion
	for _, t := range run.Targets {
		list = append(list, runs+":"+printable.Line(t.Name))
	}
	return list, noFiles
}

// runIDs lists runs with a description of each. If the results cannot be read, the list is empty:
// the command will report the error.
func (a *app) runIDs(ctx context.Context, w which) []cobra.Completion {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	kept, err := a.existingResults(ctx)
	if err != nil {
		return nil
	}
	defer kept.Close() // reading only
	runs, err := kept.Runs(ctx)
	if err != nil {
		return nil
	}
	var list []cobra.Completion
	for _, r := range runs {
		if w.unfinished && (r.Status == result.Complete || r.Imported) {
			continue
		}
		about := fmt.Sprintf("%s of %s, %s: %s, %s", r.Command, r.Started.UTC().Format("2006-01-02 15:04"), r.Workload, strings.Join(r.TargetNames(), ", "), r.Status)
		list = append(list, cobra.CompletionWithDesc(r.ID, printable.Line(about)))
	}
	if sweeps, err := kept.Sweeps(ctx); err == nil && w.sweeps {
		for _, s := range sweeps {
			list = append(list, cobra.CompletionWithDesc(s.ID, fmt.Sprintf("sweep of %s, %d runs", s.Started.UTC().Format("2006-01-02 15:04"), s.Points)))
		}
	}
	if len(list) > 0 && !w.unfinished {
		list = append(list, cobra.CompletionWithDesc(store.Latest, "the newest one"))
	}
	return list
}

// completeDocument offers the published documents that can be reproduced.
func completeDocument(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for _, d := range document.All() {
		if len(args) == 0 {
			list = append(list, cobra.CompletionWithDesc(d.Name, d.Title))
		}
	}
	return list, noFiles
}

// completeExperimentsOf offers the experiments of the document that is named.
func completeExperimentsOf(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	if d, ok := documentOf(args); ok {
		for _, e := range d.Experiments {
			list = append(list, cobra.CompletionWithDesc(e.Name, e.Title))
		}
	}
	return afterComma(word, list), noSpace
}

// completeClaims offers the claims of the document that is named.
func completeClaims(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	if d, ok := documentOf(args); ok {
		for _, c := range d.Claims {
			list = append(list, c.ID)
		}
	}
	return afterComma(word, list), noSpace
}

func documentOf(args []string) (*document.Document, bool) {
	if len(args) == 0 {
		return nil, false
	}
	return document.Find(args[0])
}

// completeServers offers the servers that are not named yet.
func completeServers(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for _, name := range servers.Names() {
		if !slices.Contains(args, name) {
			list = append(list, name)
		}
	}
	if len(args) == 0 {
		list = append(list, cobra.CompletionWithDesc(allServers, "every server that is quickly installed"))
	}
	return list, noFiles
}

// completeCommand offers commands, and those below the ones that are named.
func completeCommand(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, noFiles
	}
	var list []cobra.Completion
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	return list, noFiles
}
