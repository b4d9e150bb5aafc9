package compare

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// Six runs a side: a system whose load, disk use and two of its types became
// 10 % worse, in the words of each figure.
func TestRuns(t *testing.T) {
	c := mustCompare(t, system(1, 6, 1), system(2, 6, 1.1))
	if len(c.Notes) != 0 || len(c.Targets) != 1 || len(c.A.Runs) != 6 {
		t.Fatalf("%+v", c)
	}
	target := &c.Targets[0]
	for _, want := range []struct {
		subject string
		metric  Metric
		ratio   float64
		verdict Verdict
	}{
		{"first", Median, 1.1, Slower}, {"second", Median, 1.1, Slower}, {"third", Median, 1, NoDifference},
		{"first", Mean, 1.1, Slower}, {"second", P95, 1.1, Slower}, {"third", P90, 1, NoDifference},
		{AllTypes, GeoMean, math.Pow(1.1, 2./3), Slower},
		{LoadSubject, Load, 1 / 1.1, Slower}, {LoadSubject, Sent, 1 / 1.1, Slower},
		{LoadSubject, Disk, 1.1, Larger},
	} {
		f := target.figure(want.subject, want.metric)
		if math.Abs(f.Ratio.Figure-want.ratio) > 0.025 || f.Verdict != want.verdict || f.Method != AcrossRepeats || f.A.N != 6 || f.B.N != 6 {
			t.Errorf("%s %s: %v, %s, %s; want %.3f, %s", want.subject, want.metric, f.Ratio, f.Verdict, f.Method, want.ratio, want.verdict)
		}
	}
	if f := target.figure("first", Median); f.Family != 7 || // three types, their mean, three figures of loads
		f.Queries != 200 || f.Adjusted < f.P {
		t.Errorf("%+v", f)
	}
	if f := target.figure(LoadSubject, Acked); f.Verdict != NotCompared || f.Why != "n/a: the protocol does not acknowledge rows" {
		t.Errorf("not acknowledged: %s: %s", f.Verdict, f.Why)
	}
	back := mustCompare(t, system(2, 6, 1.1), system(1, 6, 1)).Targets[0]
	if f := back.figure("first", Median); f.Verdict != Faster {
		t.Errorf("the other way round: %s", f.Verdict)
	}
	if f := back.figure(LoadSubject, Disk); f.Verdict != Smaller {
		t.Errorf("the disk, the other way round: %s", f.Verdict)
	}
}

