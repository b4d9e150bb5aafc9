// Package results has the commands that read the results of runs: they list, report, compare,
// analyze and pass them on.
package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/sweep"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/store"
)

// Commands returns the commands that read results.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		runsCommand(a), reportCommand(a), compareCommand(a), exportCommand(a), importCommand(a), siteCommand(a), analyzeCommand(a), mergeCommand(a),
	}
}

func runsCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the results folder, newest first; rename, annotate or remove them",
		Example: `  tsmark runs
  tsmark runs --results /srv/tsmark-results
  tsmark runs rename latest before-upgrade`,
		Args: app.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kept, err := a.ExistingResults(cmd.Context())
			if err != nil {
				return err
			}
			defer kept.Close() // reading only
			runs, err := kept.Runs(cmd.Context())
			if err != nil {
				return err
			}
			sweeps, err := kept.Sweeps(cmd.Context())
			if err != nil {
				return err
			}
			for i := range runs {
				if runs[i].Status == result.Running && !runs[i].Imported && !kept.GoingOn(cmd.Context(), runs[i].ID) {
					runs[i].Status, runs[i].Reason = killed, "tsmark resume continues it"
				}
			}
			return listRuns(a.Stdout, runs, sweeps)
		},
	}
	cmd.AddCommand(renameCommand(a), noteCommand(a), removeCommand(a))
	return cmd
}

// killed is the listed status of a run that was running, but has no process any more.
const killed result.Status = "killed"

// listRuns writes a line for each run, newest first, and one for each sweep
// above the newest of its runs.
func listRuns(w io.Writer, runs []store.Summary, sweeps []result.Sweep) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "RUN\tCOMMAND\tSTARTED (UTC)\tNAME\tWORKLOAD\tTARGETS\tTYPES\tNO FIGURE\tSTATUS\tANSWER")
	sweepsFrom := func(t time.Time) {
		for len(sweeps) > 0 && !sweeps[0].Started.Before(t) {
			listSweep(out, &sweeps[0], runs)
			sweeps = sweeps[1:]
		}
	}
	for _, r := range runs {
		sweepsFrom(r.Started)
		if i := slices.IndexFunc(sweeps, func(s result.Sweep) bool { return s.ID == r.Place.Sweep }); i >= 0 {
			listSweep(out, &sweeps[i], runs)
			sweeps = slices.Delete(sweeps, i, i+1)
		}
		state := string(r.Status)
		if r.Reason != "" {
			state += ": " + printable.OneLine(r.Reason)
		}
		if r.Imported {
			state = "imported, " + state
		}
		if p := &r.Place; p.Sweep != "" {
			state = fmt.Sprintf("point %d of %d (%s): %s", p.Point, p.Points, p.Parameters, state)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", r.ID, printable.Line(r.Command),
			r.Started.UTC().Format("2006-01-02 15:04:05"), printable.Line(r.Name), printable.Line(r.Workload), printable.Line(strings.Join(r.TargetNames(), ", ")), r.Types, r.Withheld, printable.Line(state), printable.Line(r.Answer))
	}
	sweepsFrom(time.Time{})
	return out.Flush()
}

// listSweep writes the line of a sweep.
func listSweep(w io.Writer, s *result.Sweep, runs []store.Summary) {
	complete := 0
	for _, r := range runs {
		if r.Place.Sweep == s.ID && r.Status == result.Complete {
			complete++
		}
	}
	state := fmt.Sprintf("sweep: %d of %d runs complete", complete, s.Points)
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\t\t\t\t%s\t\n", s.ID, s.Command, s.Started.UTC().Format("2006-01-02 15:04:05"), printable.Line(s.Name), state)
}

