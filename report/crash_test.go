package report_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// crashing returns a run of four targets, each loaded six times in 40 batches and then crashed twenty times: elephant loses
// rows in power losses at its relaxed level, and none at its strict one; lite loses none; cloud could not lose power.
func crashing(t *testing.T) *result.Run {
	t.Helper()
	run := &result.Run{ID: "20260131-154500-cc46", Name: "crashes", Status: result.Complete, Started: started, Dataset: result.Dataset{Fingerprint: "f", Rows: 1e6, Metrics: 1e7}}
	for n, of := range []struct {
		name, driver, level string
		safety              driver.Safety
		seconds             float64 // of a load
	}{
		{"elephant-relaxed", "postgres", driver.Relaxed, driver.InFiles, 4},
		{"elephant", "postgres", driver.Strict, driver.OnDisk, 10},
		{"lite", "sqlite", "", driver.OnDisk, 18},
		{"cloud", "questdb", "", driver.InFiles, 2},
	} {
		target := result.Target{Name: of.name, Driver: of.driver, Durability: of.level, CoLocated: true, Description: driver.Description{Version: "1.0", Safety: of.safety}}
		for i := range 6 {
			seconds := of.seconds * (1 + 0.01*float64((i*7+n)%5))
			target.RepeatOf(i + 1).Load = &result.Load{Workers: 2, BatchSize: 1000, Rows: 1e6, Metrics: 1e7, Sent: seconds, Acked: seconds, Settled: 1.1 * seconds, DiskBytes: -1,
				DiskBefore: -1, DiskSettled: -1, Batches: latencies(t, uint64(6*n+i), 40, time.Duration(of.seconds*1e6))}
		}
		crash := &result.Crash{Seed: 46, Patience: 60}
		for i := range 20 {
			r := result.CrashRound{Kind: []string{result.CrashKill, result.CrashPower}[i%2], Stored: 1e6 + 5e4*int64(i), Bytes: 4e7 + 2e6*int64(i), Acked: 50_000, InFlight: 2000, Unsent: 48_000, AckedBatches: 50,
				Answers: 0.4 + 0.01*float64(i), Complete: 0.5 + 0.02*float64(i)}
			crash.Rounds = append(crash.Rounds, r)
		}
		rounds := crash.Rounds
		switch n {
		case 0:
			for i := 1; i < 15; i += 2 {
				r := &rounds[i]
				r.Lost, r.LostBatches, r.Complete, r.FirstLost, r.LastLost = 43_000, 43, -1, "hostname=host_3 2016-01-01T00:00:10Z", "hostname=host_9 2016-01-01T00:08:20Z"
			}
			rounds[1].Holes = true
			rounds[2].Extra = 1000
			rounds[3].Torn, rounds[3].Wrong = 3, 1
		case 2:
			rounds[4].Doubled = 12
		case 3:
			target.ServerSettings = map[string]string{"cairo.commit.mode": "async"}
			crash.Unsupported = map[string]string{result.CrashPower: "tsmark did not start its server"}
			crash.Rounds = slices.DeleteFunc(rounds, func(r result.CrashRound) bool { return r.Kind == result.CrashPower })
		}
		target.Crash = crash
		run.Targets = append(run.Targets, target)
	}
	run, err := run.Pool()
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// All outputs agree on crashes, and the headline compares each system's fastest level that lost nothing.
func TestCrashesAgree(t *testing.T) {
	run := crashing(t)
	text := render(t, write.Text, write.Options{Verbose: true, Width: 400}, run)
	markdown, html := render(t, write.Markdown, write.Options{}, run), render(t, write.HTML, write.Options{}, run)
	page := parse(t, html).text
	golden(t, "crashes.txt", render(t, write.Text, write.Options{Width: 150}, run))
	var runs []report.RunJSON
	if err := json.Unmarshal([]byte(render(t, write.JSON, write.Options{}, run)), &runs); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(render(t, write.CSV, write.Options{}, run))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const title = "Crashes: what an acknowledged row is worth"
	for _, c := range runs[0].Crashes {
		cell, bound := "n/a", ""
		switch {
		case c.Losing > 0:
			cell = fmt.Sprintf("%d of %d", c.Losing, c.Crashes)
		case c.Crashes > 0:
			cell = fmt.Sprintf("0 of %d (≤%s)", c.Crashes, format.PercentUp(c.Bound))
			bound = fmt.Sprint(c.Bound)
		}
		for name, rows := range map[string][][]string{"text": textTable(text, title), "Markdown": markdownTable(markdown, title)} {
			if row := find(rows, c.Target); !slices.Contains(row, removeSpaces(cell)) {
				t.Errorf("%s: %s of %s: %q lacks %s", name, c.Kind, c.Target, row, cell)
			}
		}
		if !strings.Contains(page, cell) {
			t.Errorf("HTML lacks %s", cell)
		}
		at := slices.IndexFunc(lines, func(line []string) bool {
			return line[slices.Index(lines[0], "target")] == c.Target && line[slices.Index(lines[0], "crash")] == c.Kind
		})
		column := func(name string) string { return lines[at][slices.Index(lines[0], name)] }
		if c.Crashes == 0 {
			if column("unsupported") != c.Unsupported || column("crashes") != "" {
				t.Errorf("CSV: %q crashes, %q, want %q", column("crashes"), column("unsupported"), c.Unsupported)
			}
			continue
		}
		for name, want := range map[string]string{
			"crashes": fmt.Sprint(c.Crashes), "crashes_losing": fmt.Sprint(c.Losing), "crashes_bound": bound, "lost": fmt.Sprint(c.Lost), "duplicates": fmt.Sprint(c.Doubled),
			"torn_rows": fmt.Sprint(c.Torn), "wrong_rows": fmt.Sprint(c.Wrong), "answers_median": fmt.Sprintf("%.9g", c.Answers.Median.Figure), "complete_median": fmt.Sprintf("%.9g", c.Complete.Median.Figure),
			"crashes_failed": fmt.Sprint(c.Failed), "answers_bound": string(c.Answers.Median.Bound), "complete_bound": string(c.Complete.Median.Bound),
		} {
			if column(name) != want {
				t.Errorf("CSV: %s of %s by %s is %q, JSON has %q", name, c.Target, c.Kind, column(name), want)
			}
		}
	}
	headline := strings.Join(runs[0].Headline.Answers, "\n")
	for _, want := range []string{
		"Rows/s at proven durability: elephant (strict) 98,500, lite 54,500; elephant (strict) 1.81× faster than lite",
		"; both lost nothing in 20 crashes (10 by kill, 10 by power loss)",
		"Not proven: elephant-relaxed lost acknowledged rows in 7 of 10 crashes by power loss (holes in 1); cloud power loss n/a: tsmark did not start its server",
	} {
		if !strings.Contains(headline, want) {
			t.Errorf("no %q in %s", want, headline)
		}
	}
	for _, answer := range runs[0].Headline.Answers {
		for name, out := range map[string]string{"text": text, "Markdown": markdown, "HTML": page} {
			if !strings.Contains(removeSpaces(strings.ReplaceAll(out, "\n", "")), removeSpaces(answer)) {
				t.Errorf("%s lacks %q", name, answer)
			}
		}
	}
	if loads := runs[0].Headline.Loads; len(loads) != 2 || loads[0].Target != "elephant" || loads[0].Verdict != "best" || loads[1].Target != "lite" {
		t.Errorf("the ranked loads are %+v", loads)
	}
	for _, want := range []string{
		"lost rows of 43 of 50 acknowledged batches (43,000 of 50,000 rows): holes, from hostname=host_3 2016-01-01T00:00:10Z to hostname=host_9 2016-01-01T00:08:20Z",
		"lost rows of 43 of 50 acknowledged batches (43,000 of 50,000 rows): from hostname=host_3 2016-01-01T00:00:10Z to hostname=host_9 2016-01-01T00:08:20Z; 3 rows torn: some fields are missing; 1 row with wrong values",
		"lost rows of 43 of 50 batches: the last ones, 3 torn, 1 wrong",
		"12 rows stored twice, after everything that was not acknowledged was sent again",
	} {
		if !strings.Contains(text, want) || !strings.Contains(page, want) {
			t.Errorf("text or HTML lacks %q", want)
		}
	}
	if !strings.Contains(page, "Until complete") || !strings.Contains(html, "elephant, power loss at 74.4") {
		t.Error("no drawing of the recovery")
	}
	passes := run.Passed()
	if !passes {
		t.Error("losses are findings, and no reason for a run to fail")
	}
}

// Nothing is proven by a crash that lost rows, could not be judged, or never happened; the rates are then not ranked.
func TestProvenDurability(t *testing.T) {
	answers := func(change func(target string, c *result.Crash)) string {
		run := crashing(t)
		for i := range run.Targets {
			change(run.Targets[i].Name, run.Targets[i].Crash)
		}
		return strings.Join(report.New(run).Answers(), "\n")
	}
	for _, c := range []struct {
		change    func(target string, c *result.Crash)
		want, not string
	}{
		{func(_ string, c *result.Crash) { c.Rounds[0].Lost = 1 }, "Rows/s at proven durability: none was proven\nNot proven: elephant-relaxed ", "faster"},
		{func(name string, c *result.Crash) {
			if name == "lite" {
				c.Rounds[0].Failed = "no answer"
			}
		}, "Rows/s at proven durability: elephant (strict) 98,500; it lost nothing in 20 crashes", "faster"},
		{func(name string, c *result.Crash) {
			if name == "lite" {
				c.Rounds[0].Answers = -1
			}
		}, "; lite did not answer again in 1 of 10 crashes by kill;", "faster"},
		{func(name string, c *result.Crash) {
			if name == "lite" {
				c.Rounds[0].Repeated = 5
			}
		}, "; lite stored rows twice in 1 of 10 crashes by kill;", "faster"},
		{func(name string, c *result.Crash) { // a pause takes nothing
			if name == "lite" {
				c.Unsupported = map[string]string{result.CrashPause: "tsmark did not start its server"}
			} else {
				c.Rounds = append(c.Rounds, result.CrashRound{Kind: result.CrashPause, Acked: 50_000, AckedBatches: 50})
			}
		}, "Rows/s at proven durability: elephant (strict) 98,500, lite 54,500; ", "pause n/a"},
		{func(name string, c *result.Crash) { // no target lost power: the proof does without it
			c.Unsupported = map[string]string{result.CrashPower: "not root"}
			c.Rounds = slices.DeleteFunc(c.Rounds, func(r result.CrashRound) bool { return r.Kind == result.CrashPower })
		}, "Rows/s at proven durability: cloud 488,000, elephant-relaxed 246,000, lite 54,500; cloud 1.98× faster than elephant-relaxed", "Not proven"},
		{func(_ string, c *result.Crash) {
			c.Unsupported = map[string]string{result.CrashPower: "not root"}
			c.Rounds = slices.DeleteFunc(c.Rounds, func(r result.CrashRound) bool { return r.Kind == result.CrashPower })
		}, "each lost nothing in 10 crashes (10 by kill); power loss was not possible", "Not proven"},
		{func(_ string, c *result.Crash) { c.Rounds = c.Rounds[:min(len(c.Rounds), 6)] },
			"none was proven\nNot proven: elephant-relaxed lost acknowledged rows in 3 of 3 crashes by power loss (holes in 1); elephant (strict) had too few crashes (3 by kill, 3 by power loss; four of each kind bound the losses); lite had", "not possible"},
		{func(_ string, c *result.Crash) {
			for i := range c.Rounds {
				c.Rounds[i].Kind = result.CrashPause
			}
		}, "Load: cloud ", "proven"},
	} {
		got := answers(c.change)
		if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("no %q, or %q, in %s", c.want, c.not, got)
		}
	}
}

