package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/server"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/reproduction"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/forecast"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/reproduce"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/servers"
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
	sensitivity bool
	format      string
}

func (s *Executor) reproduceCommand() *cobra.Command {
	command := &reproducing{executor: s}
	cmd := &cobra.Command{
		Use:   "reproduce [DOCUMENT]",
		Short: "Run the experiments of published documents and check which of their claims hold",
		Long: `Runs the experiments of a published document on your machine and your systems, and
reports for each of its claims whether it holds, does not hold, is a tie, or was not
tested and why. Without a document it lists the documents.

Without --target the document's systems are installed from package registries and
started on this host, each in a folder of its own, and stopped at the end; then
their data is removed, and their logs remain in the results folder.
--target measures your own systems instead, and --start starts the document's other
systems in addition. A missing system is not tested; the others are.

An experiment is stored, resumed, compared and exported like any other. An experiment
that is complete in the results folder, with every system of this command, is not run again
unless --again is given. --size says how much is run: smoke, small (25 minutes a
document on two cores and 8 GiB) or full, as printed. The
report lists the cuts.`,
		Example: `  tsmark reproduce
  tsmark reproduce drouzas-2022
  tsmark reproduce drouzas-2022 --experiment load --size full --target questdb,host=db1 --target influxdb,host=db2
  tsmark reproduce ntua-2024 --claims C6,C8 --start
  tsmark reproduce taos-2023 --start --target tdengine
  tsmark reproduce drouzas-2022 --sensitivity --claims C3
  tsmark reproduce ntua-2024 --print > ntua.yaml
  tsmark reproduce drouzas-2022 --report --format markdown`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeDocument,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if flags := changedFlags(cmd); len(flags) > 0 {
					return fmt.Errorf("%s: the list of documents takes no such flag; name a document, as in tsmark reproduce %s %s", strings.Join(flags, ", "), document.All()[0].Name, flags[0])
				}
				return listDocuments(s.app.Stdout)
			}
			return command.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&command.size, "size", string(document.Small), "how much is run: smoke, small or full")
	f.StringSliceVar(&command.experiments, "experiment", nil, "run only these `experiments`, by name or number, such as load,E2")
	f.StringSliceVar(&command.claims, "claims", nil, "judge only these `claims`, such as C6,C8, and run only the experiments they need")
	f.StringArrayVar(&command.targets, "target", nil, "system to measure, a `TARGET`: [NAME=]DRIVER[,OPTION=VALUE]…; may be repeated")
	f.BoolVar(&command.start, "start", false, "install and start the document's systems on this host, except those of --target; the default without --target")
	f.StringVar(&command.texts, "query-texts", experiment.TextsEqual, "equal: the same queries on all systems, verified; both: TSBS's own texts as well, not verified and beside them")
	f.BoolVar(&command.print, "print", false, "print the experiments as YAML and run nothing; without --target, of the document's systems")
	f.BoolVar(&command.reportOnly, "report", false, "run nothing; report the runs in the results folder")
	f.BoolVar(&command.again, "again", false, "also run experiments that are complete in the results folder")
	f.BoolVar(&command.sensitivity, "sensitivity", false, "repeat the deciding comparison of each claim with half and twice the batch size and workers, and with the weaker system tuned")
	f.StringVar(&command.format, "format", string(write.Text), "of the report: text, markdown, csv, json or html")
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
	flag.Complete(cmd, "format", []string{string(write.Text), string(write.Markdown), string(write.CSV), string(write.JSON), string(write.HTML)})
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

// changedFlags returns the command's own flags that were set, in the order of their names.
func changedFlags(cmd *cobra.Command) []string {
	var list []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			list = append(list, "--"+f.Name)
		}
	})
	return list
}

// refuseFlags refuses flags that have no effect with only, the flag --report or --print. That flag
// runs nothing, and needs only the flags in used.
func refuseFlags(cmd *cobra.Command, only, why string, used ...string) error {
	var refuseFlags []string
	for _, f := range changedFlags(cmd) {
		if f != only && !slices.Contains(used, f) {
			refuseFlags = append(refuseFlags, f)
		}
	}
	if len(refuseFlags) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s; leave out %s", only, why, strings.Join(refuseFlags, ", "))
}

