package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/reproduction"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
)

// reproducing is the state of tsmark reproduce.
type reproducing struct {
	executor    *Executor
	size        string
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

func (s *Executor) reproduceCommand() *cobra.Command {
	given := &reproducing{executor: s}
	cmd := &cobra.Command{
		Use:   "reproduce [DOCUMENT]",
		Short: "Run the experiments of published documents and check which of their claims hold",
		Long: `Runs the experiments of a published document on your machine and your systems, and
reports for each of its claims whether it holds, does not hold, is a tie, or was not
tested and why. Without a document it lists the documents.

Without --target the document's systems are installed from package registries and
started on this host, each in a folder of its own, and stopped at the end.
--target measures your own systems instead, and --start starts the document's other
systems in addition. A missing system is not tested; the others are.

An experiment is stored, resumed, compared and exported like any other. An experiment
that is complete in the results folder, with every system of this command, is not run again
unless --again is given. --size says how much is run: smoke, small (25 minutes a
document on two cores and 8 GiB) or full, as printed. The
report says what was cut.`,
		Example: `  tsmark reproduce
  tsmark reproduce drouzas-2022
  tsmark reproduce drouzas-2022 --experiment load --size full --target questdb,host=db1 --target influxdb,host=db2
  tsmark reproduce ntua-2024 --claims C6,C8 --start
  tsmark reproduce taos-2023 --start --target tdengine
  tsmark reproduce ntua-2024 --print > ntua.yaml
  tsmark reproduce drouzas-2022 --report --format markdown`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeDocument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if given := givenFlags(cmd); len(given) > 0 {
					return fmt.Errorf("%s: the list of documents takes no such flag; name a document, as in tsmark reproduce %s %s", strings.Join(given, ", "), document.All()[0].Name, given[0])
				}
				return listDocuments(s.app.Stdout)
			}
			return given.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&given.size, "size", string(document.Small), "how much is run: smoke, small or full")
	f.StringSliceVar(&given.experiments, "experiment", nil, "run only these `experiments`, by name or number, such as load,E2")
	f.StringSliceVar(&given.claims, "claims", nil, "judge only these `claims`, such as C6,C8, and run only the experiments they need")
	f.StringArrayVar(&given.targets, "target", nil, "system to measure, `[NAME=]DRIVER[,OPTION=VALUE]…`; may be repeated")
	f.BoolVar(&given.start, "start", false, "install and start the document's systems on this host, except those of --target; the default without --target")
	f.StringVar(&given.texts, "query-texts", experiment.TextsEqual, "equal: the same queries on all systems, verified; both: TSBS's own texts as well, not verified and beside them")
	f.BoolVar(&given.print, "print", false, "print the experiments as YAML and run nothing; without --target, of the document's systems")
	f.BoolVar(&given.reportOnly, "report", false, "run nothing; report the runs in the results folder")
	f.BoolVar(&given.again, "again", false, "also run experiments that are complete in the results folder")
	f.StringVar(&given.format, "format", string(write.Text), "of the report: text, markdown or html")
	var sizes []string
	for _, s := range document.Sizes() {
		sizes = append(sizes, string(s))
	}
	liveFlags(cmd)
	flag.Complete(cmd, "size", sizes)
	flag.Complete(cmd, "query-texts", []string{experiment.TextsEqual, textsBoth})
	flag.CompleteBy(cmd, "target", s.app.Catalog.CompleteTarget)
	flag.CompleteBy(cmd, "experiment", completeExperimentsOf)
	flag.CompleteBy(cmd, "claims", completeClaims)
	flag.Complete(cmd, "format", []string{string(write.Text), string(write.Markdown), string(write.HTML)})
	return cmd
}

// textsBoth is the value of --query-texts that runs TSBS's texts beside equal queries.
const textsBoth = "both"

