package claims

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// book holds a document's printed figures, as if they had been measured at full size.
type book struct {
	d     *document.Document
	cells map[entry]float64
}

// entry is a figure of a system at a place of an experiment: rate, disk and input
// of loads; seconds, rate, server-cpu, client-user, client-system and client-share of query
// types and, where these make sense, of loads.
type entry struct{ experiment, place, system, subject, figure string }

// note sets a figure, unless one is known.
func (b *book) note(e entry, v float64) {
	if _, known := b.cells[e]; !known && v > 0 {
		b.cells[e] = v
	}
}

// figureNames maps metrics of printed figures to their names here.
var figureNames = map[string]string{
	"rows_per_s": "rate", "metrics_per_s": "rate", "load_s": "load-seconds", "wall_s": "seconds", "mean_ms": "seconds", "queries_per_s": "rate",
	"client_user_s": "client-user", "client_system_s": "client-system", "client_cpu_percent": "client-share", "disk_size": "disk", "cpu_time": "server-cpu",
}

// places returns the points of a printed figure: by the axes of the experiment, at every number
// of workers if it does not name one.
func (b *book) places(e *document.Experiment, f *printed.Figure) []string {
	list := []map[string]string{{}}
	for name, path := range e.Axes {
		values := []string{f.Parameters[name]}
		if name == "workers" && values[0] == "" {
			values = []string{"1", "2", "4", "8"}
		}
		var longer []map[string]string
		for _, value := range values {
			for _, place := range list {
				longer = append(longer, withValue(place, path, cmp.Or(e.Values[path][value], value)))
			}
		}
		list = longer
	}
	var texts []string
	for _, place := range list {
		texts = append(texts, words(place))
	}
	return texts
}

// read notes printed figures as those of an experiment, at places by the axes of another one
// or the same.
func (b *book) read(name, axesOf, figures string) {
	e, _ := b.d.Experiment(axesOf)
	ratios := make(map[entry]float64) // of a system, whose subject is the other one
	for _, f := range printed.Figures(b.d.Number, figures) {
		for _, place := range b.places(e, &f) {
			s, known := b.d.System(f.System)
			figure := figureNames[f.Metric]
			of, to, isRatio := strings.Cut(f.System, "/")
			x, knownOf := b.d.System(of)
			y, knownTo := b.d.System(to)
			value := f.Best()
			switch {
			case known && f.Metric == "space_saved_percent":
				b.note(entry{name, place, s.Driver, "", "disk"}, 1e6*(100-value))
				b.note(entry{name, place, s.Driver, "", "input"}, 1e8)
			case known && figure != "":
				if f.Metric == "mean_ms" || f.Metric == "wall_s" { // 1,000 queries, which 1 worker and more runs
					value /= 1000
				}
				if workers := f.Parameters["workers"]; f.Metric == "wall_s" && workers != "" {
					value *= float64(workers[0] - '0')
				}
				if f.Metric == "queries_per_s" && value == 0 {
					value = 0.05 // rounded to one digit
				}
				b.note(entry{name, place, s.Driver, f.Parameters["query"], figure}, value)
			case isRatio && knownOf && knownTo && f.Parameters["vgroups"] != "24":
				switch f.Metric {
				case "ratio_percent":
					value /= 100
				case "excess_percent":
					value = 1 + value/100
				case "ratio", "ratio_at_least":
				default:
					continue
				}
				key := entry{name, place, x.Driver + "/" + y.Driver, f.Parameters["query"], figureNames[f.Parameters["of"]]}
				if _, has := ratios[key]; !has && key.figure != "" {
					ratios[key] = value
				}
			}
		}
	}
	// A ratio relates one figure to another one, which may be any.
	for key, ratio := range ratios {
		x, y := key, key
		x.system, y.system, _ = strings.Cut(key.system, "/")
		switch {
		case b.cells[y] > 0:
			b.note(x, b.cells[y]*ratio)
		case b.cells[x] > 0:
			b.note(y, b.cells[x]/ratio)
		case x.system == b.d.Systems[0].Driver: // other ratios may refer to it, too
			b.note(x, 1e9)
			b.note(y, 1e9/ratio)
		default:
			b.note(y, 1e9)
			b.note(x, 1e9*ratio)
		}
	}
}

// figureOfProse is a figure that only one place of the document has.
func (b *book) figureOfProse(t *testing.T, experiment, metric string, about ...string) float64 {
	t.Helper()
	for _, f := range printed.Figures(b.d.Number, experiment) {
		if f.Metric == metric && !slices.ContainsFunc(about, func(a string) bool {
			name, value, _ := strings.Cut(a, "=")
			return name == "system" && !strings.HasPrefix(f.System, value) || name != "system" && f.Parameters[name] != value
		}) {
			return f.Best()
		}
	}
	t.Fatalf("%s: no %s of %s, %v", b.d.Name, metric, experiment, about)
	return 0
}

