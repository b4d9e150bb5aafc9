package claims

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// description is a document of two systems, with one claim.
func description(t *testing.T, claim string) *document.Document {
	t.Helper()
	d, err := document.Parse([]byte(`name: made-up
number: "999"
systems: [{driver: questdb, printed: [QuestDB]}, {driver: influxdb, printed: [InfluxDB]}]
experiments:
  - id: E1
    name: load
    run: {}
    cuts: {small: {words: a part, run: {load: {workers: 2}}, for: {load.workers: {"8": "2", "10": "2"}}, lost: {load.workers: ["12"]}}}
claims:
  - {id: C1, says: it is said, ` + claim + "}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// seconds are the seconds of six loads of 1,000 rows.
type seconds [6]float64

func loadsOf(each float64) seconds {
	var r seconds
	for i := range r {
		r[i] = each * (1 + float64(i)/100)
	}
	return r
}

// run is a point of a sweep at which both systems were loaded six times.
func run(id, workers string, questdb, influxdb seconds) *result.Run {
	r := &result.Run{ID: id, Status: result.Complete, Place: result.Place{Parameters: result.Parameters{{Path: "load.workers", Value: workers}}}}
	for _, t := range []struct {
		kind  string
		loads seconds
	}{{"questdb", questdb}, {"influxdb", influxdb}} {
		target := result.Target{Name: t.kind, Driver: t.kind}
		for i, took := range t.loads {
			load := &result.Load{Rows: 1000, Metrics: 10000, Settled: took, Acked: took, Sent: took, DiskBytes: int64(1000 * took), Census: []result.CensusResult{{Table: "cpu", Expected: 1000, Counted: 1000}}}
			load.Cell = result.Cell{From: float64(10 * i), To: float64(10*i) + 8.5, Client: &result.Client{CPU: result.Value(took), User: result.Value(took)}}
			target.Repeats = append(target.Repeats, result.Repeat{Number: i + 1, Load: load})
		}
		target.Options = map[string]string{"cache": "on"}
		r.Targets = append(r.Targets, target)
		uses := result.Resources{Source: "server " + t.kind, Period: 1} // each second InfluxDB takes half a second of CPU, QuestDB a whole one
		for at := range 60 {
			cpu := float64(at)
			if t.kind == "influxdb" {
				cpu /= 2
			}
			memory := 1000 + float64(at)/10 // flat, as a whole
			if t.kind == "influxdb" {
				memory *= float64(at%10 + 1) // grows in each measurement, which takes 8.5 s of 10
			}
			uses.Add(float64(at), map[result.Metric]float64{result.CPU: cpu, result.RSS: memory})
		}
		r.Resources = append(r.Resources, uses)
	}
	slow := slower(r.Targets[0], 5)
	slow.Name, slow.Options = "questdb-cache-off", map[string]string{"cache": "off"}
	r.Targets = append(r.Targets, slow)
	return r
}

// slower returns a target whose loads take the given multiple of the time.
func slower(t result.Target, times float64) result.Target {
	repeats := slices.Clone(t.Repeats)
	for i := range repeats {
		load := *repeats[i].Load
		load.Settled, load.Acked, load.Sent = times*load.Settled, times*load.Acked, times*load.Sent
		repeats[i].Load = &load
	}
	t.Repeats = repeats
	return t
}

// A claim is judged by the interval of the ratio: which side of 1, or of the claimed
// factor, the whole of it is on.
func TestJudge(t *testing.T) {
	one := run("20260101-000000-aaaa", "1", loadsOf(1), loadsOf(3))
	two := run("20260101-000000-bbbb", "2", loadsOf(2), loadsOf(2))
	for _, c := range []struct {
		claim string
		want  Verdict
		why   string
	}{
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb]}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [influxdb, questdb]}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, first: questdb}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], at-least: 2}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], at-least: 4}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], at-least: 3}]`, Tie, ""},
		{`rules: [{of: load, where: {load.workers: "8"}, order: [questdb, influxdb]}]`, Tie, ""}, // 2 workers stand for 8
		{`rules: [{of: load, order: [questdb, influxdb]}]`, Tie, ""},                             // at every point: at one it is a tie
		{`rules: [{of: load, where: {load.workers: "1"}, figure: disk, order: [questdb, influxdb]}]`, Holds, ""},
		{`untested: that it rains, rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb]}]`, Holds, "a part of the claim, without that it rains"},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], about: 4.5}]`, Tie, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], about: 3.6}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], about: 7}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], about: 1.5}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], at-most: 2}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], at-most: 3}]`, Tie, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb], at-most: 4}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "8"}, alike: [questdb, influxdb]}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, alike: [questdb, influxdb]}]`, DoesNotHold, ""},
		{`rules: [{of: load, changes: {systems: [questdb], along: load.workers, from: "1", to: "8", goes: worse}}]`, Holds, ""},
		{`rules: [{of: load, changes: {systems: [questdb], along: load.workers, from: "1", to: "8", goes: better}}]`, DoesNotHold, ""},
		{`rules: [{of: load, changes: {systems: [questdb], along: load.workers, from: "1", to: "8", goes: same}}]`, DoesNotHold, ""},
		{`rules: [{of: load, changes: {systems: [influxdb], along: load.workers, from: "1", to: "8", goes: better}, at-least: 2}]`, DoesNotHold, ""},
		{`rules: [{of: load, changes: {systems: [questdb], along: load.workers, from: "1", to: "8", goes: not-better}}]`, Holds, ""},
		{`rules: [{of: load, changes: {systems: [influxdb], along: load.workers, from: "1", to: "8", goes: not-better}}]`, DoesNotHold, ""},
		{`rules: [{of: load, changes: {systems: [questdb], along: load.workers, from: "1", to: "8", through: ["12"], goes: worse}}]`, Holds, "a part of the claim, without load.workers=12, which size small has not"},
		{`rules: [{of: load, changes: {systems: [questdb], along: load.workers, from: "8", to: "10", goes: same}}]`, NotTested, "size small has load.workers=2 for both 8 and 10"},
		{`rules: [{of: load, more: {system: questdb, than: [influxdb], along: load.workers, from: "1", to: "8", goes: worse}}]`, Holds, ""}, // by 2, the other by 2/3
		{`rules: [{of: load, more: {system: questdb, than: [influxdb], along: load.workers, from: "1", to: "8", goes: worse}, about: 4}]`, Holds, ""},
		{`rules: [{of: load, more: {system: questdb, than: [influxdb], along: load.workers, from: "1", to: "8", goes: worse}, at-least: 4}]`, DoesNotHold, ""},
		{`rules: [{of: load, more: {system: questdb, than: [influxdb], along: load.workers, from: "1", to: "8", goes: better}}]`, DoesNotHold, ""},
		{`rules: [{of: load, more: {system: influxdb, than: [questdb], along: load.workers, from: "1", to: "8", goes: better}, at-most: 4}]`, Holds, ""},
		{`rules: [{of: load, peak: {systems: [questdb], along: load.workers, at: "1"}}]`, Holds, ""},
		{`rules: [{of: load, peak: {systems: [influxdb], along: load.workers, at: "1"}}]`, DoesNotHold, ""},
		{`rules: [{of: load, lead: {better: questdb, than: influxdb, along: load.workers, largest: "1"}}]`, Holds, ""},
		{`rules: [{of: load, lead: {better: questdb, than: influxdb, along: load.workers, largest: "8", smallest: "1"}}]`, DoesNotHold, ""},
		{`rules: [{of: load, lead: {better: questdb, than: influxdb, along: load.workers, smallest: "8"}}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb], at-least: 900}}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb, influxdb], at-least: 900}}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb], at-least: 970}}]`, Tie, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: memory-growth, reach: {systems: [questdb], about: 1}}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: memory-growth, reach: {systems: [questdb], at-least: 1.1}}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: memory-growth, reach: {systems: [influxdb], at-least: 1.1}}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: memory-growth, reach: {systems: [influxdb], about: 1}}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb], about: 970}}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb], about: 700}}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb], about: 1080}}]`, Tie, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb], at-most: 1100}}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb], at-most: 970}}]`, Tie, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, reach: {systems: [questdb], at-most: 900}}]`, DoesNotHold, ""},
		{`rules: [{of: load, most: true, order: [questdb, influxdb]}]`, Tie, ""}, // one of two
		{`rules: [{of: load, full: true, order: [questdb, influxdb]}]`, NotTested, "it needs size full, since small cuts the compared points: load has a part"},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: points, order: [questdb, influxdb], at-least: 2}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: client-user, order: [questdb, influxdb]}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: client-system, order: [questdb, influxdb]}]`, NotTested, "too short to be measured"},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: server-cpu, order: [influxdb, questdb]}]`, Holds, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, figure: settling, order: [questdb, influxdb]}]`, NotTested, "no load was verified"},
		{`rules: [{of: load, where: {load.workers: "1", targets.questdb.fsync: "on"}, order: [questdb, influxdb]}]`, NotTested, "questdb with fsync=on was not given"},
		{`rules: [{of: load, where: {load.workers: "1"}, changes: {systems: [questdb], along: targets.questdb.cache, from: "on", to: "off", goes: worse}, at-least: 4}]`, Holds, ""},
		{`rules: [{of: load, wins: {better: questdb, than: influxdb, least: 1, of: 2}}]`, Holds, ""},
		{`rules: [{of: load, wins: {better: questdb, than: influxdb, least: 2, of: 2}}]`, Tie, ""},
		{`rules: [{of: load, wins: {better: questdb, than: influxdb, least: 2, of: 2, or-equal: true}}]`, Holds, ""},
		{`rules: [{of: load, wins: {better: influxdb, than: questdb, least: 2, of: 2}}]`, DoesNotHold, ""},
		{`rules: [{of: load, where: {load.workers: "1"}, order: [questdb, influxdb]}, {of: load, where: {load.workers: "12"}, order: [influxdb, questdb]}]`, Holds, "a part of the claim, without load.workers=12, which size small has not"},
		{`rules: [{of: load, where: {load.workers: "12"}, order: [questdb, influxdb]}]`, NotTested, "size small has no load.workers=12"},
		{`rules: [{of: load, where: {load.workers: "4"}, order: [questdb, influxdb]}]`, NotTested, "has no run with load.workers=4"},
		{`missing: nobody can`, NotTested, "nobody can"},
	} {
		d := description(t, c.claim)
		found := Judge(d, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {one, two}}})[0]
		if found.Verdict != c.want || !strings.Contains(found.Why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)\n%+v", c.claim, found.Verdict, found.Why, c.want, c.why, found.Parts)
		}
	}
}