// listDocuments lists the documents that can be reproduced.
func listDocuments(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range document.All() {
		var systems []string
		for _, s := range d.Systems {
			systems = append(systems, s.Driver)
		}
		fmt.Fprintf(out, "%s\t%s (%s)\n", d.Name, d.Title, d.Authors)
		fmt.Fprintf(out, "\t%d claims about %s\n", len(d.Claims), strings.Join(systems, ", "))
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
	_, err := fmt.Fprintln(w, "\ntsmark reproduce DOCUMENT runs one, at the size for two cores and 8 GiB: its systems are installed and started here; --help has more.")
	return err
}

// givenFlags returns the command's own flags that were set, in the order of their names.
func givenFlags(cmd *cobra.Command) []string {
	var list []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			list = append(list, "--"+f.Name)
		}
	})
	return list
}

// idle refuses flags that have no effect with only, the flag --report or --print. That flag
// runs nothing, and needs only the flags in used.
func idle(cmd *cobra.Command, only, why string, used ...string) error {
	var idle []string
	for _, f := range givenFlags(cmd) {
		if f != only && !slices.Contains(used, f) {
			idle = append(idle, f)
		}
	}
	if len(idle) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s; leave out %s", only, why, strings.Join(idle, ", "))
}

// check refuses flags that are wrong, or would do nothing.
func (p *reproducing) check(cmd *cobra.Command) error {
	switch {
	case p.texts != experiment.TextsEqual && p.texts != textsBoth:
		return fmt.Errorf("--query-texts %q: is equal or both", p.texts)
	case p.print && p.reportOnly:
		return errors.New("--print and --report exclude each other: one prints experiments, the other results")
	case p.print:
		return idle(cmd, "--print", "prints experiments and runs nothing", "--size", "--experiment", "--claims", "--target", "--start", "--query-texts")
	case p.reportOnly:
		return idle(cmd, "--report", "reports the runs in the results folder, of all systems, and runs nothing", "--size", "--claims", "--format")
	}
	return nil
}

func (p *reproducing) run(cmd *cobra.Command, name string) (err error) {
	d, size, err := p.chosen(cmd, name)
	if err != nil {
		return err
	}
	format, err := write.ParseFormat(p.format)
	if err != nil {
		return err
	}
	if err := p.check(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	var targets []experiment.Target
	if !p.reportOnly {
		if targets, err = p.systems(ctx, d); err != nil {
			return err
		}
	}
	all, err := p.planned(d, size, targets)
	if err != nil {
		return err
	}
	if p.print {
		return p.printAll(all)
	}
	kept, err := p.executor.app.OpenResults(ctx)
	if err != nil {
		return err
	}
	defer kept.Close() // each piece is on disk when it was saved
	for i := range all {
		if err := p.find(ctx, kept, d, &all[i], size); err != nil {
			return fmt.Errorf("experiment %s: %w", all[i].experiment.Name, err)
		}
	}
	if err := p.announce(ctx, d, all, size, targets); err != nil {
		return err
	}
	p.executor.standing = launch.NewPool(filepath.Join(p.executor.app.Folder(), "reproduce", fmt.Sprintf("%s-%s", d.Name, size)))
	defer func() {
		if stopped := p.executor.standing.Stop(context.WithoutCancel(ctx)); err == nil {
			err = stopped
		}
	}()
	measured := claims.Measured{Size: size, Runs: make(map[string][]*result.Run), Verbatim: make(map[string][]*result.Run)}
	var failed []error
	for i := range all {
		one := &all[i]
		if one.due() {
			err = p.execute(cmd, kept, d, one, size)
		}
		if len(one.runs) > 0 && one.verbatim {
			measured.Verbatim[one.of.Name] = one.runs
		} else if len(one.runs) > 0 {
			measured.Runs[one.of.Name] = one.runs
		}
		if errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return p.executor.interrupted(err, ", and the same command goes on")
		}
		var s *app.Status
		if err != nil && !errors.As(err, &s) {
			return fmt.Errorf("experiment %s: %w", one.experiment.Name, err)
		}
		if err != nil {
			failed = append(failed, &app.Status{Code: s.Code, Text: "experiment " + one.experiment.Name + ": " + s.Text})
		}
		err = nil
	}
	if err := p.report(d, measured, format); err != nil {
		return err
	}
	if len(failed) > 0 {
		return failed[0]
	}
	return nil
}