// A single load shows neither which system is faster nor which level of a system is.
func TestProvenByOneLoad(t *testing.T) {
	run := crashing(t)
	for i := range run.Targets {
		target := &run.Targets[i]
		target.Repeats = target.Repeats[:1]
		for j := range target.Crash.Rounds {
			target.Crash.Rounds[j].Lost, target.Crash.Rounds[j].Torn, target.Crash.Rounds[j].Wrong = 0, 0, 0
		}
	}
	run, err := run.Pool()
	if err != nil {
		t.Fatal(err)
	}
	headline := report.New(run).WithFigures()[0].Headline
	want := "Rows/s at proven durability: elephant-relaxed 250,000, lite 54,500; no verdict between elephant-relaxed and lite: 1 load; " +
		"both lost nothing in 20 crashes (10 by kill, 10 by power loss); elephant-relaxed was not shown to be faster than elephant (strict)"
	if got := strings.Join(headline.Answers, "\n"); !strings.Contains(got, want) || strings.Contains(got, "× faster") {
		t.Errorf("no %q in %s", want, got)
	}
	for _, place := range headline.Loads {
		if place.Verdict != "no verdict: 1 load" {
			t.Errorf("%s: %s", place.Target, place.Verdict)
		}
	}
}

// The longest recovery is a lower bound if one did not end, whatever others took, and sizes range from the smallest to the largest.
func TestRecovery(t *testing.T) {
	run := crashing(t)
	run.Targets = run.Targets[2:3]
	rounds := run.Targets[0].Crash.Rounds
	for i := range rounds {
		rounds[i].Stored, rounds[i].Bytes = 1e6, 4e6
	}
	rounds[0].Complete, rounds[2].Complete, rounds[2].Bytes = -1, 75, 1e6
	out := render(t, write.Text, write.Options{Width: 400}, run)
	if want := regexp.MustCompile(`lite +kill +10 +1,000,000 +977KiB–3.81MiB +490ms +760ms +≥75.0s\n`); !want.MatchString(out) {
		t.Errorf("no %v in %s", want, out)
	}
}

