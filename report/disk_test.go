package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// A size that is explained by its parts has them below the loads.
func TestPartsOfSize(t *testing.T) {
	run := agreeing(t, 6)
	run.Targets[0].Load.DiskParts = []driver.FootprintPart{{Name: "the newest partition", Bytes: 1 << 20}, {Name: "other files", Bytes: 512}}
	if out, want := render(t, write.Text, write.Options{Width: 1000}, run), run.Targets[0].Name+": of its size on disk are 1.00MiB in the newest partition; 512B in other files"; !strings.Contains(removeSpaces(out), removeSpaces(want)) {
		t.Errorf("no %q:\n%s", want, out)
	}
}

// A size with writes still pending is never shown as a figure: every format calls it
// incomplete and says why, it has no bar, and it is not compared.
func TestIncompleteSize(t *testing.T) {
	const pending = "5 rows are in memory"
	run := agreeing(t, 6)
	target := &run.Targets[0]
	incomplete := func(l *result.Load) { l.DiskBytes, l.DiskPending = 1234567891, pending }
	incomplete(target.Load)
	for i := range target.Repeats {
		if l := target.Repeats[i].Load; l != nil {
			incomplete(l)
		}
	}
	figure, note := format.Size(target.Load.DiskBytes), "("+format.Size(target.Load.DiskBytes)+" when it was measured)"
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML, write.CSV, write.JSON} {
		out := render(t, format, write.Options{Width: 1000, Verbose: true}, run)
		if !strings.Contains(out, pending) {
			t.Errorf("%s does not say %q", format, pending)
		}
		if format == write.CSV && strings.Contains(out, "1234567891") {
			t.Errorf("%s has the size", format)
		}
		if format == write.Text || format == write.Markdown || format == write.HTML {
			out, figure, note := removeSpaces(out), removeSpaces(figure), removeSpaces(note)
			if n, m := strings.Count(out, figure), strings.Count(out, note); n != m || m == 0 || !strings.Contains(out, "incomplete") {
				t.Errorf("%s has the size %d times, %d times in a note", format, n, m)
			}
		}
	}
	run.Targets[1].Load.DiskBefore, run.Targets[2].Load.DiskBefore = 2<<20, 4096
	if out, want := render(t, write.Text, write.Options{Width: 1000, Verbose: true}, run), " of its size on disk 2.00MiB were there before the load"; strings.Count(out, want) != 1 || strings.Count(out, "were there before") != 1 {
		t.Errorf("text does not say once %q", want)
	}
	if f := report.StoreFigures(run).Loads[0]; f.Disk != nil {
		t.Errorf("the store has %d bytes", *f.Disk)
	}
	other := agreeing(t, 6)
	other.ID += "b"
	c, err := compare.Runs(compare.Side{Runs: []*result.Run{run}}, compare.Side{Runs: []*result.Run{other}}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, f := range c.Targets[0].Figures {
		if f.Metric == compare.Disk {
			if compared++; f.Verdict != compare.NotCompared || !strings.Contains(f.Why, "incomplete: "+pending) {
				t.Errorf("%+v", f)
			}
		}
	}
	if compared != 1 {
		t.Errorf("%d sizes are compared", compared)
	}
}

// A cold query whose server was started for it tells how soon it answered: over all types and repeats.
func TestFirstAnswers(t *testing.T) {
	run := agreeing(t, 6)
	target := &run.Targets[0]
	for i := range target.Queries {
		q := &target.Queries[i]
		q.Cache, q.Cold, q.Starts = "its server stopped and started", true, []float64{float64(i) + 1.5, float64(i) + 2.5}
	}
	n := len(target.Queries)
	want := fmt.Sprintf("first answer after the start of the server: %s, median of %d starts (%s to %s)", format.Duration(float64(n)/2+1.5), 2*n, format.Duration(1.5), format.Duration(float64(n)+1.5))
	if out := render(t, write.Text, write.Options{Width: 1000, Verbose: true}, run); !strings.Contains(removeSpaces(out), removeSpaces(want)) {
		t.Errorf("the report lacks %q:\n%s", want, out)
	}
}