// Nothing is decided if a system is absent, was loaded once, has wrong contents, or if a
// stand-in answered for it.
func TestNotTested(t *testing.T) {
	const claim = `rules: [{of: load, order: [questdb, influxdb]}]`
	absent := run("20260101-000000-aaaa", "1", loadsOf(1), loadsOf(3))
	absent.Targets = absent.Targets[:1]
	once := run("20260101-000000-aaaa", "1", loadsOf(1), loadsOf(3))
	for i := range once.Targets {
		once.Targets[i].Repeats = once.Targets[i].Repeats[:1]
	}
	wrong := run("20260101-000000-aaaa", "1", loadsOf(1), loadsOf(3))
	wrong.Targets[0].Repeats[2].Load.Withheld = "990 rows counted, 1,000 expected"
	standIn := run("20260101-000000-aaaa", "1", loadsOf(1), loadsOf(3))
	standIn.Targets[1].Description.StandIn = "an engine behind a test server"
	for _, c := range []struct {
		run *result.Run
		why string
	}{{standIn, "influxdb is a stand-in: an engine behind a test server"}, {absent, "influxdb was not given"}, {once, "too few repeats"}, {wrong, "withheld"}} {
		found := Judge(description(t, claim), Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {c.run}}})[0]
		if found.Verdict != NotTested || !strings.Contains(found.Why, c.why) {
			t.Errorf("%s (%s), want %q", found.Verdict, found.Why, c.why)
		}
	}
	alone := run("20260101-000000-bbbb", "1", loadsOf(1), loadsOf(3))
	alone.Targets = alone.Targets[1:]
	alone.Targets[0].Description.StandIn = "an engine behind a test server"
	measured := Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {absent}}, Correctness: map[string][]*result.Run{"load": {alone}}}
	if found := Judge(description(t, claim), measured)[0]; found.Verdict != NotTested || !strings.Contains(found.Why, "influxdb was an engine behind a test server, for correctness only") {
		t.Errorf("with a stand-in for correctness: %s (%s)", found.Verdict, found.Why)
	}
	if found := Judge(description(t, claim), Measured{Size: document.Small}); found[0].Why != "experiment load was not run" {
		t.Errorf("%+v", found[0])
	}
}