// edition is one way to run an experiment: with equal queries, or with TSBS's own texts.
type edition struct {
	of         *document.Experiment // the document's experiment, by which it is chosen and claims name it
	experiment *document.Experiment
	verbatim   bool
	whole      *experiment.Experiment // as a file of tsmark's; nil: it will not run
	sweep      *plan.Sweep            // its plan
	runs       []*result.Run          // of it that are complete
}

// due reports whether an edition should run, and is not complete.
func (e *edition) due() bool { return e.whole != nil && len(e.runs) == 0 }

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

// planned returns all editions of a document, with plans of the ones to run. So an error
// in a target is reported before the first of them runs.
func (p *reproducing) planned(d *document.Document, size document.Size, targets []experiment.Target) ([]edition, error) {
	all := editions(d)
	if p.reportOnly {
		return all, nil
	}
	steps, _ := plan.StepsOf("run")
	for i := range all {
		one := &all[i]
		if !p.wanted(d, *one) || len(one.experiment.Takes(targets)) == 0 {
			continue // or the system that it is about was not given
		}
		whole, err := d.Make(one.experiment, size, slices.Clone(targets))
		if err != nil {
			return nil, err
		}
		whole.Load.Replace = true // existing data of tsmark's from the previous point
		if why := p.leaveOut(whole); why != "" && !one.verbatim {
			fmt.Fprintf(p.executor.app.Stderr, "experiment %s: points that limit the memory of servers are not run: %s\n", one.experiment.Name, why)
		}
		for j, t := range whole.Targets {
			given := slices.IndexFunc(targets, func(g experiment.Target) bool {
				return g.Name == t.Name || one.experiment.Only != "" && g.Driver == t.Driver
			})
			if given < len(p.targets) {
				whole.FromFlag(fmt.Sprintf("targets[%d]", j), "--target "+p.targets[given])
			}
		}
		if one.sweep, err = plan.NewSweep(whole, p.executor.app.Catalog.PlanCatalog(), steps); err != nil {
			return nil, p.once(whole, err)
		}
		one.whole = whole
	}
	return all, nil
}

// leaveOut removes the points with servers of little memory from an experiment if the memory of some
// servers cannot be limited, and returns the reason. It is empty if nothing was removed.
func (p *reproducing) leaveOut(whole *experiment.Experiment) string {
	limited := func(c experiment.Combination) bool {
		return slices.ContainsFunc(c, func(set result.Parameter) bool {
			return set.Path == experiment.MemoryPath && !experiment.LimitsNothing(set)
		})
	}
	if !slices.ContainsFunc(whole.Include, limited) {
		return ""
	}
	var why string
	if i := slices.IndexFunc(whole.Targets, func(t experiment.Target) bool { return t.Start == "" }); i >= 0 {
		why = whole.Targets[i].Name + " is not a server that tsmark starts"
	} else if err := process.CanLimitMemory(); err != nil {
		why = err.Error()
	}
	if why != "" {
		whole.Include, whole.ServerMemory = slices.DeleteFunc(whole.Include, limited), ""
	}
	return why
}

// once returns the error of an experiment without its matrix, which has every target once.
// If there is no such error, it returns the error of the matrix.
func (p *reproducing) once(whole *experiment.Experiment, err error) error {
	one := *whole
	one.Matrix, one.Exclude, one.Include = nil, nil, nil
	steps, _ := plan.StepsOf("run")
	if _, first := plan.NewPlan(&one, p.executor.app.Catalog.PlanCatalog(), steps); first != nil {
		return first
	}
	return err
}

