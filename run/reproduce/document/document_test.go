package document

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// The documents have 131 claims.
func TestAllClaimsAreThere(t *testing.T) {
	want := map[string]int{"000": 18, "001": 18, "002": 27, "003": 18, "004": 23, "005": 14, "006": 13}
	for _, d := range All() {
		if len(d.Claims) != want[d.Number] {
			t.Errorf("%s has %d claims, want %d", d.Name, len(d.Claims), want[d.Number])
		}
		delete(want, d.Number)
		for i, c := range d.Claims {
			if c.ID != fmt.Sprintf("C%d", i+1) {
				t.Errorf("%s: claim %d is called %s", d.Name, i+1, c.ID)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("documents are missing: %v", slices.Sorted(maps.Keys(want)))
	}
}

// points returns the points of an experiment in a size: the sweep's values for each.
func points(t *testing.T, d *Document, e *Experiment, size Size) []experiment.Point {
	t.Helper()
	whole, err := d.Make(e, size, []experiment.Target{{Name: "sqlite", Driver: "sqlite"}, {Name: "tested", Driver: e.Only}})
	if err != nil {
		t.Fatalf("%s, %s, %s: %v", d.Name, e.Name, size, err)
	}
	list, err := whole.Expand()
	if err != nil {
		t.Fatalf("%s, %s, %s: %v", d.Name, e.Name, size, err)
	}
	return list
}

// has reports whether a point has all the users values.
func has(p experiment.Point, where map[string]string) bool {
	for path, value := range where {
		found := false
		for _, set := range p.Parameters {
			found = found || set.Path == path && set.Value == value
		}
		for _, t := range p.Experiment.Targets { // values of options are targets of one run
			name, ok := strings.CutPrefix(path, "targets."+t.Driver+".")
			found = found || ok && t.Options[name] == value
		}
		if !found {
			return false
		}
	}
	return true
}

// Every point of a rule exists at full size, and in smaller sizes is either represented by another
// or declared lost.
func TestRulesAreAboutPoints(t *testing.T) {
	for _, d := range All() {
		for _, c := range d.Claims {
			for _, r := range c.Rules {
				e, _ := d.Experiment(r.Of)
				wheres := []map[string]string{r.Where}
				if c := r.Changes; c != nil && c.Against == "" {
					wheres = nil
					for _, value := range slices.Concat([]string{c.From, c.To}, c.Through) {
						wheres = append(wheres, addCondition(r.Where, c.Along, value))
					}
				}
				if m := r.More; m != nil {
					wheres = []map[string]string{addCondition(r.Where, m.Along, m.From), addCondition(r.Where, m.Along, m.To)}
				}
				if r.Peak != nil {
					wheres = []map[string]string{addCondition(r.Where, r.Peak.Along, r.Peak.At)}
				}
				for _, where := range wheres {
					for _, size := range Sizes() {
						if e.LeftOut(size) != "" {
							continue
						}
						list := points(t, &d, e, size)
						cut := e.Cut(size)
						ours, lost := make(map[string]string), false
						for path, value := range where {
							lost = lost || slices.Contains(cut.Lost[path], value)
							ours[path] = value
							if other, ok := cut.For[path][value]; ok {
								ours[path] = other
							}
						}
						found := slices.ContainsFunc(list, func(p experiment.Point) bool { return has(p, ours) })
						if found == lost {
							t.Errorf("%s-%s, %s in size %s: %v has a run: %t, and is said to be lost: %t", d.Name, c.ID, e.Name, size, ours, found, lost)
						}
					}
				}
			}
		}
	}
}

// A sweep over devices compares points with the same rows per device, as the document's own points
// have it: thinner series at one end would show their own effect.
func TestSweepsKeepRowsPerDevice(t *testing.T) {
	for _, d := range All() {
		for _, c := range d.Claims {
			for _, r := range c.Rules {
				along, ends := "", []string(nil)
				switch {
				case r.Changes != nil && r.Changes.Against == "":
					along, ends = r.Changes.Along, append([]string{r.Changes.From, r.Changes.To}, r.Changes.Through...)
				case r.More != nil:
					along, ends = r.More.Along, []string{r.More.From, r.More.To}
				}
				if along != "workload.scale" {
					continue
				}
				e, _ := d.Experiment(r.Of)
				cut := e.Cut(Small)
				share := 0.0
				for _, value := range ends {
					if cut.LeftOut != "" || slices.Contains(cut.Lost[along], value) {
						continue
					}
					list := points(t, &d, e, Small)
					at := slices.IndexFunc(list, func(p experiment.Point) bool {
						return has(p, addCondition(nil, along, cmp.Or(cut.For[along][value], value)))
					})
					extents, err := d.Extents(e, Small)
					if err != nil {
						t.Fatal(err)
					}
					here, own, err := extents.ScalesAt(list[at].Parameters)
					if err != nil {
						t.Fatal(err)
					}
					if now := here.RowsPerDevice / own.RowsPerDevice; share != 0 && math.Abs(now/share-1) > 0.001 {
						t.Errorf("%s-%s, %s=%s has %.4g of the document's rows per device, another point %.4g", d.Name, c.ID, along, value, now, share)
					} else {
						share = now
					}
				}
			}
		}
	}
}

func addCondition(where map[string]string, path, value string) map[string]string {
	all := map[string]string{path: value}
	maps.Copy(all, where)
	return all
}

// Printed figures of systems have a run at full size.
func TestPrintedFiguresHaveRuns(t *testing.T) {
	for _, d := range All() {
		for i := range d.Experiments {
			e := &d.Experiments[i]
			for _, name := range e.Printed {
				figures := printed.Figures(d.Number, name)
				if len(figures) == 0 {
					t.Errorf("%s, %s: no printed figure is of %q", d.Name, e.Name, name)
				}
				for _, f := range figures {
					_, known := d.System(f.System)
					if !known || e.Missing != "" || !slices.Contains([]string{"rows_per_s", "metrics_per_s", "queries_per_s", "mean_ms"}, f.Metric) {
						continue
					}
					where := make(map[string]string)
					for parameter, path := range e.Axes {
						value := f.Parameters[parameter]
						if other, ok := e.Values[path][value]; ok {
							value = other
						}
						where[path] = value
					}
					if !slices.ContainsFunc(points(t, &d, e, Full), func(p experiment.Point) bool { return has(p, where) }) {
						t.Fatalf("%s, %s: a printed figure has %v, and no run does", d.Name, e.Name, where)
					}
				}
			}
		}
	}
}

// "About 24 times" holds from 16 to 36 times, and "about a tenth" on both sides of 1.1, above 1.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		by          By
		least, most float64
	}{
		{By{}, 1, math.Inf(1)}, {By{AtLeast: 3}, 3, math.Inf(1)}, {By{AtMost: 2}, 1, 2},
		{By{About: 24}, 16, 36}, {By{About: 2.25}, 1.5, 3.375}, {By{About: 1.21}, 1.1, 1.331}, {By{About: 6, AtMost: 8}, 4, 8},
	} {
		same := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 }
		if least, most := c.by.Ends(); !same(least, c.least) || !same(most, c.most) {
			t.Errorf("%+v: %g to %g, want %g to %g", c.by, least, most, c.least, c.most)
		}
	}
}

