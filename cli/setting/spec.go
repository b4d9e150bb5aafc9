package setting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/workload"
)

// QuerySettingFlags adds a flag for each workload whose queries have parameters.
func QuerySettingFlags(c catalog.Catalog, cmd *cobra.Command, s *workload.Settings) (flags []*flag.Pairs) {
	for _, w := range c.Workloads {
		if options := w.QuerySettings(); len(options) > 0 {
			flags = append(flags, &flag.Pairs{Workload: w.Name(), Settings: s})
			cmd.Flags().Var(flags[len(flags)-1], w.Name()+"-queries", settingsHelp("parameters of the queries", w.Name(), options))
			flag.CompleteBy(cmd, w.Name()+"-queries", flag.SettingsCompletion(options))
		}
	}
	return flags
}

func settingsHelp(what, workload string, options []option.Option) string {
	return fmt.Sprintf("%s of the %s workload, such as %s=%s; see docs/%s.md", what, workload, options[0].Name, options[0].Default, pageOf(workload))
}

// pageOf returns the page under docs about a workload.
func pageOf(workload string) string {
	if workload == "own" {
		return "own-data"
	}
	return workload
}

// SpecFlags adds the flags of TSBS's generator that fix a dataset, and one for
// each workload that has settings of its own, which are returned.
func SpecFlags(c catalog.Catalog, cmd *cobra.Command, s *workload.Spec) (own []*flag.Pairs) {
	f := cmd.Flags()
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "workload" { // as experiments call it
			name = "use-case"
		}
		return pflag.NormalizedName(name)
	})
	f.StringVar(&s.Name, "use-case", s.Name, "workload: "+strings.Join(c.WorkloadNames(), ", "))
	f.Var(flag.Count(&s.Seed, math.MinInt64), "seed", "of the random generator; 0: drawn from the clock")
	f.Var(flag.Count(&s.Scale, 0), "scale", "hosts at the end of the time range")
	f.Var(flag.Count(&s.InitialScale, 0), "initial-scale", "hosts at its start; 0: as --scale")
	f.Var((*flag.Time)(&s.Start), "timestamp-start", "first epoch, RFC 3339")
	f.Var((*flag.Time)(&s.End), "timestamp-end", "end of the time range, exclusive, RFC 3339")
	f.Var((*flag.Duration)(&s.Interval), "log-interval", "time between the rows of a host")
	f.Var(flag.Count(&s.MaxPoints, 0), "max-data-points", "maximum number of rows, including rows of hosts that do not exist yet; 0: all")
	f.Var(flag.Count(&s.MaxMetrics, 0), "max-metric-count", "maximum number of metrics of a host, in devops-generic; 0: 100")
	f.Var(flag.Count(&s.Groups, 0), "interleaved-generation-groups", "number of groups that share the rows; 0: no groups")
	f.Var(flag.Count(&s.Group, 0), "interleaved-generation-group-id", "which group's rows to take, from 0")
	for _, w := range c.Workloads {
		if options := w.Settings(); len(options) > 0 && options[0].Default != "" { // else only experiments have them
			own = append(own, &flag.Pairs{Workload: w.Name(), Settings: &s.Settings})
			f.Var(own[len(own)-1], w.Name(), settingsHelp("settings", w.Name(), options))
			flag.CompleteBy(cmd, w.Name(), flag.SettingsCompletion(options))
		}
	}
	flag.Complete(cmd, "use-case", c.WorkloadNames())
	return own
}

// DrawSeed replaces the seed 0 by one from the clock, as TSBS does, and reports it to
// the user.
func DrawSeed(a *app.App, s *workload.Spec) {
	if s.Seed == 0 {
		s.Seed = int64(time.Now().Nanosecond()) + 1
		fmt.Fprintf(a.Stderr, "tsmark: --seed %d was drawn from the clock\n", s.Seed)
	}
}

// Survey reads the files of an experiment with user-provided rows, and completes its
// workload from them.
func Survey(ctx context.Context, a *app.App, e *experiment.Experiment) error {
	w, err := a.Catalog.Workload(e.Workload.Name)
	if err != nil {
		return nil // the plan reports its place
	}
	spec, err := SurveySpec(ctx, a, w, e.Workload)
	var bad *workload.SpecError
	if errors.As(err, &bad) {
		if p := e.Problem("workload."+bad.Setting, "%s", bad.Problem); p.Origin != (experiment.Origin{}) {
			return p
		}
	}
	if err != nil {
		return err
	}
	e.Workload = spec
	return nil
}

// SurveySpec completes a specification by the default span of its workload, and by a survey if the
// workload needs one.
func SurveySpec(ctx context.Context, a *app.App, w workload.Workload, s workload.Spec) (workload.Spec, error) {
	s = experiment.WithSpan(w, s)
	surveyed, ok := w.(workload.Surveyed)
	if !ok {
		return s, nil
	}
	shown := a.NewDisplay(app.DefaultPeriod)
	defer shown.Close()
	var task record.Task = shown.Start("surveying files in several passes", "rows", 0)
	s, err := surveyed.Survey(ctx, s, func(rows int) { task.Add(int64(rows)) })
	if err != nil {
		task.Fail("")
		return s, err
	}
	task.Finish("")
	for _, note := range surveyed.Notes(s) {
		fmt.Fprintln(a.Stderr, "tsmark: "+printable.OneLine(note))
	}
	return s, nil
}