// A part that does not hold outweighs parts that hold and parts that were not tested.
func TestTogether(t *testing.T) {
	for _, c := range []struct {
		parts []Verdict
		want  Verdict
	}{
		{nil, NotTested}, {[]Verdict{Holds, Holds}, Holds}, {[]Verdict{Holds, Tie}, Tie},
		{[]Verdict{Tie, NotTested, Holds}, NotTested}, {[]Verdict{NotTested, DoesNotHold}, DoesNotHold},
	} {
		var parts []Part
		for _, v := range c.parts {
			parts = append(parts, Part{Verdict: v})
		}
		if got, _ := combine(parts); got != c.want {
			t.Errorf("%v: %s, want %s", c.parts, got, c.want)
		}
	}
}

// A claim is not tested at points that have less than it needs, and its verdict is of the others.
func TestNeeds(t *testing.T) {
	at := func(id, scale, end string, questdb, influxdb seconds) *result.Run {
		r := run(id, "2", questdb, influxdb)
		r.Parameters = result.Parameters{{Path: "workload.scale", Value: scale}, {Path: "workload.timestamp-end", Value: end}}
		r.Dataset.Metrics = 1e6
		for i := range r.Targets {
			r.Targets[i].ServerMemory = 1 << 30
		}
		return r
	}
	runs := []*result.Run{
		at("20260101-000000-aaaa", "10", "2026-01-01T10:00:00Z", loadsOf(1), loadsOf(3)),
		at("20260101-000000-bbbb", "500", "2026-01-01T01:00:00Z", loadsOf(3), loadsOf(1)),
	}
	for _, c := range []struct {
		needs string
		want  Verdict
		why   string
	}{
		{"{}", DoesNotHold, ""},
		{"{rows-per-device: 0.5}", Holds, "a part is not tested at size small: it needs 1,800 rows per device (load at workload.scale=500, workload.timestamp-end=2026-01-01T01:00:00Z has 360, the document 3,600)"},
		{"{rows-per-device: 300}", DoesNotHold, ""},
		{"{rows-per-device: 1000}", Holds, "a part is not tested"},
		{"{devices: 0.6, rows-per-device: 0.5}", Holds, "it needs 600 devices (load at workload.scale=500, workload.timestamp-end=2026-01-01T01:00:00Z has 500, the document 1,000), 1,800 rows per device"},
		{"{density: 1}", DoesNotHold, ""},
		{"{load-time: 2s}", NotTested, "not tested at size small: it needs loads of 2s (one of questdb took 1s)"},
		{"{batches: 50}", NotTested, "it needs 50 batches from each worker (one load of questdb had 20)"},
		{"{load-time: 500ms, batches: 20}", DoesNotHold, ""},
		{"{pressure: 0.5}", Holds, "it needs data of 0.075 times the server's memory (load at workload.scale=500, workload.timestamp-end=2026-01-01T01:00:00Z has 0.0075, the document 0.15)"},
	} {
		d, err := document.Parse([]byte(`name: made-up
number: "999"
memory: 1073741824
systems: [{driver: questdb, printed: [QuestDB]}, {driver: influxdb, printed: [InfluxDB]}]
experiments:
  - id: E1
    name: load
    run:
      workload: {name: cpu-only, timestamp-start: "2026-01-01T00:00:00Z", timestamp-end: "2026-01-01T10:00:00Z", log-interval: 10s}
      matrix: {workload.scale: [10, 1000]}
    cuts:
      small:
        words: a part
        run: {matrix: {}, include: [{workload.scale: 10, workload.timestamp-end: "2026-01-01T10:00:00Z"}, {workload.scale: 500, workload.timestamp-end: "2026-01-01T01:00:00Z"}]}
        for: {workload.scale: {"1000": "500"}}
claims: [{id: C1, says: it is said, needs: ` + c.needs + `, rules: [{of: load, order: [questdb, influxdb]}]}]
`))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			for i := range r.Targets {
				for j := range r.Targets[i].Repeats {
					r.Targets[i].Repeats[j].Load.BatchSize, r.Targets[i].Repeats[j].Load.Workers = 25, 2
				}
			}
		}
		f := Judge(d, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": runs}})[0]
		if f.Verdict != c.want || !strings.Contains(f.Why, c.why) || f.InPart != strings.HasPrefix(f.Why, "a part") {
			t.Errorf("needs %s: %s (%s), want %s (%s)", c.needs, f.Verdict, f.Why, c.want, c.why)
		}
	}
}