// A difference that can explain a ratio is listed. One that bars a verdict leaves none
// unless it is requested explicitly, and conditions then cannot be judged.
func TestTerms(t *testing.T) {
	for name, c := range map[string]struct {
		change       func(*result.Run)
		want         string
		load, median Verdict
	}{
		"clients":    {func(r *result.Run) { r.Agents = make([]result.Agent, 4) }, "clients: 1 (A), 4 (B)", Slower, Slower},
		"memory":     {func(r *result.Run) { r.Targets[0].ServerMemory = 1 << 30 }, "server memory: all of its host's (A), at most 1.0 GiB (B)", Slower, Slower},
		"index":      {func(r *result.Run) { r.Targets[0].Options = map[string]string{"index": "off", "port": "1"} }, "option index: none (A), off (B)", Slower, Slower},
		"batch":      {func(r *result.Run) { r.Targets[0].Repeats[0].Load.BatchSize = 1000 }, "batch size: none (A), 1,000 (B)", Slower, Slower},
		"workers":    {eachQuery(func(q *result.Queries) { q.Workers = 8 }), "query workers: none (A), 8 (B)", Slower, Slower},
		"open loop":  {eachQuery(func(q *result.Queries) { q.Open = &result.OpenLoop{Schedule: "100/s", EachResponse: true} }), "loop: closed (A), open, 100/s (B)", Slower, NoVerdict},
		"cold":       {eachQuery(func(q *result.Queries) { q.Cache, q.Cold = "dropped", true }), "cache: warm (A), cold (B)", Slower, NoVerdict},
		"durability": {func(r *result.Run) { r.Targets[0].Durability = "relaxed" }, "durability: as-shipped (A), relaxed (B)", NoVerdict, NoVerdict},
		"settings":   {func(r *result.Run) { r.Targets[0].Description.Durability = "no fsync" }, "durability: as-shipped (A), as-shipped: no fsync (B)", NoVerdict, NoVerdict},
		"host":       {func(r *result.Run) { r.Host.Cores = 64 }, "host: server elsewhere (A), 64 cores; server elsewhere (B)", NoVerdict, NoVerdict},
	} {
		a, b := system(1, 6, 1), system(2, 6, 1.1)
		for _, r := range b.Runs {
			c.change(r)
		}
		got := mustCompare(t, a, b)
		target := &got.Targets[0]
		if len(target.Terms) != 1 || target.Terms[0].String() != c.want {
			t.Errorf("%s: %v, want %s", name, target.Terms, c.want)
		}
		for f, want := range map[*Figure]Verdict{target.figure("first", Median): c.median, target.figure(AllTypes, GeoMean): c.median, target.figure(LoadSubject, Load): c.load} {
			if f.Verdict != want || want == NoVerdict && (f.Cause != DifferentTerms || f.Why != c.want || f.Significant()) {
				t.Errorf("%s: %s %s: %s, %s: %s", name, f.Subject, f.Metric, f.Verdict, f.Cause, f.Why)
			}
		}
		for _, text := range []string{"geomean > +5%", "geomean > +5%!"} {
			conditions, err := ParseConditions(text)
			if err != nil {
				t.Fatal(err)
			}
			holds, open, _ := got.Check(conditions)
			if barred := c.median == NoVerdict; barred != (len(holds) == 0) || barred != (len(open) == 1) {
				t.Errorf("%s: %s: holds %v, open %v", name, text, holds, open)
			}
		}
		wanted, err := Runs(a, b, Options{Different: true})
		if err != nil {
			t.Fatal(err)
		}
		if f := wanted.Targets[0].figure("first", Median); f.Verdict != Slower || len(wanted.Targets[0].Terms) != 1 {
			t.Errorf("%s, all the same: %s: %s", name, f.Verdict, f.Why)
		}
	}
	// Targets of one run differ exactly in the properties to compare.
	one := system(1, 6, 1).Runs[0]
	other := one.Targets[0]
	other.Name, other.Durability = "other", "relaxed"
	one.Targets = append(one.Targets, other)
	if got := mustCompare(t, Side{[]*result.Run{one}, "duck"}, Side{[]*result.Run{one}, "other"}).Targets[0]; len(got.Terms) != 1 || got.Terms[0].Bars {
		t.Errorf("in one run: %v", got.Terms)
	}
}

// eachQuery changes all queries of a run.
func eachQuery(change func(*result.Queries)) func(*result.Run) {
	return func(r *result.Run) {
		queries := r.Targets[0].Repeats[0].Queries
		for i := range queries {
			change(&queries[i])
		}
	}
}

// A side with a wrong answer is given no verdict in any figure, and has no mean; nor has a
// condition one.
func TestWrongAnswersHaveNoPlace(t *testing.T) {
	a, b := system(1, 6, 1), system(2, 6, 0.5)
	q := b.Runs[3].Targets[0].Repeats[0].Type("third")
	q.Withheld, q.Verdict.Difference = "query 3: a row is missing", "query 3: a row is missing"
	for _, different := range []bool{false, true} {
		got, err := Runs(a, b, Options{Different: different})
		if err != nil {
			t.Fatal(err)
		}
		target := &got.Targets[0]
		if target.UnrankedA != "" || target.UnrankedB != "wrong answers in third" {
			t.Errorf("%q, %q", target.UnrankedA, target.UnrankedB)
		}
		for i := range target.Figures {
			if f := &target.Figures[i]; f.Verdict != NoVerdict && f.Verdict != NotCompared || f.Significant() {
				t.Errorf("%s %s: %s", f.Subject, f.Metric, f.Verdict)
			}
		}
		if f := target.figure(AllTypes, GeoMean); f.Verdict != NotCompared || f.Why != "B: wrong answers in third" {
			t.Errorf("the mean: %s: %s", f.Verdict, f.Why)
		}
		if f := target.figure("first", Median); f.Cause != NotRanked || f.Why != "B: wrong answers in third" {
			t.Errorf("a type that was verified: %s: %s", f.Cause, f.Why)
		}
	}
}

