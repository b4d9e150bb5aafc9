package setting

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/run/experiment"
)

// Each flag names the part of an experiment that it sets: the part exists,
// and it takes the value.
func TestFlagsTakeTheirParts(t *testing.T) {
	s := New(catalog.New(nil, nil))
	var cmd cobra.Command
	for _, add := range []func(*cobra.Command){s.DatasetFlags, s.DigestFlag, s.LoadFlags, s.FileFlags, s.MixedFlags, s.MaterializeFlags, s.TimeoutFlags, s.QueryFlags, s.QuietFlag, s.TimedFlags} {
		add(&cmd)
	}
	s.WorkersFlag(&cmd, "", "load.workers", "queries.workers")
	args := []string{"--scale", "7", "--timestamp-end", "2020-01-01T00:00:00Z", "--workers", "3", "--require-quiet", "--queries", "5", "--timeout", "7s", "--after-load", "a,b"}
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	to := experiment.Default()
	for _, c := range s.copies {
		c.copy(to)
	}
	if to.Workload.Scale != 7 || to.Workload.End.Year() != 2020 || to.Load.Workers != 3 || to.Queries.Workers != 3 || to.RequireQuiet == "" ||
		to.Queries.Count != 5 || to.Queries.Timeout.Seconds() != 7 || len(to.Load.After) != 2 {
		t.Errorf("%+v", to)
	}
}