func reportCommand(a *app.App) *cobra.Command {
	formatName, viewName, file, address, asExperiment := string(write.Text), string(write.Everything), "", "", false
	cmd := &cobra.Command{
		Use:   "report [RUN…]",
		Short: "Render runs or a sweep as text, Markdown, CSV, JSON or an HTML page",
		Long: `Renders stored runs, several of them side by side, or a sweep with its curves. A RUN
is the id of a run or sweep as tsmark runs lists them, the beginning or the end of one,
or latest, which is the default.

--view iotdb shows, of runs of any workload, the result matrix and the latency
matrix of IoTDB-Benchmark, with the middle-average and the throughput of its
paper. As CSV they are laid out as IoTDB-Benchmark's own. The page of an iotdb run
has them in any case.

--url is for a page that will lie on a web server, such as GitHub Pages. It is the
address of the page or of its folder. Chats and social networks then show the
answer of the page, its caveats and its chart with each link: a picture beside the
page, of the same name and with the ending .png, to be put on the server too.

--experiment prints the experiment of a run, as a file that tsmark run takes: here
later, or on another machine. Under expect it has the fingerprints of the dataset
and of the queries, which the new run must have, and the versions of tsmark and of
the systems; the report lists the differences. The file has *** in place of secrets;
tsmark reads them from the environment: the password of a target pg from
TSMARK_PG_PASSWORD.`,
		Example: `  tsmark report
  tsmark report 3f2a --experiment > experiment.yaml
  tsmark report latest --format markdown
  tsmark report latest --view iotdb
  tsmark report latest --view iotdb --format csv --output test-result.csv
  tsmark report 3f2a 91c0 --format html --output comparison.html
  tsmark report 3f2a --output site/duckdb.html --url https://example.org/benchmarks/`,
		ValidArgsFunction: a.CompleteRuns(app.RunFilter{Sweeps: true}),
		RunE: func(cmd *cobra.Command, references []string) error {
			if !cmd.Flags().Changed("format") {
				formatName = write.FormatOf(file, formatName)
			}
			format, err := write.ParseFormat(formatName)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
			}
			view, err := write.ParseView(viewName)
			if err != nil {
				return fmt.Errorf("--view: %w", err)
			}
			kept, err := a.ExistingResults(cmd.Context())
			if err != nil {
				return err
			}
			defer kept.Close() // reading only
			if len(references) == 0 {
				references = []string{store.Latest}
			}
			shown, err := find(cmd.Context(), kept, references)
			if err != nil {
				return err
			}
			if asExperiment {
				if len(references) > 1 || cmd.Flags().Changed("format") || cmd.Flags().Changed("view") {
					return errors.New("--experiment prints one run or sweep; remove --format and --view")
				}
				text, err := experiment.AddExpectations(shown.experiment(), shown.runs)
				if err != nil {
					return err
				}
				return a.WriteText(file, printable.Text(shown.warning()+text))
			}
			if cmd.Flags().Changed("url") {
				return writeShared(a, shown, view, format, file, address)
			}
			if file != "" && file != "-" {
				return app.WriteReport(file, func(w io.Writer) error { return shown.write(w, view, format, write.Options{}) })
			}
			return shown.write(a.Stdout, view, format, a.TextOptions())
		},
	}
	cmd.Flags().StringVar(&formatName, "format", formatName, strings.Join(write.Formats(), ", ")+"; without it the name of --output decides")
	cmd.Flags().StringVar(&viewName, "view", viewName, "part of the runs to show: "+strings.Join(write.Views(), ", "))
	cmd.Flags().StringVar(&file, "output", "", "`file` to write (default standard output)")
	cmd.Flags().StringVar(&address, "url", "", "`address` at which the page will be found; writes a picture for links to it, too")
	cmd.Flags().BoolVar(&asExperiment, "experiment", false, "print the experiment of the run as YAML")
	flag.Complete(cmd, "format", write.Formats())
	flag.Complete(cmd, "view", write.Views())
	return cmd
}

// writeShared writes a page that will be found at an address, and beside it the
// picture that services show of a link to it.
func writeShared(a *app.App, shown *found, view write.View, format write.Format, file, address string) error {
	ending := strings.ToLower(filepath.Ext(file))
	switch {
	case format != write.HTML || ending != ".html" && ending != ".htm":
		return errors.New("--url needs a page: choose a name that ends in .html, as in --output report.html")
	case shown.sweep != nil:
		return errors.New("--url does not work with a sweep, which has no picture; name one of its runs")
	}
	page, err := addressOf(address, filepath.Base(file))
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if err := app.WriteReport(file, func(w io.Writer) error { return shown.write(w, view, format, write.Options{URL: page}) }); err != nil {
		return err
	}
	picture := write.PreviewOf(file)
	if err := app.WriteReport(picture, report.New(shown.runs...).WritePreview); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s is to be found at %s; put %s beside it\n", file, page, picture)
	return err
}

// addressOf returns the address of the page called name. It accepts that address, or that
// of its folder.
func addressOf(address, name string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("%q is not the address of a page or folder; write one like https://example.org/benchmarks/", address)
	}
	if path.Base(u.Path) != name {
		u = u.JoinPath(name)
	}
	return u.String(), nil
}

// found is the subject of a report: runs, or a sweep with its runs.
type found struct {
	sweep *result.Sweep // nil: runs alone
	runs  []*result.Run
}

// find reads the runs, or the one sweep, to which the references refer.
func find(ctx context.Context, kept *store.Store, references []string) (*found, error) {
	all := new(found)
	for _, reference := range references {
		one, err := kept.Find(ctx, reference)
		if err != nil {
			return nil, err
		}
		if one.Sweep != "" && len(references) > 1 {
			return nil, fmt.Errorf("%s is a sweep, which has a report of its own; name some of its runs, or the sweep alone", one.Sweep)
		}
		if one.Sweep != "" {
			all.sweep, all.runs, err = kept.SweepWithRuns(ctx, one)
			return all, err
		}
		run, err := kept.Run(ctx, one.Runs[0])
		if err != nil {
			return nil, err
		}
		all.runs = append(all.runs, run)
	}
	return all, nil
}

// experiment is the experiment of the run or sweep.
func (f *found) experiment() string {
	if f.sweep != nil {
		return f.sweep.Experiment
	}
	return f.runs[0].Experiment
}

// warning returns a comment for the top of the experiment of an imported run.
func (f *found) warning() string {
	for _, r := range f.runs {
		if !r.Imported.IsZero() {
			return fmt.Sprintf("# Run %s was imported: somebody else wrote what follows.\n"+
				"# Read it before you run it, above all start and restart, which are commands, and\n"+
				"# path, file, host and url: they are carried out with your rights.\n\n", r.ID)
		}
	}
	return ""
}

func (f *found) write(w io.Writer, view write.View, format write.Format, opts write.Options) error {
	if view == write.IoTDB {
		return report.WriteMatrices(w, format, f.runs, opts)
	}
	if f.sweep != nil {
		return sweep.Write(w, format, f.sweep, f.runs, opts)
	}
	return report.Write(w, format, f.runs, opts)
}