// Repeats within a run are as good as those of several runs.
func TestRepeatsInOneRun(t *testing.T) {
	several := mustCompare(t, system(1, 6, 1), system(2, 6, 1.1))
	var sides [2]Side
	for i, s := range []Side{system(1, 6, 1), system(2, 6, 1.1)} {
		all := run(s.Runs[0].ID, result.Target{Name: "duck", Driver: "duckdb"})
		for n, r := range s.Runs {
			*all.Targets[0].RepeatOf(n + 1) = result.Repeat{Number: n + 1, Load: r.Targets[0].Repeats[0].Load, Queries: r.Targets[0].Repeats[0].Queries}
		}
		sides[i] = Side{Runs: []*result.Run{all}}
	}
	one := mustCompare(t, sides[0], sides[1])
	for _, m := range ofQueries() {
		if a, b := several.Targets[0].figure("first", m), one.Targets[0].figure("first", m); a.P != b.P || a.Ratio != b.Ratio {
			t.Errorf("%s: %v and %v", m, a.Ratio, b.Ratio)
		}
	}
	if a, b := several.Targets[0].figure(LoadSubject, Load), one.Targets[0].figure(LoadSubject, Load); a.P != b.P || a.Ratio != b.Ratio {
		t.Errorf("loads: %v and %v", a.Ratio, b.Ratio)
	}
}

// Too few repeats never make a verdict, however clear the difference, and the
// required number is named.
func TestTooFewRepeats(t *testing.T) {
	for repeats, want := range map[int]string{
		1: "one repeat a side does not show what differs from repeat to repeat, 6 a side would",
		3: "too few repeats: 3 and 3, 6 a side would do",
		5: "too few repeats: 5 and 5, 6 a side would do", // seven figures: 7 · 0.0079
	} {
		f := mustCompare(t, system(1, repeats, 1), system(2, repeats, 1.5)).Targets[0].figure("first", Median)
		if f.Verdict != NoVerdict || f.Why != want || f.Ratio.Figure < 1.4 {
			t.Errorf("%d repeats: %s: %s", repeats, f.Verdict, f.Why)
		}
		if f.Interval == nil || f.Interval.Lo.Figure < 1.3 {
			t.Errorf("%d repeats: interval %+v", repeats, f.Interval)
		}
	}
	f := mustCompare(t, system(1, 6, 1), system(2, 6, 1.5)).Targets[0].figure("first", Median)
	if f.Verdict != Slower {
		t.Errorf("six repeats: %s: %s", f.Verdict, f.Why)
	}
}

// Only queries that every repeat got to take part.
func TestCommonQueries(t *testing.T) {
	a := Side{Runs: []*result.Run{run("a", newTarget("x", "k", queries("q", 1, 1, 1, 9, 9, 9, 9)))}}
	b := Side{Runs: []*result.Run{run("b", newTarget("x", "k", queries("q", 2, 0, 2)))}}
	f := mustCompare(t, a, b).Targets[0].figure("q", Median)
	if f.Queries != 2 || f.Ratio.Figure != 2 || f.A.Median.Figure != 1 {
		t.Errorf("%d queries, %v, A %v", f.Queries, f.Ratio, f.A.Median)
	}
	none := Side{Runs: []*result.Run{run("b", newTarget("x", "k", queries("q", 0, 0, 0, 0, 0, 0, 0, 5)))}}
	if f := mustCompare(t, a, none).Targets[0].figure("q", Median); f.Verdict != NotCompared || f.Why != noneInCommon {
		t.Errorf("%s: %s", f.Verdict, f.Why)
	}
}