// Printed figures stand beside one's own, in their unit, as far as they are measured.
func TestCells(t *testing.T) {
	d, ok := document.Find("ntua-2024")
	if !ok {
		t.Fatal("the document is not there")
	}
	e, _ := d.Experiment("load")
	r := run("20260101-000000-aaaa", "2", loadsOf(1), loadsOf(2))
	r.Parameters = append(r.Parameters, result.Parameter{Path: "workload.timestamp-end", Value: "2016-01-02T13:45:00Z"})
	r.Dataset = result.Dataset{Rows: 1000, Metrics: 11000}
	found := map[string]string{}
	for _, l := range Lines(d, e, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {r}}}) {
		for _, c := range l.Cells {
			if c.System == "influxdb" {
				found[l.Name+" "+l.Metric] = fmt.Sprintf("%s, own %s, %s", c.Printed.Text, c.Own.Median, c.Missing)
			}
		}
		for _, q := range l.Ratios {
			found[l.Name+" "+l.Metric+" "+q.Of+"/"+q.To] = fmt.Sprintf("%.3f, own %s", q.Printed.Best()/100, q.Own)
		}
	}
	for key, want := range map[string]string{
		"small, 2 workers rows_per_s":                      "56671.6, own 488, ",
		"small, 2 workers metrics_per_s":                   "63581.3, own 5.37e+03, ",
		"small, 2 workers load_s":                          "21.58, own 2.05, ", // small has the document's small dataset whole
		"big, 2 workers rows_per_s":                        "54632.85, own ?, size small has no dataset=big",
		"small, 2 workers rows_per_s influxdb/timescaledb": "1.030, own ?",
	} {
		if found[key] != want {
			t.Errorf("%s: %q, want %q", key, found[key], want)
		}
	}
}

