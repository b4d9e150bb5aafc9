package results

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/trend"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/run/store"
)

// showHistory shows a target over its newest runs, and judges the conditions.
func showHistory(ctx context.Context, a *app.App, references []string, newest int, failIf []string, file string, format write.Format) error {
	var conditions []compare.Condition
	for _, text := range failIf {
		c, err := trend.ParseCondition(text)
		if err != nil {
			return fmt.Errorf("--fail-if %q: %w", text, err)
		}
		conditions = append(conditions, c)
	}
	kept, err := a.ExistingResults(ctx)
	if err != nil {
		return err
	}
	defer kept.Close() // reading only
	t, err := readTrend(ctx, kept, references, newest)
	if err != nil {
		return err
	}
	if err := writeTo(a, file, func(out io.Writer, opts write.Options) error { return trend.Write(out, format, t, opts) }); err != nil {
		return err
	}
	for _, c := range conditions {
		holds, open := t.Check(c)
		switch {
		case len(holds) > 0:
			return &app.Status{Code: app.ExitWithheld, Text: "condition holds: " + strings.Join(holds, "\ncondition holds: ")}
		case open != "":
			return &app.Status{Code: app.ExitUsage, Text: "condition cannot be judged: " + open}
		}
	}
	return nil
}

// readTrend reads the runs of a target: of the last of the references, divided by the first one's.
func readTrend(ctx context.Context, kept *store.Store, references []string, newest int) (*trend.Trend, error) {
	if len(references) == 0 {
		references = []string{store.Latest}
	}
	names := make([]string, len(references))
	id := ""
	for i, reference := range references {
		run, name, _ := strings.Cut(reference, ":")
		r, err := kept.Run(ctx, run)
		switch {
		case err != nil:
			return nil, err
		case i > 0 && r.ID != id:
			return nil, fmt.Errorf("%s and %s are different runs; --history takes a reference and a target of one run", references[0], reference)
		case name == "" && len(r.Targets) == 1 && len(references) == 1:
			name = r.Targets[0].Name
		case name == "":
			var known []string
			for j := range r.Targets {
				known = append(known, reference+":"+r.Targets[j].Name)
			}
			return nil, fmt.Errorf("--history is about one target; name it: %s", strings.Join(known, ", "))
		case i > 0 && name == names[0]:
			return nil, fmt.Errorf("%s is the target and its reference", reference)
		}
		id, names[i] = r.ID, name
	}
	first, err := kept.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	target, reference := names[len(names)-1], ""
	if len(names) > 1 {
		reference = names[0]
	}
	b, err := trend.NewBuilder(first, target, reference)
	if err != nil {
		return nil, err
	}
	all, err := kept.Runs(ctx)
	if err != nil {
		return nil, err
	}
	reached := false
	for i := 0; i < len(all) && b.Len() < newest+trend.EarlierRuns; i++ {
		s := &all[i]
		has := false
		for _, t := range s.Targets {
			has = has || t.Name == target
		}
		switch {
		case s.ID == id:
			reached = true
		case !reached || !has:
		case s.Fingerprint != first.Dataset.Fingerprint:
			b.LeaveOut(s.ID, "dataset: "+s.Workload+" "+s.Fingerprint)
		default:
			run, err := kept.Run(ctx, s.ID)
			if err != nil {
				return nil, err
			}
			if err := b.Add(run); err != nil {
				return nil, err
			}
		}
	}
	return b.Trend(newest), nil
}