// A missing figure is listed with its reason and the other side's figure.
func TestMissing(t *testing.T) {
	wrong := queries("q", 1, 2, 3)
	wrong.Verdict.Difference = "query 1, row 2: 5, found 6"
	wrong.Withheld = "a wrong answer"
	noRows := queries("q", 1, 2, 3)
	noRows.Verdict.Empty = 10
	unchecked := queries("q", 1, 2, 3)
	unchecked.Verdict = result.Verdict{}
	failed := newTarget("x", "k")
	failed.Failure = "disk full"
	a := Side{Runs: []*result.Run{run("a", newTarget("x", "k", queries("q", 5, 6, 7)))}}
	for want, b := range map[string]result.Target{
		"B: withheld: a wrong answer":              newTarget("x", "k", wrong),
		"B: empty: the right answers have no rows": newTarget("x", "k", noRows),
		"B: not verified":                          newTarget("x", "k", unchecked),
		"B: n/a: no such query":                    newTarget("x", "k", result.Queries{Type: "q", Unsupported: "no such query"}),
		"B: not run":                               newTarget("x", "k"),
		"B: failed: disk full":                     failed,
		"B: repeat 2: withheld: a wrong answer":    newTarget("x", "k", queries("q", 1, 2, 3), wrong),
	} {
		c := mustCompare(t, a, Side{Runs: []*result.Run{run("b", b)}})
		f := c.Targets[0].figure("q", Median)
		if f.Verdict != NotCompared || f.Why != want || f.A.Median.Figure != 6 || f.Ratio.Bound != stats.Unknown {
			t.Errorf("%s: %s, A %v; want %s", f.Verdict, f.Why, f.A.Median, want)
		}
		if strings.Contains(want, "failed: ") && !slices.Contains(c.Targets[0].Notes, "B: x failed in run 1 of 1: disk full") {
			t.Errorf("notes %v", c.Targets[0].Notes)
		}
	}
}

// A query that was cut off counts as at least its limit.
func TestCutOff(t *testing.T) {
	side := func(id string, each ...float64) Side {
		s := Side{}
		for i := range 6 {
			times := slices.Clone(each)
			times[0] *= 1 + 0.001*float64(i)
			s.Runs = append(s.Runs, run(id+string(rune('a'+i)), newTarget("x", "k", queries("q", times...))))
		}
		return s
	}
	target := mustCompare(t, side("a", 1, 1.1, 1.2, 1.3), side("b", 2, -30, -30, -30)).Targets[0]
	f := target.figure("q", Median)
	if f.Verdict != Slower || f.Ratio.Bound != stats.AtLeast || f.Ratio.Figure < 20 || f.B.Median.String() != "≥30" || f.B.Censored != 6 {
		t.Errorf("%s: %v, B %v", f.Verdict, f.Ratio, f.B.Median)
	}
	// Where both are cut off nothing is known, even if one is cut off more often.
	var often, always Side // in 11 of 20 runs, and in all
	for i := range 20 {
		id, each := string(rune('a'+i)), []float64{1, -30, -30, -30}
		always.Runs = append(always.Runs, run("b"+id, newTarget("x", "k", queries("q", each...))))
		if i >= 11 {
			each = []float64{1, 1.1, 1.2, 1.3}
		}
		often.Runs = append(often.Runs, run("a"+id, newTarget("x", "k", queries("q", each...))))
	}
	for _, a := range []Side{side("a", 1, -30, -30, -30), often} {
		f := mustCompare(t, a, always).Targets[0].figure("q", Median)
		if f.Verdict != NoVerdict || f.Cause != Scattered || f.Ratio.Bound != stats.Unknown || f.Decidable() {
			t.Errorf("both: %s, %s: %v, p %v", f.Verdict, f.Cause, f.Ratio, f.P)
		}
	}
}