// check refuses flags that are wrong, or would do nothing.
func (p *reproducing) check(cmd *cobra.Command) error {
	switch {
	case p.texts != experiment.TextsEqual && p.texts != textsBoth:
		return fmt.Errorf("--query-texts %q: is equal or both", p.texts)
	case p.print && p.reportOnly:
		return errors.New("--print and --report exclude each other: one prints experiments, the other results")
	case p.print:
		return refuseFlags(cmd, "--print", "prints experiments and runs nothing", "--size", "--experiment", "--claims", "--target", "--start", "--query-texts")
	case p.reportOnly:
		return refuseFlags(cmd, "--report", "reports the runs in the results folder, of all systems, and runs nothing", "--size", "--claims", "--format")
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
	var targets, standIns []experiment.Target
	if !p.reportOnly {
		if targets, standIns, err = p.systems(ctx, d); err != nil {
			return err
		}
	}
	known, _ := document.Find(d.Name)
	request := reproduce.Request{
		Document: d, Size: size, Experiments: p.experiments, ForClaims: len(p.claims) > 0, Verbatim: p.texts == textsBoth, Again: p.again, Targets: targets, StandIns: standIns,
		Catalog: p.executor.app.Catalog.PlanCatalog(),
		// All of the document's claims count, not only the chosen ones.
		Ended: func(e *document.Experiment, r *result.Run) bool { return claims.Ended(known, e, size, r) },
		Note:  func(text string) { fmt.Fprintln(p.executor.app.Stderr, text) },
	}
	for _, text := range p.targets {
		request.Origins = append(request.Origins, "--target "+text)
	}
	all := reproduce.Editions(d)
	if !p.reportOnly {
		if all, err = request.Plan(); err != nil {
			return err
		}
	}
	if p.print {
		return p.printAll(all, p.executor.knownRates(ctx, targets))
	}
	kept, err := p.executor.app.OpenResults(ctx)
	if err != nil {
		return err
	}
	defer kept.Close() // each piece is on disk when it was saved
	for i := range all {
		if err := request.Find(ctx, kept, &all[i]); err != nil {
			return fmt.Errorf("experiment %s: %w", all[i].Experiment.Name, err)
		}
	}
	ahead := newSchedule(ctx, kept, targets, all)
	if err := p.announce(ctx, d, ahead, size, targets); err != nil {
		return err
	}
	p.executor.pool = launch.NewPool(filepath.Join(p.executor.app.Folder(), "reproduce", fmt.Sprintf("%s-%s", d.Name, size)))
	defer func() {
		if stopped := p.executor.pool.Stop(context.WithoutCancel(ctx)); err == nil {
			err = stopped
		}
	}()
	measured := claims.Measured{Size: size, Runs: make(map[string][]*result.Run), Verbatim: make(map[string][]*result.Run), Correctness: make(map[string][]*result.Run)}
	var failedQueries []error
	for i := range all {
		one := &all[i]
		if one.MustRun() {
			ahead.begin(time.Now())
			err = p.execute(cmd, kept, one, &request, ahead)
		}
		switch {
		case len(one.Runs) == 0:
		case one.Verbatim:
			measured.Verbatim[one.Of.Name] = one.Runs
		case one.Correctness:
			measured.Correctness[one.Of.Name] = one.Runs
		default:
			measured.Runs[one.Of.Name] = one.Runs
		}
		if errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return p.executor.interruption(err, ", and the same command goes on")
		}
		var s *app.Status
		if err != nil && !errors.As(err, &s) {
			return fmt.Errorf("experiment %s: %w", one.Experiment.Name, err)
		}
		if err != nil {
			failedQueries = append(failedQueries, &app.Status{Code: s.Code, Text: "experiment " + one.Experiment.Name + ": " + s.Text})
		}
		err = nil
	}
	whole := reproduction.New(d, measured)
	if err := p.addTrials(cmd, kept, whole, &request, all, ahead); err != nil {
		var s *app.Status
		if !errors.As(err, &s) || ctx.Err() != nil {
			return err
		}
		failedQueries = append(failedQueries, err)
	}
	if err := p.report(whole, format); err != nil {
		return err
	}
	if len(failedQueries) > 0 {
		return failedQueries[0]
	}
	return nil
}

// systems returns the targets of all experiments: the user-provided ones and the ones
// to start, and stand-ins that are started for correctness only. Without user-provided targets all
// of the document's systems are started.
func (p *reproducing) systems(ctx context.Context, d *document.Document) (targets, standIns []experiment.Target, err error) {
	for _, text := range p.targets {
		t, err := setting.ReadTarget(ctx, text)
		if err != nil {
			return nil, nil, fmt.Errorf("--target: %w", err)
		}
		targets = append(targets, t)
	}
	if len(targets) > 0 && !p.start {
		return targets, nil, nil
	}
	started, err := reproduce.Startable(d, p.executor.app.Catalog.Presets(), targets)
	if err != nil {
		return nil, nil, err
	}
	if p.print {
		return append(targets, started...), nil, nil
	}
	if started, standIns, err = p.installSystems(ctx, d, started); err != nil {
		return nil, nil, err
	}
	if targets = append(targets, started...); len(targets)+len(standIns) == 0 {
		return nil, nil, &app.Status{Code: app.ExitTarget, Text: fmt.Sprintf("no system of %s can be started on this host; name yours with --target, as in --target %s,host=db1", d.Name, d.Systems[0].Driver)}
	}
	return targets, standIns, nil
}