// queryRun is a run in which both systems answered a query type in six rounds, with the
// given seconds per query.
func queryRun(id, texts string, questdb, influxdb float64) *result.Run {
	r := &result.Run{ID: id, Status: result.Complete}
	for kind, seconds := range map[string]float64{"questdb": questdb, "influxdb": influxdb} {
		t := result.Target{Name: kind, Driver: kind}
		for round := range 6 {
			q := result.Queries{Type: "lastpoint", Texts: texts, Workers: 1, Executed: 3, PerSecond: 1 / seconds, Service: result.Latency{Summary: measure.Summary{Count: 3}}}
			if texts == "" {
				q.Verdict = result.Verdict{Checked: 3, Rows: 3}
			}
			for i := range 3 {
				q.Each = append(q.Each, seconds*(1+float64(round+i)/100))
			}
			t.Repeats = append(t.Repeats, result.Repeat{Number: round + 1, Queries: []result.Queries{q}})
		}
		r.Targets = append(r.Targets, t)
	}
	return r
}

// TSBS's own texts are judged by themselves, and a claim that they decide otherwise changes.
func TestVerbatim(t *testing.T) {
	d := description(t, `rules: [{of: load, types: [lastpoint], order: [questdb, influxdb]}]`)
	m := Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {queryRun("20260101-000000-aaaa", "", 1, 2)}}}
	if f := Judge(d, m)[0]; f.Verdict != Holds || f.Verbatim != "" || f.Changes() {
		t.Errorf("without TSBS's texts: %+v", f)
	}
	for _, c := range []struct {
		influxdb float64
		want     Verdict
		changes  bool
	}{{2, Holds, false}, {0.5, DoesNotHold, true}, {1, Tie, true}} {
		m.Verbatim = map[string][]*result.Run{"load": {queryRun("20260101-000000-bbbb", result.TextsTSBS, 1, c.influxdb)}}
		if f := Judge(d, m)[0]; f.Verdict != Holds || f.Verbatim != c.want || f.Changes() != c.changes {
			t.Errorf("%v s: %+v", c.influxdb, f)
		}
	}
	// Nobody takes them for verified.
	m.Runs = m.Verbatim
	if f := Judge(d, m)[0]; f.Verdict != NotTested {
		t.Errorf("in the place of equal queries: %+v", f)
	}
}