// wanted reports whether an edition should run: its experiment was chosen, or a chosen
// claim needs it, or nothing was chosen. TSBS's texts run only on request.
func (p *reproducing) wanted(d *document.Document, one edition) bool {
	e := one.of
	named := func(name string) bool { return e.Name == name || strings.EqualFold(e.ID, name) }
	if e.LeftOut(document.Size(p.size)) != "" || one.verbatim && p.texts != textsBoth || len(p.experiments) > 0 && !slices.ContainsFunc(p.experiments, named) {
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
		return nil, "", fmt.Errorf("no document %q%s", name, suggest.NamesOr(name, names, "; known are "+strings.Join(names, ", ")))
	}
	size := document.Size(p.size)
	if !slices.Contains(document.Sizes(), size) {
		return nil, "", fmt.Errorf("--size %q: is smoke, small or full", p.size)
	}
	d := *known
	for _, id := range p.claims {
		if !slices.ContainsFunc(d.Claims, func(c document.Claim) bool { return strings.EqualFold(c.ID, id) }) {
			return nil, "", fmt.Errorf("--claims: %s has no claim %q; it has C1 to C%d", d.Name, id, len(d.Claims))
		}
	}
	for _, name := range p.experiments {
		e, ok := d.Experiment(name)
		if !ok {
			var names []string
			for _, e := range d.Experiments {
				names = append(names, e.Name)
			}
			return nil, "", fmt.Errorf("--experiment: %s has no experiment %q%s", d.Name, name, suggest.NamesOr(name, names, "; it has "+strings.Join(names, ", ")))
		}
		if why := e.LeftOut(size); why != "" {
			return nil, "", fmt.Errorf("--experiment: size %s does not run %s: %s", size, name, why)
		}
	}
	if len(p.claims) > 0 {
		d.Claims = slices.DeleteFunc(slices.Clone(d.Claims), func(c document.Claim) bool {
			return !slices.ContainsFunc(p.claims, func(id string) bool { return strings.EqualFold(c.ID, id) })
		})
	}
	return &d, size, nil
}

// printAll prints the experiments that would run, each as a file.
func (p *reproducing) printAll(all []edition) error {
	first := true
	for _, one := range all {
		if one.whole == nil {
			continue
		}
		if !first {
			fmt.Fprintln(p.executor.app.Stdout, "---")
		}
		first = false
		if err := p.executor.print(one.sweep); err != nil {
			return err
		}
	}
	return nil
}

// find looks for complete runs of an edition. If the edition should run, they must have
// every requested system; otherwise it says that the edition runs again.
func (p *reproducing) find(ctx context.Context, kept *store.Store, d *document.Document, one *edition, size document.Size) error {
	if one.whole != nil && p.again {
		return nil
	}
	var asked *experiment.Experiment
	if one.whole != nil {
		var err error
		if asked, err = asStored(one.sweep); err != nil {
			return err
		}
	}
	runs, lacks, err := completed(ctx, kept, d, one.experiment, size, asked)
	if one.runs = runs; len(runs) == 0 && lacks != "" {
		fmt.Fprintf(p.executor.app.Stderr, "experiment %s was run %s: it runs again\n", one.experiment.Name, lacks)
	}
	return err
}

// announce prints the plan, and refuses runs that do not fit this machine.
func (p *reproducing) announce(ctx context.Context, d *document.Document, all []edition, size document.Size, targets []experiment.Target) error {
	steps, _ := plan.StepsOf("run")
	n := 0
	for i := range all {
		one := &all[i]
		if !one.due() {
			continue
		}
		for _, point := range one.sweep.Points() {
			if err := setting.CheckMemory(ctx, p.executor.app.Catalog, point.Experiment, steps); err != nil {
				return fmt.Errorf("experiment %s: %w", one.experiment.Name, err)
			}
		}
		n++
	}
	if n == 0 {
		return nil
	}
	var names []string
	for _, t := range targets {
		names = append(names, t.Name)
	}
	experiments := "1 experiment"
	if n > 1 {
		experiments = fmt.Sprintf("%d experiments", n)
	}
	fmt.Fprintf(p.executor.app.Stderr, "%s in size %s: %s on %s\n", d.Name, size, experiments, strings.Join(names, ", "))
	if size == document.Small {
		if doubt := tooSmall(monitor.Host(ctx, p.executor.app.Folder())); doubt != "" {
			fmt.Fprintln(p.executor.app.Stderr, doubt)
		}
	}
	return nil
}

