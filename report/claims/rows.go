package claims

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// rows compares the size of the full dataset, which nothing measures: the generator says
// it, whatever was run.
func (r rule) rows() Part {
	what := fmt.Sprintf("the dataset has %d rows", r.Rows)
	if r.Metrics > 0 {
		what += fmt.Sprintf(" and %d metrics", r.Metrics)
	}
	spec, err := r.spec()
	if err != nil {
		return untestedPart(what, err.Error())
	}
	rows, metrics, err := generatedSize(spec)
	if err != nil {
		return untestedPart(what, err.Error())
	}
	here := fmt.Sprintf("; here %d", rows)
	if r.Metrics > 0 {
		here += fmt.Sprintf(" and %d", metrics)
	}
	p := Part{What: what + here, Verdict: Holds, Advantage: stats.Value{Bound: stats.Unknown}}
	if rows != r.Rows || r.Metrics > 0 && metrics != r.Metrics {
		p.Verdict = DoesNotHold
	}
	return p
}

// spec returns the dataset of the rule's point at full size.
func (r rule) spec() (workload.Spec, error) {
	e, _ := r.d.Experiment(r.Of)
	whole, err := r.d.Make(e, document.Full, nil)
	if err != nil {
		return workload.Spec{}, err
	}
	points, err := whole.Expand()
	if err != nil {
		return workload.Spec{}, err
	}
	for _, p := range points {
		fits := true
		for path, value := range r.Where {
			fits = fits && p.Parameters.Value(path) == value
		}
		if fits {
			return p.Experiment.Workload, nil
		}
	}
	return workload.Spec{}, fmt.Errorf("experiment %s has no run with %s", r.Of, words(r.Where))
}

// generatedSize returns the number of rows of a TSBS dataset, and of values that are not NULL (0: not
// counted). cpu-only and devops have a row of each series in each table and epoch,
// without NULLs: these are counted without generating them. Others leave out rows, and are
// generated.
func generatedSize(spec workload.Spec) (rows, metrics int64, err error) {
	list := tsbs.Workloads()
	i := slices.IndexFunc(list, func(w workload.Workload) bool { return w.Name() == spec.Name })
	if i < 0 {
		return 0, 0, fmt.Errorf("TSBS has no workload %s", spec.Name)
	}
	d, err := list[i].Dataset(spec)
	if err != nil {
		return 0, 0, err
	}
	if spec.Name != "cpu-only" && spec.Name != "devops" {
		rows, err = pass(d)
		return rows, 0, err
	}
	tables, fields := int64(len(d.Schema().Tables)), int64(0)
	for _, t := range d.Schema().Tables {
		fields += int64(len(t.Fields))
	}
	rows = list[i].Describe(spec).RowsAtMost
	return rows, rows / tables * fields, nil
}

// pass counts the rows of a dataset.
func pass(d workload.Dataset) (rows int64, err error) {
	reader := d.Open()
	var b series.Batch
	for {
		err := reader.Next(&b, 10_000)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return 0, err
		}
		rows += int64(b.Rows())
	}
}
