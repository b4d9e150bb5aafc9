package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// The headline matches the table of winners for agreeing's targets a, b and c:
// a and b are alike, c is slower.
func TestHeadlineIsWhatTheTablesSay(t *testing.T) {
	run := agreeing(t, 6)
	g := rank.NewGroup(run)
	h := rank.NewHeadline(g)
	if h == nil || h.Queries == nil || h.Loads == nil || len(h.Answers) != 2 {
		t.Fatalf("headline: %+v", h)
	}
	winners := render(t, write.Text, write.Options{Verbose: true, Width: 1000}, run)
	first := h.Queries.Places[0]
	for _, p := range h.Queries.Places[1:] {
		f := g.Figure(first.Subject, p.Subject, compare.AllTypes, compare.GeoMean)
		if p.Times != f.Ratio.Figure || *p.Interval != *f.Interval {
			t.Errorf("%s: %v times, the comparison says %v", p.Label, p.Times, f.Ratio.Figure)
		}
		if (p.Tone == format.ToneDim) == (f.Significant() && f.Ratio.Figure > 1) {
			t.Errorf("%s: %q is marked wrongly, p is %v", p.Label, p.Text, f.Adjusted)
		}
		if !strings.Contains(winners, format.Times(f.Ratio)) {
			t.Errorf("the table of winners lacks %s", format.Times(f.Ratio))
		}
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML} {
		out := render(t, format, write.Options{Width: 1000}, run)
		for _, a := range h.Answers {
			if !strings.Contains(out, removeMarkup(a.Text, format)) {
				t.Errorf("%s lacks %q", format, a.Text)
			}
		}
	}
	if answer := h.Answers[0].Text; !strings.Contains(answer, "faster than c (") || !strings.Contains(answer, "no difference shown between ") || h.Answers[0].Tone == format.ToneBest {
		t.Errorf("the answer is %q with tone %q", answer, h.Answers[0].Tone)
	}
}

// Single types are counted by the verdicts of the tables.
func TestHeadlineCountsSingleTypes(t *testing.T) {
	for _, c := range []struct {
		targets []int
		types   int
		want    string
	}{
		{[]int{0, 2}, 5, "By query type: a faster in 4 (up to 1.93×), tie in 1"},
		{[]int{0, 1, 2}, 5, ""},                    // a and b are alike, so no target is the fastest
		{[]int{0, 1}, 5, ""}, {[]int{0, 2}, 1, ""}, // the answer itself names a single type
	} {
		run := agreeing(t, 6)
		var kept []result.Target
		for _, i := range c.targets {
			kept = append(kept, run.Targets[i])
		}
		run.Targets = kept
		for i := range run.Targets {
			run.Targets[i].Queries = run.Targets[i].Queries[:c.types]
		}
		if got := rank.NewGroup(run).ByType(); got != c.want {
			t.Errorf("%v: %q, want %q", c.targets, got, c.want)
		}
	}
	// In which both win.
	run := agreeing(t, 6)
	run.Targets = []result.Target{run.Targets[0], run.Targets[2]}
	for i := range run.Targets {
		for n := range run.Targets[i].Repeats {
			for j := range run.Targets[i].Repeats[n].Queries[:2] {
				each := run.Targets[i].Repeats[n].Queries[j].Each
				for k := range each {
					each[k] *= []float64{5, 1}[i]
				}
			}
		}
	}
	if got := rank.NewGroup(run).ByType(); !strings.HasPrefix(got, "By query type: a faster in 2 (up to ") || !strings.Contains(got, "), c in 2 (up to 2.") || !strings.HasSuffix(got, "), tie in 1") {
		t.Errorf("both win: %q", got)
	}
}

func removeMarkup(text string, as write.Format) string {
	switch as {
	case write.Markdown:
		return strings.NewReplacer(format.UnitSpace, " ", "~", `\~`, "_", `\_`).Replace(text)
	case write.Text:
		return strings.ReplaceAll(text, format.UnitSpace, "")
	}
	return text
}