// installSystems installs the servers that will be started. A server that cannot be installed is left
// out with a message, or replaced by the stand-in that its script has.
func (p *reproducing) installSystems(ctx context.Context, d *document.Document, startable []experiment.Target) (targets, standIns []experiment.Target, err error) {
	scripts, err := servers.Unpack()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range startable {
		if t.Start == "" {
			fmt.Fprintf(p.executor.app.Stderr, "%s is not tested: no package registry has its server; %s\n", t.Driver, howToProvide(t.Driver))
			continue
		}
		s, _ := d.System(t.Driver)
		output, err := server.Install(ctx, p.executor.app, scripts, t.Driver, reproduce.Variables(s)...)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			lines := strings.Split(strings.TrimSpace(output), "\n")
			fmt.Fprintf(p.executor.app.Stderr, "%s is not tested: %s; %s\n", t.Driver, printable.OneLine(cmp.Or(lines[len(lines)-1], err.Error())), howToProvide(t.Driver))
			standIn, variables, ok := reproduce.StandIn(t)
			if !ok {
				continue
			}
			if _, err := server.Install(ctx, p.executor.app, scripts, t.Driver, variables...); err == nil {
				standIns = append(standIns, standIn)
				fmt.Fprintf(p.executor.app.Stderr, "%s: its script's stand-in answers the queries for correctness only, in size smoke; its figures are not compared\n", t.Driver)
			} else if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
		default:
			targets = append(targets, t)
		}
	}
	return targets, standIns, nil
}

// howToProvide says what to type for a system that cannot be installed here.
func howToProvide(system string) string {
	image, ok := servers.FindImage(system)
	if !ok {
		return fmt.Sprintf("name yours with --target %s,host=…", system)
	}
	return fmt.Sprintf("start it in a container (%s) and add --target %s, or name yours with --target %s,host=…", image.Command(), image.Target(0, servers.Password()), system)
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
func (p *reproducing) printAll(all []reproduce.Edition, rates *forecast.Rates) error {
	first := true
	for _, one := range all {
		if one.File == nil {
			continue
		}
		if !first {
			fmt.Fprintln(p.executor.app.Stdout, "---")
		}
		first = false
		if err := p.executor.print(one.Sweep, rates); err != nil {
			return err
		}
	}
	return nil
}

// announce prints the plan, and refuses runs that do not fit this machine.
func (p *reproducing) announce(ctx context.Context, d *document.Document, ahead *schedule, size document.Size, targets []experiment.Target) error {
	steps, _ := plan.StepsOf("run")
	n := len(ahead.left)
	for _, one := range ahead.left {
		for _, point := range one.Sweep.Points() {
			if err := setting.CheckMemory(ctx, p.executor.app.Catalog, point.Experiment, steps); err != nil {
				return fmt.Errorf("experiment %s: %w", one.Experiment.Name, err)
			}
		}
	}
	if n == 0 {
		return nil
	}
	var names []string
	for _, t := range targets {
		names = append(names, t.Name)
	}
	fmt.Fprintf(p.executor.app.Stderr, "%s in size %s: %s on %s\n", d.Name, size, format.Plural(n, "experiment"), strings.Join(names, ", "))
	for _, line := range ahead.lines() {
		fmt.Fprintln(p.executor.app.Stderr, line)
	}
	largest := 0.0
	for _, one := range ahead.left {
		run, _ := ahead.rates.Disk(one.Sweep)
		largest = max(largest, run)
	}
	p.executor.warnDisk(ctx, largest, "--experiment or --size")
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
func (p *reproducing) execute(cmd *cobra.Command, kept *store.Store, one *reproduce.Edition, request *reproduce.Request, ahead *schedule) error {
	var err error
	if one.Runs, err = p.runAll(cmd, kept, one.File, one.Sweep, ahead); err != nil {
		return err
	}
	return p.executor.sweepOutcome(cmd.Context(), slices.DeleteFunc(slices.Clone(one.Runs), func(r *result.Run) bool {
		return r.Status != result.Complete && request.Ended(one.Experiment, r)
	}))
}

// runAll runs all points of a sweep, or the one run that it is.
func (p *reproducing) runAll(cmd *cobra.Command, kept *store.Store, whole *experiment.Experiment, sweep *plan.Sweep, ahead *schedule) ([]*result.Run, error) {
	r, shown, err := p.executor.newRunner(cmd, kept, whole)
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	r.DropData = true
	r.Loaded = func(run *result.Run) { ahead.refine(run, shown, time.Now()) }
	p.executor.page = "" // its runs have no pages
	_, runs, err := r.Execute(cmd.Context(), runner.Work{Sweep: sweep, Command: "run", Args: p.executor.app.Args})
	return runs, StatusOf(err)
}

// report writes the page and shows the report.
func (p *reproducing) report(whole *reproduction.Report, format write.Format) error {
	a := p.executor.app
	if err := whole.Write(a.Stdout, format, a.TextOptions()); err != nil {
		return err
	}
	if format != write.Text {
		return nil
	}
	page := filepath.Join(a.Folder(), "reproduce", fmt.Sprintf("%s-%s.html", whole.Document.Name, whole.Measured.Size))
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