// printedBook is a document's own book.
func printedBook(t *testing.T, d *document.Document) *book {
	b := &book{d, make(map[entry]float64)}
	switch d.Number {
	case "000":
		for system, driver := range map[string]string{"InfluxDB": "influxdb", "TimescaleDB": "timescaledb"} {
			saved := b.figureOfProse(t, "continuous-aggregates", "time_saved_percent", "system="+system, "operation=aggregate")
			b.note(entry{"continuous-aggregates", "", driver, "double-groupby-1", "seconds"}, 100)
			b.note(entry{"continuous-aggregates", "", driver, result.FromAggregate("double-groupby-1", "1h"), "seconds"}, 100-saved)
			for form, queryType := range map[string]string{"raw": "double-groupby-1", "precomputed": result.FromAggregate("double-groupby-1", "1h")} {
				b.note(entry{"continuous-aggregates", "", driver, queryType, document.ReadBytes}, 1e6*b.figureOfProse(t, "continuous-aggregates", "data_processed_mb", "system="+system, "operation=aggregate", "form="+form))
			}
		}
	case "001":
		for _, scale := range []string{"100", "1000", "10000", "100000"} { // its 10 workers correspond to 8 of the other systems
			b.note(entry{"load", "load.workers=8, workload.scale=" + scale, "griddb", "", "rate"}, b.figureOfProse(t, "load-cardinality", "rows_per_s", "system=GridDB", "workers=10", "scale="+scale))
		}
		b.note(entry{"order", "workload.rows-in-a-row=1", "griddb", "", "rate"}, 100)
		b.note(entry{"order", "workload.rows-in-a-row=10", "griddb", "", "rate"}, 100+b.figureOfProse(t, "ingestion-order", "gain_percent"))
	case "002":
		for _, scale := range []string{"100", "4000", "100000", "1000000", "10000000"} { // as the text says of its comparison
			b.note(entry{"load", "workload.scale=" + scale, "tdengine", "", "rate"}, b.figureOfProse(t, "vgroups", "metrics_per_s", "scale="+scale, "vgroups=6"))
		}
		for system, driver := range map[string]string{"TDengine": "tdengine", "TimescaleDB": "timescaledb"} {
			b.note(entry{"load-resources", "workload.scale=1000000", driver, "", "client-share"}, b.figureOfProse(t, "load-resources", "cpu_percent_peak", "system="+system, "side=client"))
		}
		b.read("load", "load", "disk")
		b.read(d.Claims[19].Rules[0].Of, "queries-100", "query-100") // C20 compares table 8 with table 7, whichever experiment repeats it
	case "003":
		b.note(entry{"queries", "", "timescaledb", "precise-point", "seconds"}, 1)
		b.note(entry{"queries", "", "kairosdb", "precise-point", "seconds"}, b.figureOfProse(t, "query-q1", "ratio"))
	case "004":
		b.read("load", "load", "compression")
	}
	for i := range d.Experiments {
		for _, name := range d.Experiments[i].Printed {
			b.read(d.Experiments[i].Name, d.Experiments[i].Name, name)
		}
	}
	return b
}