func TestHeadline(t *testing.T) {
	two := func(rounds int, names ...string) *result.Run {
		run := agreeing(t, rounds)
		var kept []result.Target
		for _, x := range run.Targets {
			for _, name := range names {
				if x.Name == name {
					kept = append(kept, x)
				}
			}
		}
		run.Targets = kept
		return run
	}
	for _, c := range []struct {
		run        *result.Run
		begins     string
		tone       format.Tone
		places     int
		mustNotSay string
	}{
		{two(6, "a", "c"), "a 1.", format.ToneBest, 2, "no difference"},
		{two(6, "a", "b"), "No difference shown between ", format.TonePlain, 2, "faster"},
		{two(1, "a", "c"), "No verdict between a and c: 1 round", format.TonePlain, 2, "faster"},
		{two(6, "a"), "a: ", format.TonePlain, 0, "faster"},
	} {
		h := rank.NewHeadline(rank.NewGroup(c.run))
		if h == nil {
			t.Errorf("%s: no headline", c.begins)
			continue
		}
		a := h.Answers[0]
		if !strings.HasPrefix(a.Text, c.begins) || a.Tone != c.tone || strings.Contains(strings.ToLower(a.Text), c.mustNotSay) {
			t.Errorf("%q with tone %q, want %q… with %q", a.Text, a.Tone, c.begins, c.tone)
		}
		if n := 0; h.Queries != nil && len(h.Queries.Places) != c.places || h.Queries == nil && n != c.places {
			t.Errorf("%s: standings %+v", c.begins, h.Queries)
		}
	}
	// A withheld type is counted as such, and takes no part.
	run := two(6, "a", "c")
	run.Targets[1].Queries[0].Withheld = "wrong answer"
	if h := rank.NewHeadline(rank.NewGroup(run)); !strings.Contains(strings.Join(h.Basis, " · "), "4 of 5 query types verified, 1 withheld") {
		t.Errorf("basis: %q", h.Basis)
	}
	if out := render(t, write.Text, write.Options{}, run); !strings.Contains(out, "withheld: wrong answer") {
		t.Errorf("a terminal does not tell why a type is withheld:\n%s", out)
	}
	// A target that failed takes no part, and does not keep the others from it.
	for failed := range 3 {
		run := agreeing(t, 6)
		run.Targets[0], run.Targets[failed] = run.Targets[failed], run.Targets[0]
		run.Targets[0].Failure = "the server went away"
		h := rank.NewHeadline(rank.NewGroup(run))
		if len(h.Queries.Places) != 2 || strings.Contains(h.Answers[0].Text, run.Targets[0].Name+" ") || !slices.Contains(h.Basis, run.Targets[0].Name+" failed") {
			t.Errorf("without %s: %q, %q", run.Targets[0].Name, h.Answers[0].Text, h.Basis)
		}
		if faster := failed == 0 || failed == 1; faster != (h.Answers[0].Tone == format.ToneBest && h.Queries.Places[0].Tone == format.ToneBest) {
			t.Errorf("without %s: %q is %q, and the bar %q", run.Targets[0].Name, h.Answers[0].Text, h.Answers[0].Tone, h.Queries.Places[0].Tone)
		}
	}
	// Of one type there is no mean, but an answer.
	run = two(6, "a", "c")
	for i := range run.Targets {
		x := &run.Targets[i]
		x.Queries = x.Queries[:1]
		for j := range x.Repeats {
			x.Repeats[j].Queries = x.Repeats[j].Queries[:1]
		}
	}
	if h := rank.NewHeadline(rank.NewGroup(run)); !strings.Contains(h.Answers[0].Text, "a ") || !strings.Contains(h.Answers[0].Text, "c") || h.Queries.Help != "type-0; shorter is better" {
		t.Errorf("of one type: %q over %q", h.Answers[0].Text, h.Queries.Help)
	}
	// Who is faster on two machines says nothing of the systems alone.
	here, there := two(6, "a"), two(6, "c")
	there.Host.Cores, there.ID = 64, "20260131-154500-bbbb"
	if h := rank.NewHeadline(&rank.Groups([]*result.Run{here, there})[0]); h.Answers[0].Tone == format.ToneBest || !strings.Contains(strings.Join(h.Basis, " "), "on different machines") {
		t.Errorf("on two machines: %+v", h)
	}
	if h := rank.NewHeadline(rank.NewGroup(&result.Run{})); h != nil {
		t.Errorf("nothing was measured, and the headline is %+v", h)
	}
}

// For a target that was cut off by the time limit the headline has a lower bound of its
// multiple; it is never the fastest.
func TestHeadlineOfCutOff(t *testing.T) {
	cutOff := func(target int, limit float64) *doc.Headline {
		run := agreeing(t, 6)
		run.Targets = []result.Target{run.Targets[0], run.Targets[2]}
		to := &run.Targets[target]
		for i := range to.Repeats {
			q := to.Repeats[i].Type("type-1")
			q.AtLeast = int64(len(q.Each))
			for j := range q.Each {
				q.Each[j] = -limit
			}
		}
		pooled, err := to.Pool()
		if err != nil {
			t.Fatal(err)
		}
		*to = pooled
		return rank.NewHeadline(rank.NewGroup(run))
	}
	slow := cutOff(1, 60)
	if got := slow.Answers[0].Text; !strings.HasPrefix(got, "a ≥") || !strings.Contains(got, "× faster than c") {
		t.Errorf("the slower one was cut off: %q", got)
	}
	if p := slow.Queries.Places[1]; p.Bound != stats.AtLeast || !strings.HasPrefix(p.Text, "≥") {
		t.Errorf("the slower one was cut off: %+v", p)
	}
	// A type that was cut off may have taken any time, so a's other types do not make it faster.
	fast := cutOff(0, 1e-9)
	if got := fast.Answers[0].Text; strings.HasPrefix(got, "a ") || fast.Queries != nil && fast.Queries.Places[0].Label == "a" {
		t.Errorf("the faster one was cut off: %q", got)
	}
}