// If types are looked at one by one, only the one with different queries is not
// compared, and is not part of the figures over all types.
func TestByType(t *testing.T) {
	a, b := system(1, 6, 1), system(2, 6, 1)
	for side, s := range map[string]Side{"f": a, "g": b} {
		for _, r := range s.Runs {
			r.QuerySets = []result.QuerySet{{Type: "first", Count: 200, Definition: side}, {Type: "second", Count: 150, Definition: "both"}}
		}
	}
	if _, err := Runs(a, b, Options{}); !errors.Is(err, ErrDifferent) {
		t.Errorf("both as a whole: %v", err)
	}
	for name, c := range map[string]struct {
		opts  Options
		types int
	}{"by type": {Options{ByType: true, Beside: []Side{a, b}}, 2}, "even different": {Options{Different: true}, 3}} {
		got, err := Runs(a, b, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		first, second, load := got.Targets[0].figure("first", Median), got.Targets[0].figure("second", Median), got.Targets[0].figure(LoadSubject, Load)
		if (first.Verdict == NotCompared) != (c.types == 2) || c.types == 2 && first.Why != otherQueries {
			t.Errorf("%s: different queries: %s: %s", name, first.Verdict, first.Why)
		}
		if second.Verdict != NoDifference || load.Verdict != NoDifference {
			t.Errorf("%s: the same queries: %s %s; the load: %s %s", name, second.Verdict, second.Why, load.Verdict, load.Why)
		}
		if all := got.Targets[0].figure(AllTypes, GeoMean); all.Types != c.types {
			t.Errorf("%s: the mean is over %d types", name, all.Types)
		}
	}
	// A third side with other queries removes none of the queries that the first two share.
	third := system(3, 6, 1)
	for _, r := range third.Runs {
		r.QuerySets = []result.QuerySet{{Type: "second", Count: 10, Definition: "other"}}
		q := &r.Targets[0].Repeats[0].Queries[1]
		q.Each = q.Each[:10]
	}
	got, err := Runs(a, b, Options{ByType: true, Beside: []Side{a, b, third}})
	if err != nil {
		t.Fatal(err)
	}
	if f := got.Targets[0].figure("second", Median); f.Queries != 150 {
		t.Errorf("beside a third side %d queries are compared", f.Queries)
	}
}

// Other data, other queries and the same run twice are refused with a one-line error,
// or noted.
func TestRefused(t *testing.T) {
	a, b := system(1, 1, 1), system(2, 1, 1)
	b.Runs[0].Dataset.Fingerprint = "g"
	other := b
	withQueries := func(s Side, fingerprint, definition string, count int) Side {
		s.Runs[0].QuerySets = []result.QuerySet{{Type: "first", Count: 5, Definition: "x"}, {Type: "lastpoint", Count: count, Fingerprint: fingerprint, Definition: definition}}
		return s
	}
	for _, c := range []struct {
		a, b Side
		want string
	}{
		{a, other, "runs a-1 and a-2 have different datasets (fingerprints f and g)"},
		{withQueries(system(1, 1, 1), "f", "b", 20), withQueries(system(2, 1, 1), "f", "c", 20), "runs a-1 and a-2 have different queries of type lastpoint"},
		{withQueries(system(1, 1, 1), "f", "b", 20), withQueries(system(2, 1, 1), "g", "c", 30), "runs a-1 and a-2 have different queries of type lastpoint"},
	} {
		_, err := Runs(c.a, c.b, Options{})
		if !errors.Is(err, ErrDifferent) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, c.want)
		}
		got, err := Runs(c.a, c.b, Options{Different: true})
		if err != nil || !strings.Contains(got.Notes[0], c.want) {
			t.Errorf("told to: %v", err)
		}
	}
	// Queries that were drawn in the same way are comparable, whatever their seed and number;
	// a run without a record of its queries is not.
	more := withQueries(system(2, 1, 1), "g", "b", 30)
	for _, first := range []Side{withQueries(system(1, 1, 1), "f", "b", 20), system(1, 1, 1)} {
		if _, err := Runs(first, more, Options{}); err != nil {
			t.Errorf("drawn in the same way: %v", err)
		}
	}
	for want, sides := range map[string][2]Side{
		"run a-1 would count twice":           {a, a},
		"run a-2 would count twice":           {a, {Runs: []*result.Run{system(2, 1, 1).Runs[0], system(2, 1, 1).Runs[0]}}},
		"no target of a-1 goes with one of b": {a, {Runs: []*result.Run{run("b")}}},
	} {
		if _, err := Runs(sides[0], sides[1], Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Targets go together by name, then by kind, then because nothing else is left.
func TestMatch(t *testing.T) {
	side := func(id, only string, targets ...string) Side {
		r := run(id)
		for _, text := range targets {
			name, kind, _ := strings.Cut(text, " ")
			r.Targets = append(r.Targets, newTarget(name, kind, queries("q", 1, 2)))
		}
		return Side{Runs: []*result.Run{r}, Target: only}
	}
	for _, c := range []struct {
		a, b  Side
		pairs string
		notes string
	}{
		{side("a", "", "x duck", "y duck"), side("b", "", "y duck", "x duck"), "x-x y-y", ""},
		{side("a", "", "old duck", "z quest"), side("b", "", "new duck", "z quest"), "z-z old-new", ""},
		{side("a", "", "x duck"), side("b", "", "y quest"), "x-y", ""},
		{side("a", "", "x duck"), side("b", "", "x duck", "y duck"), "x-x", "Target y is only in B."},
		{side("a", "x", "x duck", "y duck"), side("b", "y", "x duck", "y duck"), "x-y", ""},
	} {
		got := mustCompare(t, c.a, c.b)
		var pairs []string
		for _, p := range got.Targets {
			pairs = append(pairs, p.A.Name+"-"+p.B.Name)
		}
		if strings.Join(pairs, " ") != c.pairs || strings.Join(got.Notes, " ") != c.notes {
			t.Errorf("%v, notes %v; want %s, %s", pairs, got.Notes, c.pairs, c.notes)
		}
	}
}

// Whatever the figures are, JSON can say it.
func TestJSON(t *testing.T) {
	empty := Side{Runs: []*result.Run{run("z", newTarget("duck", "duckdb"))}}
	for _, c := range []*Comparison{
		mustCompare(t, system(1, 6, 1), system(2, 6, 1.1)), mustCompare(t, system(1, 1, 1), empty), mustCompare(t, system(1, 1, 1), system(2, 1, 1)),
	} {
		if _, err := json.Marshal(c); err != nil {
			t.Error(err)
		}
	}
}

// A load beside which an answer was wrong has no place in a comparison; other
// types have.
func TestLoadBesideWrongAnswers(t *testing.T) {
	a, b := system(1, 6, 1), system(2, 6, 1.1)
	for _, r := range b.Runs[:1] {
		q := r.Targets[0].Repeats[0].Type("first")
		q.Withheld, q.Verdict.Difference = "query 3: a row is missing", "query 3: a row is missing"
		pooled, err := r.Targets[0].Pool()
		if err != nil {
			t.Fatal(err)
		}
		r.Targets[0] = pooled
	}
	target := &mustCompare(t, a, b).Targets[0]
	for _, metric := range []Metric{Load, Sent, Disk} {
		f := target.figure(LoadSubject, metric)
		if f.Verdict != NotCompared || !strings.Contains(f.Why, "withheld: answers of the same target are wrong: first: query 3") || f.B.N > 0 {
			t.Errorf("%s: %s: %s, %+v", metric, f.Verdict, f.Why, f.B)
		}
	}
	if f := target.figure("second", Median); f.Verdict == NotCompared {
		t.Errorf("another type: %s: %s", f.Verdict, f.Why)
	}
}

// A note names the types whose queries both sides share, except types without other
// queries if the caches of the systems do not answer.
func TestSameQueries(t *testing.T) {
	side := func(n uint64, seed int64, first, second string, cache driver.ResultCache) Side {
		s := system(n, 1, 1)
		for _, r := range s.Runs {
			r.QuerySeed, r.QuerySets = seed, []result.QuerySet{{Type: "first", Fingerprint: first}, {Type: "second", Fingerprint: second}}
			r.Targets[0].ResultCache = cache
		}
		return s
	}
	off, on := driver.ResultCache{Name: "query cache", Off: "x=0"}, driver.ResultCache{Name: "query cache"}
	for name, c := range map[string]struct {
		a, b Side
		want string
	}{
		"other queries":           {side(1, 7, "f", "s", off), side(2, 8, "g", "t", off), ""},
		"a type without others":   {side(1, 7, "f", "s", off), side(2, 8, "g", "s", off), ""},
		"that a cache may answer": {side(1, 7, "f", "s", on), side(2, 8, "g", "s", on), "A and B ran the same queries of second: a cache may have answered those of the later run."},
		"one seed": {side(1, 7, "f", "s", off), side(2, 7, "f", "s", off),
			"A and B ran the same queries of first, second: a cache may have answered those of the later run, though none of the systems' own (query cache, off by x=0)."},
	} {
		notes := mustCompare(t, c.a, c.b).Targets[0].Notes
		if got := strings.Join(notes, "\n"); !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "same queries") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
