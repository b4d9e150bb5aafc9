package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/run/experiment"
)

// A budget between small and full gives every experiment a size that runs, takes roughly
// that long, and says what it is.
func TestWithin(t *testing.T) {
	for _, d := range All() {
		var small, full time.Duration
		for i := range d.Experiments {
			if e := &d.Experiments[i]; e.Missing == "" {
				for size, to := range map[Size]*time.Duration{Small: &small, Full: &full} {
					took, err := d.Duration(e, size, 2)
					if err != nil {
						t.Fatal(err)
					}
					*to += took
				}
			}
		}
		t.Logf("%s takes %v in small, %v in full", d.Name, small.Round(time.Minute), full.Round(time.Minute))
		for _, budget := range []time.Duration{time.Minute, 2 * time.Hour, 1000 * time.Hour} {
			fitted, size, err := d.Within(budget, 2)
			if err != nil {
				t.Fatal(err)
			}
			var sum time.Duration
			whole := 0
			for i := range fitted.Experiments {
				e := &fitted.Experiments[i]
				if e.Missing != "" {
					continue
				}
				took, err := fitted.Duration(e, size, 2)
				if err != nil {
					t.Fatalf("%s, %s in %v: %v", d.Name, e.Name, budget, err)
				}
				sum += took
				if e.Whole(size) {
					whole++
				}
			}
			switch budget {
			case time.Minute:
				if sum >= small {
					t.Errorf("%s: a minute takes %v, small %v", d.Name, sum, small)
				}
			case 2 * time.Hour:
				if sum < small || sum > budget*11/10 {
					t.Errorf("%s: of 2 h %v are taken, small takes %v", d.Name, sum, small)
				}
			default:
				if budget > full && (sum < full*9/10 || whole == 0) {
					t.Errorf("%s: of 1,000 h %v are taken, full takes %v; %d are whole", d.Name, sum, full, whole)
				}
			}
		}
	}
}

