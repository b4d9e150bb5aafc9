package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Uniform windows are as TSBS generates them. Recent ones differ only in their position, and
// unbounded windows remain unbounded.
func TestWindows(t *testing.T) {
	w := tsbs.CPUOnly()
	spec := experiment.Default().Workload
	for _, name := range []string{"single-groupby-1-1-1", "groupby-orderby-limit", "cpu-max-all-32-24", "lastpoint"} {
		sequence, err := w.Queries(spec, name, 100)
		if err != nil {
			t.Fatal(err)
		}
		drawn := slices.Collect(sequence)
		for _, windows := range []workload.Windows{"", workload.Uniform, workload.Recent} {
			p := Plan{Experiment: experiment.Default()}
			p.Experiment.Queries.Windows = windows
			sequence, err := p.drawType(w, name, spec, 100, 0)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Collect(sequence)
			late := 0
			for i := range got {
				if windows == workload.Recent {
					if got[i].End.After(spec.End.Add(-spec.End.Sub(spec.Start) / 4)) {
						late++
					}
					if got[i].End.After(spec.End) || !got[i].Start.IsZero() && (got[i].End.Sub(got[i].Start) != drawn[i].End.Sub(drawn[i].Start) || got[i].Start.Before(spec.Start)) {
						t.Errorf("%s %d lies from %v to %v", name, i, got[i].Start, got[i].End)
					}
					if !got[i].End.IsZero() {
						got[i].Start, got[i].End = drawn[i].Start, drawn[i].End
					}
				}
			}
			if diff := cmp.Diff(drawn, got); diff != "" {
				t.Errorf("%s, windows %q (-drawn +got):\n%s", name, windows, diff)
			}
			if windows == workload.Recent && name != "lastpoint" && late < 80 {
				t.Errorf("%s: %d of 100 windows end in the last quarter", name, late)
			}
		}
	}
}