// Each size describes its cuts.
func TestCutsAreSaid(t *testing.T) {
	for _, d := range All() {
		for _, e := range d.Experiments {
			for _, size := range []Size{Smoke, Small} {
				if e.LeftOut(size) == "" && e.Cut(size).Words == "" {
					t.Errorf("%s, %s: size %s does not list its cuts", d.Name, e.Name, size)
				}
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	head := "name: x\nsystems: [{driver: influxdb}, {driver: questdb}]\nexperiments: [{id: E1, name: load}, {id: E2, name: gone, missing: no time}]\nclaims: [{id: C1, says: it is fast"
	for _, c := range []struct{ claim, says string }{
		{"}]", "has either rules or a reason"},
		{", missing: no, rules: [{of: load, first: questdb}]}]", "has either rules or a reason"},
		{", rules: [{of: lode, first: questdb}]}]", `"lode", and the document has no such experiment`},
		{", rules: [{of: gone, first: questdb}]}]", "which cannot be run"},
		{", rules: [{of: load, first: questdb, order: [questdb, influxdb]}]}]", "has 2 of order"},
		{", rules: [{of: load, first: mysql}]}]", `names "mysql", and the document has no such system`},
		{", rules: [{of: load, first: questdb, figure: mean}]}]", `loads have no figure "mean"`},
		{", rules: [{of: load, types: [lastpoint], first: questdb, figure: disk}]}]", `query types have no figure "disk"`},
		{", rules: [{of: load, changes: {systems: [questdb], along: load.workers, from: \"1\", to: \"2\", goes: up}}]}]", `goes "up"`},
		{", rules: [{of: load, reach: {systems: [questdb]}}]}]", "one of at-least, at-most and about"},
		{", rules: [{of: load, reach: {systems: [questdb], at-least: 1, about: 1}}]}]", "one of at-least, at-most and about"},
		{", rules: [{of: load, about: 3, reach: {systems: [questdb], at-least: 1}}]}]", "which only order, first, changes, more and aggregate have"},
		{", rules: [{of: load, order: [questdb, influxdb], about: 3, at-least: 2}]}]", "write one of them"},
		{", rules: [{of: load, order: [questdb, influxdb], about: 0.5}]}]", "between which nothing lies"},
		{", rules: [{of: load, order: [questdb, influxdb], at-least: 3, at-most: 2}]}]", "between which nothing lies"},
		{", rules: [{of: load, at-most: 2, changes: {systems: [questdb], along: load.workers, from: \"1\", to: \"2\", goes: same}}]}]", "has a factor, and goes same"},
		{", rules: [{of: load, more: {system: questdb, than: [mysql], along: load.workers, from: \"1\", to: \"2\", goes: worse}}]}]", `names "mysql", and the document has no such system`},
		{", rules: [{of: load, more: {system: questdb, along: load.workers, from: \"1\", to: \"2\", goes: worse}}]}]", "more than nothing"},
		{", rules: [{of: load, more: {system: questdb, than: [influxdb], along: load.workers, from: \"1\", to: \"2\", goes: same}}]}]", `goes "same" more`},
		{", rules: [{of: load, alike: [questdb, mysql]}]}]", `names "mysql", and the document has no such system`},
		{", rules: [{of: load, order: [questdb, influxdb], metrics: 5}]}]", "metrics without rows"},
		{", rules: [{of: load, types: [lastpoint], fails: {systems: [questdb]}}]}]", "about loads that fail"},
		{", rules: [{of: load, fails: {systems: [mysql]}}]}]", `names "mysql", and the document has no such system`},
		{", rules: [{of: load, input: {smaller: mysql, than: questdb}}]}]", `names "mysql", and the document has no such system`},
		{", rules: [{of: load, input: {smaller: questdb, than: influxdb}}]}]", "about the input file of questdb, whose format"},
		{", rules: [{of: load, fisrt: questdb}]}]", "fisrt"},
	} {
		if _, err := Parse([]byte(head + c.claim)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q in it", c.claim, err, c.says)
		}
	}
}

// Keys that a size omits keep their value; lists are replaced.
func TestMakeMerges(t *testing.T) {
	d, ok := Find("drouzas-2022")
	if !ok {
		t.Fatal("the document is not there")
	}
	e, _ := d.Experiment("queries")
	small, err := d.Make(e, Small, nil)
	if err != nil {
		t.Fatal(err)
	}
	if small.Workload.Scale != 200 || small.Workload.Interval.String() != "10s" || small.Queries.Count != 1000 || len(small.Queries.Types) != 3 {
		t.Errorf("small has scale %d, interval %v, %d queries of %v", small.Workload.Scale, small.Workload.Interval, small.Queries.Count, small.Queries.Types)
	}
	if small.Name != "drouzas-2022-queries-small" || len(small.Notes) != 2 {
		t.Errorf("name %q, notes %q", small.Name, small.Notes)
	}
}

// A server's script gets only the variables of its system.
func TestVariables(t *testing.T) {
	d, ok := Find("tsinghua-2019")
	if !ok {
		t.Fatal("the document is not there")
	}
	want := map[string][]string{"kairosdb": {"TSMARK_HEAP=2g", "TSMARK_KAIROSDB=cassandra", "TSMARK_KAIROSDB_WAIT=100"}, "opentsdb": {"TSMARK_HEAP=2g", "TSMARK_OPENTSDB_FLUSH=200"}}
	for _, s := range d.Systems {
		if got := s.Variables(); !slices.Equal(got, want[s.Driver]) {
			t.Errorf("variables of %s: %v, want %v", s.Driver, got, want[s.Driver])
		}
	}
	two := System{Env: map[string]string{"B": "2", "A": "1"}}
	if got := two.Variables(); !slices.Equal(got, []string{"A=1", "B=2"}) {
		t.Errorf("two variables are %v", got)
	}
}

// A system is configured as in the document, unless the user overrides it.
func TestOptionsOfSystems(t *testing.T) {
	d, ok := Find("tsinghua-2019")
	if !ok {
		t.Fatal("the document is not there")
	}
	e, _ := d.Experiment("metrics")
	users := []experiment.Target{
		{Name: "opentsdb", Driver: "opentsdb", Options: map[string]string{"port": "1"}},
		{Name: "waits", Driver: "opentsdb", Options: map[string]string{"sync": "true"}},
		{Name: "kairosdb", Driver: "kairosdb"},
		{Name: "started", Driver: "kairosdb", Start: "kairosdb"},
	}
	made, err := d.Make(e, Small, users)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, target := range made.Targets {
		got = append(got, fmt.Sprint(target.Name, target.Options))
	}
	want := []string{"opentsdbmap[metric:table port:1 sync:false]", "waitsmap[metric:table sync:true]", "kairosdbmap[datastore:cassandra]", "startedmap[datastore:cassandra queue_wait:100ms]"}
	if !slices.Equal(got, want) {
		t.Errorf("options %v, want %v", got, want)
	}
	if len(users[0].Options) != 1 {
		t.Errorf("the caller's target has %v now", users[0].Options)
	}
}

// An experiment, and its cut, name the systems that take part. Systems of the user that the document does
// not have always do.
func TestSystemsOfExperiments(t *testing.T) {
	d, _ := Find("tsinghua-2019")
	var users []experiment.Target
	for _, driver := range []string{"influxdb", "kairosdb", "sqlite"} {
		users = append(users, experiment.Target{Name: "my-" + driver, Driver: driver})
	}
	for _, c := range []struct {
		experiment string
		size       Size
		want       string
	}{
		{"clients", Full, "my-influxdb my-sqlite"},
		{"metrics", Small, "my-kairosdb my-sqlite"},
		{"variations", Full, "my-influxdb my-kairosdb my-sqlite"},
		{"variations", Small, "my-influxdb my-sqlite"},
		{"layouts", Full, ""},
	} {
		e, _ := d.Experiment(c.experiment)
		var got []string
		for _, target := range d.Takes(e, c.size, users) {
			got = append(got, target.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s in size %s takes %q, want %q", c.experiment, c.size, got, c.want)
		}
	}
	text, err := files.ReadFile("tsinghua-2019.yaml")
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(text), "systems: [kairosdb, opentsdb]", "systems: [kairosdb, opentsbd]", 1)
	if _, err := Parse([]byte(wrong)); err == nil || !strings.Contains(err.Error(), `"opentsbd" takes part`) {
		t.Errorf("an unknown system in an experiment: %v", err)
	}
}

// Options of an experiment override the document's, a part of a span is computed for each point,
// and steps after loads are those of the systems that take part.
func TestOptionsOfExperiments(t *testing.T) {
	d, ok := Find("taos-2023")
	if !ok {
		t.Fatal("the document is not there")
	}
	e, _ := d.Experiment("load")
	users := []experiment.Target{
		{Name: "td", Driver: "tdengine", Options: map[string]string{"vgroups": "2"}},
		{Name: "ts", Driver: "timescaledb"},
		{Name: "mine", Driver: "timescaledb", Options: map[string]string{"chunk_interval": "1h"}},
	}
	for _, c := range []struct {
		size Size
		want []string
	}{
		{Small, []string{
			"td stt_trigger=1 ts chunk_interval=6h12m0s mine chunk_interval=1h",
		}},
		{Full, []string{
			"td stt_trigger=1 ts chunk_interval=62h0m0s mine chunk_interval=1h",
			"td stt_trigger=1 ts chunk_interval=8h0m0s mine chunk_interval=1h",
			"td stt_trigger= ts chunk_interval=15m0s mine chunk_interval=1h",
			"td stt_trigger= ts chunk_interval=15s mine chunk_interval=1h",
			"td stt_trigger= ts chunk_interval=15s mine chunk_interval=1h",
		}},
	} {
		made, err := d.Make(e, c.size, users)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(made.Load.After, []string{"columnstore"}) {
			t.Errorf("%s: after loads come %v", c.size, made.Load.After)
		}
		points, err := made.Expand()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range points {
			td, ts, mine := p.Experiment.Targets[0], p.Experiment.Targets[1], p.Experiment.Targets[2]
			got = append(got, fmt.Sprintf("%s stt_trigger=%s %s chunk_interval=%s %s chunk_interval=%s", td.Name, td.Options["stt_trigger"], ts.Name, ts.Options["chunk_interval"], mine.Name, mine.Options["chunk_interval"]))
			if td.Options["vgroups"] != "2" || td.Options["cachemodel"] != "last_row" {
				t.Errorf("TDengine has %v", td.Options)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s has %q, want %q", c.size, got, c.want)
		}
	}
	alone, err := d.Make(e, Small, users[:1])
	if err != nil || len(alone.Load.After) > 0 {
		t.Errorf("without TimescaleDB after loads come %v (%v)", alone.Load.After, err)
	}
}

// A smaller size has the options for a smaller machine.
func TestOptionsOfCuts(t *testing.T) {
	d, _ := Find("taos-2023")
	e, _ := d.Experiment("queries-100")
	for size, want := range map[Size]string{Small: "4", Full: "6"} {
		made, err := d.Make(e, size, []experiment.Target{{Name: "tdengine", Driver: "tdengine"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := made.Targets[0].Options["vgroups"]; got != want {
			t.Errorf("size %s has %s vgroups, want %s", size, got, want)
		}
	}
}