// pointsText is what the points of an experiment in a size are: all that is run.
func pointsText(t *testing.T, d *Document, e *Experiment, size Size) string {
	t.Helper()
	list, err := d.points(e, size)
	if err != nil {
		t.Fatalf("%s, %s in %s: %v", d.Name, e.Name, size, err)
	}
	var all []string
	for _, p := range list {
		x := *p.Experiment
		x.Name, x.Notes = "", nil
		text, err := experiment.Marshal(&x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// A larger budget never gives less of any experiment: of time, of rows, of the document's
// values. The words say that something is not as in small where that is so, and only there.
// With as much as the full size takes, everything is whole.
func TestLargerBudgetsGiveMore(t *testing.T) {
	const systems = 2
	for _, d := range All() {
		var full time.Duration
		for i := range d.Experiments {
			if e := &d.Experiments[i]; e.Missing == "" {
				took, err := d.Duration(e, Full, systems)
				if err != nil {
					t.Fatal(err)
				}
				full += took
			}
		}
		type state struct {
			takes  time.Duration
			rows   int64
			values []string
		}
		before := make(map[string]state)
		budgets := []time.Duration{0, time.Minute, 5 * time.Minute}
		for b := 8 * time.Minute; b < full; b *= 2 {
			budgets = append(budgets, b)
		}
		for _, budget := range append(budgets, full, 2*full) {
			fitted, size, err := d.Within(budget, systems)
			if err != nil {
				t.Fatal(err)
			}
			used := time.Duration(0)
			for i := range fitted.Experiments {
				e := &fitted.Experiments[i]
				if e.Missing != "" {
					continue
				}
				at := fmt.Sprintf("%s, %s in %v", d.Name, e.Name, budget)
				text, cut := pointsText(t, fitted, e, size), e.Cut(size)
				if _, stands := cut.For["workload.timestamp-end"]["2016-02-12T00:00:00Z"]; e.Name == "queries" && d.Name == "ntua-2024" && size != Smoke && stands != strings.Contains(text, experiment.MemoryPath+": 1GiB") {
					t.Errorf("%s: servers have little memory: %t; the medium size stands for the big one: %t\n%s", at, !stands, stands, text)
				}
				var now state
				if now.takes, err = fitted.Duration(e, size, systems); err != nil {
					t.Fatal(err)
				}
				if now.rows, err = fitted.Rows(e, size); err != nil {
					t.Fatal(err)
				}
				for _, path := range sweptBy(e.Run) {
					there := valuesOf(merge(e.Run, cut.Run), path)
					for _, v := range valuesOf(e.Run, path) {
						_, other := cut.For[path][fmt.Sprint(v)]
						if contains(there, v) && !other {
							now.values = append(now.values, fmt.Sprint(path, "=", v))
						}
						// Of smoke values are lost that no axis has: its points are others.
						if lost := slices.Contains(cut.Lost[path], fmt.Sprint(v)); contains(there, v) == lost && !other && (lost || slices.Contains(e.Cut(Small).Lost[path], fmt.Sprint(v))) {
							t.Errorf("%s: %s=%v is there: %t, and said to be lost: %t", at, path, v, contains(there, v), lost)
						}
					}
				}
				was := before[e.Name]
				if now.takes < was.takes || now.rows < was.rows {
					t.Errorf("%s: takes %v with %d rows, with a smaller budget %v with %d", at, now.takes, now.rows, was.takes, was.rows)
				}
				for _, v := range was.values {
					if !slices.Contains(now.values, v) {
						t.Errorf("%s: %s is not there, but with a smaller budget", at, v)
					}
				}
				before[e.Name] = now
				known, _ := d.Experiment(e.Name)
				asSmall := text == pointsText(t, &d, known, Small)
				asFull := text == pointsText(t, &d, known, Full)
				asSmoke := text == pointsText(t, &d, known, Smoke)
				used += now.takes
				switch told := strings.HasPrefix(cut.Words, "as small, with "); {
				case strings.Contains(cut.Words, " 1 times"):
					t.Errorf("%s: says %q", at, cut.Words)
				case told && (asSmall || asFull || asSmoke):
					t.Errorf("%s: as small %t, full %t, smoke %t; says %q", at, asSmall, asFull, asSmoke, cut.Words)
				case !told && !asSmall && !asFull && !asSmoke:
					t.Errorf("%s: as none of the sizes, and says %q", at, cut.Words)
				case !told && asSmall && !asFull && cut.Words != known.Cut(Small).Words:
					t.Errorf("%s: as small, and says %q", at, cut.Words)
				}
				if budget >= full && (!asFull || !e.Whole(size)) {
					t.Errorf("%s: not as in full, which takes %v; %q", at, full, cut.Words)
				}
				if testing.Verbose() {
					t.Logf("%-45s %10v %12d rows  %s", at, now.takes.Round(time.Second), now.rows, cut.Words)
				}
			}
			// What is left is less than what the next rung takes: see climb.
			if budget < full && (used > max(budget, 4*time.Minute) || budget >= time.Hour && used < budget*2/5) {
				t.Errorf("%s: of %v %v are used", d.Name, budget, used)
			}
		}
	}
}

// A value that small has at one point alone, by an entry of include, comes back at all.
func TestRestoredOfOnePoint(t *testing.T) {
	d, err := Parse([]byte(`
name: x
systems: [{driver: influxdb}]
experiments:
  - id: E1
    name: load
    run:
      workload: {name: cpu-only, scale: 10, timestamp-start: "2016-01-01T00:00:00Z", timestamp-end: "2016-01-02T00:00:00Z", log-interval: 10s}
      load: {repeats: 6}
      queries: {types: []}
      matrix: {workload.scale: [10, 20], load.workers: [1, 2]}
    cuts:
      small: {words: "the small one, and the large one by one worker", run: {matrix: {workload.scale: [10], load.workers: [1, 2]}, include: [{workload.scale: 20, load.workers: 1}]}}
      smoke: {words: "the small one", run: {load: {repeats: 1}, matrix: {workload.scale: [10], load.workers: [1]}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	e := &d.Experiments[0]
	full, err := d.Duration(e, Full, 1)
	if err != nil {
		t.Fatal(err)
	}
	fitted, size, err := d.Within(full, 1)
	if err != nil {
		t.Fatal(err)
	}
	if points, err := fitted.points(&fitted.Experiments[0], size); err != nil || len(points) != 4 {
		t.Errorf("%d points, want 4, %v", len(points), err)
	}
}
