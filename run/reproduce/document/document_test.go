package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// Their documents count 104 claims.
func TestAllClaimsAreThere(t *testing.T) {
	want := map[string]int{"000": 18, "001": 18, "002": 27, "003": 18, "004": 23}
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

// points are those of an experiment in a size: what a sweep sets in each.
func points(t *testing.T, d *Document, e *Experiment, size Size) []experiment.Point {
	t.Helper()
	whole, err := d.Make(e, size, []experiment.Target{{Name: "sqlite", Kind: "sqlite"}, {Name: "tested", Kind: e.Only}})
	if err != nil {
		t.Fatalf("%s, %s, %s: %v", d.Name, e.Name, size, err)
	}
	list, err := whole.Expand()
	if err != nil {
		t.Fatalf("%s, %s, %s: %v", d.Name, e.Name, size, err)
	}
	return list
}

// has reports whether a point has all these values.
func has(p experiment.Point, where map[string]string) bool {
	for path, value := range where {
		found := false
		for _, set := range p.Parameters {
			found = found || set.Path == path && set.Value == value
		}
		for _, t := range p.Experiment.Targets { // values of options are targets of one run
			name, ok := strings.CutPrefix(path, "targets."+t.Kind+".")
			found = found || ok && t.Options[name] == value
		}
		if !found {
			return false
		}
	}
	return true
}

// Every point that a rule is about is one of the full size, and in smaller sizes either has
// another that stands for it or is said to be lost.
func TestRulesAreAboutPoints(t *testing.T) {
	for _, d := range All() {
		for _, c := range d.Claims {
			for _, r := range c.Rules {
				e, _ := d.Experiment(r.Of)
				wheres := []map[string]string{r.Where}
				if r.Changes != nil && r.Changes.Against == "" {
					wheres = []map[string]string{with(r.Where, r.Changes.Along, r.Changes.From), with(r.Where, r.Changes.Along, r.Changes.To)}
				}
				if r.Peak != nil {
					wheres = []map[string]string{with(r.Where, r.Peak.Along, r.Peak.At)}
				}
				for _, where := range wheres {
					for _, size := range Sizes() {
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

func with(where map[string]string, path, value string) map[string]string {
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
				figures := printed.Of(d.Number, name)
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

// A size says in words what it cuts.
func TestCutsAreSaid(t *testing.T) {
	for _, d := range All() {
		for _, e := range d.Experiments {
			for _, size := range []Size{Smoke, Small} {
				if e.Missing == "" && e.Cut(size).Words == "" {
					t.Errorf("%s, %s: size %s does not say what it cuts", d.Name, e.Name, size)
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
		{", rules: [{of: lode, first: questdb}]}]", `"lode", which is no experiment`},
		{", rules: [{of: gone, first: questdb}]}]", "which cannot be run"},
		{", rules: [{of: load, first: questdb, order: [questdb, influxdb]}]}]", "has 2 of order"},
		{", rules: [{of: load, first: mysql}]}]", `names "mysql", which is no system`},
		{", rules: [{of: load, first: questdb, figure: mean}]}]", `loads have no figure "mean"`},
		{", rules: [{of: load, types: [lastpoint], first: questdb, figure: disk}]}]", `query types have no figure "disk"`},
		{", rules: [{of: load, changes: {systems: [questdb], along: load.workers, from: \"1\", to: \"2\", goes: up}}]}]", `goes "up"`},
		{", rules: [{of: load, reach: {systems: [questdb]}}]}]", "either at-least or about"},
		{", rules: [{of: load, reach: {systems: [questdb], at-least: 1, about: 1}}]}]", "either at-least or about"},
		{", rules: [{of: load, types: [lastpoint], fails: {systems: [questdb]}}]}]", "about loads that fail"},
		{", rules: [{of: load, fails: {systems: [mysql]}}]}]", `names "mysql", which is no system`},
		{", rules: [{of: load, input: {smaller: mysql, than: questdb}}]}]", `names "mysql", which is no system`},
		{", rules: [{of: load, input: {smaller: questdb, than: influxdb}}]}]", "about the input file of questdb, whose format"},
		{", rules: [{of: load, fisrt: questdb}]}]", "fisrt"},
	} {
		if _, err := Parse([]byte(head + c.claim)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q in it", c.claim, err, c.says)
		}
	}
}

// What a size leaves out is as in the whole; lists are replaced.
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
	if small.Workload.Scale != 200 || small.Workload.Interval.String() != "1m0s" || small.Queries.Count != 1000 || len(small.Queries.Types) != 3 {
		t.Errorf("small has scale %d, interval %v, %d queries of %v", small.Workload.Scale, small.Workload.Interval, small.Queries.Count, small.Queries.Types)
	}
	if small.Name != "drouzas-2022-queries-small" || len(small.Notes) != 2 {
		t.Errorf("name %q, notes %q", small.Name, small.Notes)
	}
}

// A server's script gets the variables of its system, and no other.
func TestVariables(t *testing.T) {
	d, ok := Find("tsinghua-2019")
	if !ok {
		t.Fatal("the document is not there")
	}
	want := map[string][]string{"opentsdb": {"TSMARK_OPENTSDB_FLUSH=200"}}
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

// A system is used as the document did, but for what the user says.
func TestOptionsOfSystems(t *testing.T) {
	d, ok := Find("tsinghua-2019")
	if !ok {
		t.Fatal("the document is not there")
	}
	e, _ := d.Experiment("clients")
	given := []experiment.Target{
		{Name: "opentsdb", Kind: "opentsdb", Options: map[string]string{"port": "1"}},
		{Name: "waits", Kind: "opentsdb", Options: map[string]string{"sync": "true"}},
		{Name: "kairosdb", Kind: "kairosdb"},
	}
	made, err := d.Make(e, Small, given)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, target := range made.Targets {
		got = append(got, fmt.Sprint(target.Name, target.Options))
	}
	want := []string{"opentsdbmap[port:1 sync:false]", "waitsmap[sync:true]", "kairosdbmap[]"}
	if !slices.Equal(got, want) {
		t.Errorf("options %v, want %v", got, want)
	}
	if len(given[0].Options) != 1 {
		t.Errorf("the caller's target has %v now", given[0].Options)
	}
}