// tooSmall says that a host has fewer resources than size small needs. It is empty if the host suffices.
func tooSmall(h result.Host) string {
	const cores, memory = 2, 7 << 30 // of 8 GiB the kernel keeps some
	if h.Cores >= cores && (h.Memory == 0 || h.Memory >= memory) {
		return ""
	}
	return fmt.Sprintf("size small is made for two cores and 8 GiB, and this host has %d and %s: it takes longer, and its figures are those of a crowded machine; --size smoke needs less", h.Cores, humanize.IBytes(h.Memory))
}

// execute runs an edition.
func (p *reproducing) execute(cmd *cobra.Command, kept *store.Store, d *document.Document, one *edition, size document.Size) error {
	var err error
	if one.runs, err = p.runAll(cmd, kept, one.whole, one.sweep); err != nil {
		return err
	}
	return p.executor.sweepOutcome(cmd.Context(), slices.DeleteFunc(slices.Clone(one.runs), func(r *result.Run) bool {
		return r.Status != result.Complete && ended(d, one.experiment, size, r)
	}))
}

// runAll runs all points of a sweep, or the one run that it is.
func (p *reproducing) runAll(cmd *cobra.Command, kept *store.Store, whole *experiment.Experiment, sweep *plan.Sweep) ([]*result.Run, error) {
	r, shown, err := p.executor.newRunner(cmd, kept, whole)
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	p.executor.page = "" // its runs have no pages
	_, runs, err := r.Execute(cmd.Context(), runner.Work{Sweep: sweep, Command: "run", Args: p.executor.app.Args})
	return runs, Unreached(err)
}

// report writes the page and shows the report.
func (p *reproducing) report(d *document.Document, measured claims.Measured, format write.Format) error {
	a := p.executor.app
	whole := reproduction.New(d, measured)
	if err := whole.Write(a.Stdout, format, a.TextOptions()); err != nil {
		return err
	}
	if format != write.Text {
		return nil
	}
	page := filepath.Join(a.Folder(), "reproduce", fmt.Sprintf("%s-%s.html", d.Name, measured.Size))
	if err := os.MkdirAll(filepath.Dir(page), 0o777); err != nil {
		return fmt.Errorf("making the folder of the page: %w", err)
	}
	if err := app.WriteReport(page, func(out io.Writer) error { return whole.Write(out, write.HTML, write.Options{}) }); err != nil {
		return err
	}
	p.executor.page = page
	_, err := fmt.Fprintf(a.Stdout, "\nPage: %s\n", page)
	return err
}

// completeDocument offers the published documents that can be reproduced.
func completeDocument(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for _, d := range document.All() {
		if len(args) == 0 {
			list = append(list, cobra.CompletionWithDesc(d.Name, d.Title))
		}
	}
	return list, flag.NoFiles
}

// completeExperimentsOf offers the experiments of the document that is named.
func completeExperimentsOf(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	if d, ok := documentOf(args); ok {
		for _, e := range d.Experiments {
			list = append(list, cobra.CompletionWithDesc(e.Name, e.Title))
		}
	}
	return flag.AfterComma(word, list), flag.NoSpace
}

// completeClaims offers the claims of the document that is named.
func completeClaims(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	if d, ok := documentOf(args); ok {
		for _, c := range d.Claims {
			list = append(list, c.ID)
		}
	}
	return flag.AfterComma(word, list), flag.NoSpace
}

func documentOf(args []string) (*document.Document, bool) {
	if len(args) == 0 {
		return nil, false
	}
	return document.Find(args[0])
}