// A run with a budget of queries names its widest interval, and estimates what more time would bring.
// Other runs, and those whose medians are all known well enough, do not.
func TestHeadlineNamesWidestMedian(t *testing.T) {
	note := func(budget *result.Budget, change func(q *result.Queries)) string {
		run := agreeing(t, 6)
		run.Budget = budget
		for i := range run.Targets {
			for j := range run.Targets[i].Repeats {
				for k := range run.Targets[i].Repeats[j].Queries {
					change(&run.Targets[i].Repeats[j].Queries[k])
				}
			}
		}
		answers := rank.NewHeadline(rank.NewGroup(run)).Answers
		return answers[len(answers)-1].Text
	}
	unchanged := func(*result.Queries) {}
	level := func(q *result.Queries) {
		for i := range q.Each {
			q.Each[i] = 0.001
		}
	}
	// The only wide type took 100 s on all targets: with four times as much its interval is half as wide.
	wide := func(q *result.Queries) {
		level(q)
		q.To = 100. / 18
		if q.Type == "type-1" {
			for i := range q.Each {
				q.Each[i] = 0.001 * (1 + 0.08*float64(q.First%240/40))
			}
		}
	}
	budget := &result.Budget{Seconds: 300, Ended: true}
	for _, c := range []struct {
		name   string
		budget *result.Budget
		change func(*result.Queries)
		want   string
	}{
		{"no budget", nil, unchanged, "Load: "},
		{"all known", budget, level, "Load: "},
		{"one wide type", budget, wide, "3 of 15 medians not known within ±10 %; the widest is type-1 on a, ±17 %; another 5 minutes (--time 10m) would give about ±8 % (estimated by 1/√n)"},
		{"all rounds", &result.Budget{Seconds: 300, Fixed: 6, Further: slices.Repeat([][]string{{"type-1"}}, 42), Ended: true}, wide,
			"3 of 15 medians not known within ±10 %; the widest is type-1 on a, ±17 %; all 48 rounds were run"},
		{"no times", budget, func(q *result.Queries) { wide(q); q.To = 0 }, "3 of 15 medians not known within ±10 %; the widest is type-1 on a, ±17 %"},
	} {
		if got := note(c.budget, c.change); !strings.HasPrefix(got, c.want) || c.want != "Load: " && got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// An open loop is compared by response times. A saturated target is named first, and no target is
// called faster than it.
func TestHeadlineOfOpenLoops(t *testing.T) {
	open := func(saturated string) *doc.Headline {
		run := agreeing(t, 6)
		run.Targets = []result.Target{run.Targets[0], run.Targets[2]} // the second one is slower
		for i := range run.Targets {
			for n := range run.Targets[i].Repeats {
				for j := range run.Targets[i].Repeats[n].Queries {
					q := &run.Targets[i].Repeats[n].Queries[j]
					q.Open = &result.OpenLoop{Schedule: "1000/s", Response: q.Service, EachResponse: true}
					if i == 1 && n == 4 {
						q.Open.Saturated = saturated
					}
				}
			}
			pooled, err := run.Targets[i].Pool()
			if err != nil {
				t.Fatal(err)
			}
			run.Targets[i] = pooled
		}
		return rank.NewHeadline(rank.NewGroup(run))
	}
	if h := open(""); !strings.HasPrefix(h.Answers[0].Text, "Response time: a 1.") || !strings.HasPrefix(h.Queries.Title, "Response time, ") {
		t.Errorf("%q, %q", h.Answers[0].Text, h.Queries.Title)
	}
	h := open("saturated: 870/s done of 1,000/s scheduled")
	if first := h.Answers[0]; first.Text != "c is saturated in 5 of 5 query types, type-0: 870/s done of 1,000/s scheduled" || first.Tone != format.ToneBad {
		t.Errorf("the first answer is %q", first.Text)
	}
	for _, a := range h.Answers {
		if strings.Contains(a.Text, "faster") && !strings.HasPrefix(a.Text, "Load: ") {
			t.Errorf("%q beside a saturated target", a.Text)
		}
	}
	if h.Queries != nil {
		t.Errorf("a ranking with a saturated target: %+v", h.Queries)
	}
}

// Searches are answered by the rates that they found.
func TestHeadlineOfSearches(t *testing.T) {
	run := agreeing(t, 6)
	run.Targets = run.Targets[:2]
	for i := range run.Targets {
		for j := range run.Targets[i].Queries {
			q := &run.Targets[i].Queries[j]
			q.Open = &result.OpenLoop{EachResponse: true, Search: &result.RateSearch{Objective: "p99<10ms", Kept: float64(100 * (i + 1) * (j + 1)), Tries: []result.RateTry{{Rate: 1}}}}
			if i == 1 && j == 0 {
				q.Open.Search.Kept = 0
			}
		}
	}
	h := rank.NewHeadline(rank.NewGroup(run))
	if want := "Highest rate of 5 query types with p99<10ms: a 100/s to 500/s, b none found to 1,000/s"; h.Answers[0].Text != want {
		t.Errorf("%q, want %q", h.Answers[0].Text, want)
	}
}