// measured are runs that have the book's figures, six times each.
func (b *book) toRuns() Measured {
	m := Measured{Size: document.Full, Runs: make(map[string][]*result.Run)}
	runs := make(map[string]*result.Run)
	keys := slices.SortedFunc(maps.Keys(b.cells), func(x, y entry) int { return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	for _, e := range keys {
		var parameters result.Parameters
		options := make(map[string]string)
		for _, p := range strings.Split(e.place, ", ") {
			path, value, ok := strings.Cut(p, "=")
			if _, name, of := option(path); of {
				options[name] = value
			} else if ok {
				parameters = append(parameters, result.Parameter{Path: path, Value: value})
			}
		}
		at := e.experiment + parameters.String()
		r := runs[at]
		if r == nil {
			r = &result.Run{ID: fmt.Sprintf("20260101-000000-%04d", len(runs)), Status: result.Complete, Place: result.Place{Parameters: parameters}, Dataset: result.Dataset{FormatBytes: map[string]int64{}}}
			runs[at], m.Runs[e.experiment] = r, append(m.Runs[e.experiment], r)
		}
		i := slices.IndexFunc(r.Targets, func(t result.Target) bool { return t.Driver == e.system && maps.Equal(t.Options, options) })
		if i < 0 {
			i = len(r.Targets)
			t := result.Target{Name: e.system + words(options), Driver: e.system, Options: options}
			for n := range 6 {
				t.Repeats = append(t.Repeats, result.Repeat{Number: n + 1})
			}
			r.Targets = append(r.Targets, t)
		}
		b.fill(r, &r.Targets[i], e)
	}
	return m
}

// fill adds a figure to a target.
func (b *book) fill(r *result.Run, t *result.Target, e entry) {
	v := b.cells[e]
	s, _ := b.d.System(e.system)
	switch e.figure {
	case "input":
		r.Dataset.FormatBytes[s.Input] = int64(v)
		return
	case "server-cpu":
		uses := result.Resources{Source: result.ServerSource(t.Name), Period: 1}
		for at := range 60 {
			uses.Add(float64(at), map[result.Metric]float64{result.CPU: float64(at) * v})
		}
		r.Resources = append(r.Resources, uses)
	}
	for i := range t.Repeats {
		repeat := &t.Repeats[i]
		cell := result.Cell{From: float64(10 * i), To: float64(10*i) + 8.5, Client: &result.Client{}}
		if e.subject == "" {
			const rows = 1_000_000_000
			if repeat.Load == nil {
				repeat.Load = &result.Load{Rows: rows, Cell: cell, Census: []result.CensusResult{{Table: "cpu", Expected: rows, Counted: rows}}}
			}
			switch l := repeat.Load; e.figure {
			case "load-seconds":
				l.Settled = v
			case "rate":
				if b.cells[entry{e.experiment, e.place, e.system, "", "load-seconds"}] == 0 {
					l.Settled = rows / v
				}
			case "disk":
				l.DiskBytes = int64(v)
			case "client-share":
				l.Client.Share = result.Value(v)
			}
			continue
		}
		q := repeat.Type(e.subject)
		if q == nil {
			repeat.Queries = append(repeat.Queries, result.Queries{Type: e.subject, Cell: cell, Workers: 1, Executed: 3, Service: result.Latency{Summary: measure.Summary{Count: 3}}, Verdict: result.Verdict{Checked: 3, Rows: 3}})
			q = &repeat.Queries[len(repeat.Queries)-1]
		}
		switch e.figure {
		case "seconds":
			q.Each = []float64{v, v, v}
		case "rate":
			q.PerSecond = v
			if len(q.Each) == 0 {
				q.Each = []float64{1 / v, 1 / v, 1 / v}
			}
		case document.ReadBytes:
			q.Read = &result.Read{EachBytes: []float64{v, v, v, v, v, v}}
		case "client-user":
			q.Client.User = result.Value(v)
		case "client-system":
			q.Client.System = result.Value(v)
		case "client-share":
			q.Client.Share = result.Value(v)
		}
	}
}

// A document's own figures satisfy the rules of its claims, or the claim names (against) the
// ones that contradict it. The number of claims that their own figures decide is checked,
// so that none gets lost.
func TestOwnFigures(t *testing.T) {
	decided := make(map[string]int)
	var contradicted []string
	for i := range document.All() {
		d := &document.All()[i]
		m := printedBook(t, d).toRuns()
		for _, c := range d.Claims {
			some := false
			for j := range c.Rules {
				r := rule{d: d, m: m, Rule: &c.Rules[j]}
				if r.Rows > 0 || r.Input != nil {
					continue // these are computed, and not printed figures
				}
				for _, p := range r.parts() {
					name := fmt.Sprintf("%s-%s, rule %d: %s, %.3g times", d.Name, c.ID, j+1, p.What, p.Advantage.Figure)
					some = some || p.Verdict != NotTested
					switch {
					case p.Verdict == NotTested || p.Verdict == Holds:
					case c.Against == "":
						t.Errorf("%s: %s by the document's own figures; fix the rule, or write into against what contradicts the claim", name, p.Verdict)
					default:
						contradicted = append(contradicted, d.Name+"-"+c.ID)
					}
				}
			}
			if some {
				decided[d.Name]++
			}
		}
	}
	if want := map[string]int{"drouzas-2022": 10, "fixstars-2023": 14, "taos-2023": 21, "tsinghua-2019": 1, "ntua-2024": 21, "taos-iot-2023": 13, "questdb-2021": 10}; !maps.Equal(decided, want) {
		t.Errorf("the number of claims that their own figures decide: %v, want %v", decided, want)
	}
	if got, want := slices.Compact(contradicted), []string{"taos-2023-C19", "taos-2023-C20", "ntua-2024-C14"}; !slices.Equal(got, want) {
		t.Errorf("their own figures contradict %v, want %v", got, want)
	}
}

// Each figure that a page shows of an experiment can be computed of any run of it, or there is
// a reason: GridDB's own clients, say, which few have a server for.
func TestFiguresOfEveryExperiment(t *testing.T) {
	for i := range document.All() {
		d := &document.All()[i]
		for j := range d.Experiments {
			e := &d.Experiments[j]
			r := &result.Run{Status: result.Complete}
			for _, s := range d.Systems {
				r.Targets = append(r.Targets, result.Target{Name: s.Driver, Driver: s.Driver, Repeats: []result.Repeat{{Number: 1, Load: &result.Load{Rows: 100, Settled: 2}}}})
			}
			all := ShownOf(d, e, []*result.Run{r})
			for at := range all {
				s := &all[at]
				types := s.Types
				if !s.Queries {
					types = []string{""}
				}
				for _, query := range types {
					if got, why := s.Estimate(d, e, Measured{}, r, d.Systems[0].Driver, query); got.N == 0 && why == "" {
						t.Errorf("%s, %s: no %s %s, and no reason", d.Name, e.Name, s.Name, query)
					}
				}
			}
		}
	}
}