// aggregateRun is a run in which systems answered a query type from rows and from an
// aggregate, in six rounds.
func aggregateRun(rows, aggregate float64) *result.Run {
	r := &result.Run{ID: "20260101-000000-aaaa", Status: result.Complete}
	target := result.Target{Name: "questdb", Driver: "questdb"}
	for i := range 6 {
		var list []result.Queries
		for name, each := range map[string]float64{"t": rows, result.FromAggregate("t", "1h"): aggregate} {
			q := result.Queries{Type: name, Executed: 2, First: 2 * i, Verdict: result.Verdict{Checked: 2, Rows: 2}, Rows: 2, Sample: result.Sample{Wanted: 2, Captured: 2}}
			q.Service.Count = 2
			q.Each = []float64{each * (1 + float64(i)/100), each}
			list = append(list, q)
		}
		target.Repeats = append(target.Repeats, result.Repeat{Number: i + 1, Queries: list})
	}
	r.Targets = append(r.Targets, target)
	return r
}

// The gain of an aggregate is the ratio of a type's time from rows to that from the
// aggregate; wrong answers from either are not equal.
func TestAggregate(t *testing.T) {
	wrong := aggregateRun(3, 1)
	for i := range wrong.Targets[0].Repeats[4].Queries {
		if q := &wrong.Targets[0].Repeats[4].Queries[i]; q.Type == "t@1h" {
			q.Withheld = "query 8: 3 rows in place of 4"
		}
	}
	once := aggregateRun(3, 1)
	once.Targets[0].Repeats = once.Targets[0].Repeats[:1]
	for _, c := range []struct {
		rule string
		run  *result.Run
		want Verdict
		why  string
	}{
		{`at-least: 2, aggregate: {systems: [questdb]}`, aggregateRun(3, 1), Holds, ""},
		{`at-least: 4, aggregate: {systems: [questdb]}`, aggregateRun(3, 1), DoesNotHold, ""},
		{`aggregate: {systems: [questdb]}`, aggregateRun(1, 1), Tie, ""},
		{`aggregate: {systems: [questdb]}`, aggregateRun(1, 2), DoesNotHold, ""},
		{`aggregate: {systems: [questdb], equal: true}`, aggregateRun(1, 2), Holds, ""},
		{`aggregate: {systems: [questdb], equal: true}`, wrong, DoesNotHold, ""},
		{`aggregate: {systems: [questdb]}`, wrong, NotTested, "not verified in every round"},
		{`aggregate: {systems: [questdb]}`, once, NotTested, "too few repeats"},
		{`aggregate: {systems: [influxdb]}`, aggregateRun(3, 1), NotTested, "influxdb was not given"},
	} {
		d := description(t, `rules: [{of: load, types: [t], `+c.rule+`}]`)
		found := Judge(d, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {c.run}}})[0]
		if found.Verdict != c.want || !strings.Contains(found.Why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)\n%+v", c.rule, found.Verdict, found.Why, c.want, c.why, found.Parts)
		}
	}
}

// The text of a lead leaves out values that are the same in all compared runs.
func TestLeadNamesWhatIsVaried(t *testing.T) {
	d := description(t, `rules: [{of: load, where: {workload.name: devops}, lead: {better: questdb, than: influxdb, along: load.workers, largest: "1"}}]`)
	var runs []*result.Run
	for i, workers := range []string{"1", "2", "1"} {
		r := run(fmt.Sprintf("20260101-000000-aaa%d", i), workers, loadsOf(1), loadsOf(3))
		r.Parameters = append(result.Parameters{{Path: "workload.name", Value: []string{"devops", "devops", "iot"}[i]}}, r.Parameters...)
		runs = append(runs, r)
	}
	f := Judge(d, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": runs}})[0]
	if len(f.Parts) != 1 || !strings.HasSuffix(f.Parts[0].What, "largest at load.workers=1, not at load.workers=2") {
		t.Errorf("%+v", f.Parts)
	}
}

func TestCounted(t *testing.T) {
	for _, c := range [][3]string{{"1", "workers", "1 worker"}, {"2", "workers", "2 workers"}, {"10", "workers", "10 workers"}, {"1", "fsync_ms", "1 fsync_ms"}, {"1", "scale", "1 scale"}} {
		if got := withUnit(c[0], c[1]); got != c[2] {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
}
