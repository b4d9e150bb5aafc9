package subject

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/all"
)

// A dataset does not differ from itself, and differs from another one as described.
func TestFirstDifference(t *testing.T) {
	open := func(change func(*workload.Spec)) workload.Reader {
		spec := experiment.Default().Workload
		spec.Scale, spec.End = 3, spec.Start.Add(6*spec.Interval)
		change(&spec)
		for _, w := range all.Workloads(nil) {
			if w.Name() == spec.Name {
				d, err := w.Dataset(spec)
				if err != nil {
					t.Fatal(err)
				}
				return d.Open()
			}
		}
		t.Fatal("no workload ", spec.Name)
		return nil
	}
	for name, c := range map[string]struct {
		change func(*workload.Spec)
		want   string
	}{
		"same":     {func(*workload.Spec) {}, ""},
		"longer":   {func(s *workload.Spec) { s.End = s.End.Add(s.Interval) }, ""}, // its rows are counted
		"shorter":  {func(s *workload.Spec) { s.End = s.End.Add(-s.Interval) }, "it has more than the 15 rows that these settings make"},
		"scale":    {func(s *workload.Spec) { s.Scale = 4 }, "row 4 is of cpu host_0 at 2016-01-01T00:00:10Z, where these settings make one of cpu host_3 at 2016-01-01T00:00:00Z"},
		"interval": {func(s *workload.Spec) { s.Interval *= 2 }, "row 4 is of cpu host_0 at 2016-01-01T00:00:10Z, where these settings make one of cpu host_0 at 2016-01-01T00:00:20Z"},
		"seed":     {func(s *workload.Spec) { s.Seed = 7 }, "row 1, of cpu host_0 at 2016-01-01T00:00:00Z, has another usage_"},
	} {
		got, err := firstDifference(open(func(*workload.Spec) {}), open(c.change), 100)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