// Rows that a crash takes from earlier rounds are not counted against the rows of its own round.
func TestEarlierRowsLost(t *testing.T) {
	run := crashing(t)
	run.Targets[0].Crash.Rounds[1].LostEarlier = 500
	const want = "301,500 (500 older)"
	if out := render(t, write.Text, write.Options{Width: 400}, run); !strings.Contains(out, want) {
		t.Errorf("no %q in %s", want, out)
	}
}

// A comparison of runs says which crashes lost rows on each side, and that the durability is unequal.
func TestCompareCrashes(t *testing.T) {
	run := crashing(t)
	side := func(name string) compare.Side { return compare.Side{Runs: []*result.Run{run}, Target: name} }
	c, err := compare.Runs(side("elephant"), side("elephant-relaxed"), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []write.Format{write.Text, write.Markdown, write.HTML, write.JSON} {
		var b strings.Builder
		if err := comparison.Write(&b, of, c, write.Options{Width: 400}); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if of == write.HTML {
			out = parse(t, out).text
		}
		for _, want := range []string{
			"Crashes that lost acknowledged rows: kill 0 of 10 (A) and 0 of 10 (B), no difference shown; power 0 of 10 (A) and 7 of 10 (B), B more",
			"; unequal durability: acknowledged rows: on disk (A), in files that are not yet forced to disk (B)",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q: %s", of, want, out)
			}
		}
	}
}

// Every comparison of loads whose acknowledged rows are not equally safe says so where it ranks them.
func TestUnequalDurability(t *testing.T) {
	run := crashing(t)
	for i := range run.Targets {
		run.Targets[i].Crash = nil
	}
	run.Targets = run.Targets[2:]
	for _, of := range []write.Format{write.Text, write.Markdown, write.HTML, write.JSON} {
		out := render(t, of, write.Options{Width: 400}, run)
		if of == write.HTML {
			out = parse(t, out).text
		}
		if want := "Load: cloud 8.96× faster than lite"; !strings.Contains(out, want) {
			t.Errorf("%s lacks %q", of, want)
		}
		if want := "; unequal durability: acknowledged rows: on disk (lite), in files that are not yet forced to disk (cloud)"; !strings.Contains(out, want) {
			t.Errorf("%s lacks %q", of, want)
		}
	}
	run.Targets[0].Description.Safety = ""
	if out := render(t, write.Text, write.Options{Width: 400}, run); strings.Contains(out, "unequal durability") || !strings.Contains(out, "; unknown durability: lite") {
		t.Error("an unknown durability counts as another one, or is not named")
	}
}
