package claims

import (
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// brokenRun is a run at a number of workers in which one system failed, in its first load or
// a later one.
func brokenRun(id, workers, system string, loads int) *result.Run {
	r := run(id, workers, loadsOf(1), loadsOf(3))
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Driver == system {
			t.Failure, t.Repeats = "load: batch 7: connection reset\nby peer", t.Repeats[:loads]
		}
	}
	r.Status, r.Reason = result.Incomplete, r.FailedTarget()
	return r
}

// A claim that a system's loads fail holds if they fail at this point only.
func TestFails(t *testing.T) {
	const claim = `rules: [{of: load, where: {load.workers: "50"}, fails: {systems: [influxdb]}}]`
	few, many := run("20260101-000000-aaaa", "1", loadsOf(1), loadsOf(3)), run("20260101-000000-bbbb", "50", loadsOf(1), loadsOf(3))
	wrong := run("20260101-000000-bbbb", "50", loadsOf(1), loadsOf(3))
	wrong.Targets[1].Repeats[2].Load.Withheld = "990 rows counted, 1,000 expected"
	absent := run("20260101-000000-bbbb", "50", loadsOf(1), loadsOf(3))
	absent.Targets = absent.Targets[:1]
	for _, c := range []struct {
		name string
		runs []*result.Run
		want Verdict
		says string
	}{
		{"fails at once", []*result.Run{few, brokenRun("20260101-000000-bbbb", "50", "influxdb", 0)}, Holds, "here: load: batch 7: connection reset"},
		{"fails later", []*result.Run{few, brokenRun("20260101-000000-bbbb", "50", "influxdb", 3)}, Holds, "connection reset"},
		{"finishes", []*result.Run{few, many}, DoesNotHold, "here 6 of its loads finished, verified"},
		{"another fails", []*result.Run{few, brokenRun("20260101-000000-bbbb", "50", "questdb", 0)}, DoesNotHold, "here 6"},
		{"fails everywhere", []*result.Run{brokenRun("20260101-000000-aaaa", "1", "influxdb", 0), brokenRun("20260101-000000-bbbb", "50", "influxdb", 0)}, NotTested, "no load at another point was verified: load: batch 7"},
		{"rows are missing", []*result.Run{few, wrong}, NotTested, "is not verified"},
		{"is absent", []*result.Run{few, absent}, NotTested, "influxdb was not given"},
		{"no such point", []*result.Run{few}, NotTested, "has no run with load.workers=50"},
	} {
		f := Judge(description(t, claim), Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": c.runs}})[0]
		if f.Verdict != c.want || !strings.Contains(f.Parts[0].What+f.Why, c.says) || strings.Contains(f.Parts[0].What, "by peer") {
			t.Errorf("%s: %s, want %s, %q\n%+v", c.name, f.Verdict, c.want, c.says, f)
		}
	}
	// The other comparisons at the point are unaffected.
	other := description(t, `rules: [{of: load, where: {load.workers: "50"}, changes: {systems: [questdb], along: targets.questdb.cache, from: "on", to: "off", goes: worse}}]`)
	if f := Judge(other, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {few, brokenRun("20260101-000000-bbbb", "50", "influxdb", 0)}}})[0]; f.Verdict != Holds {
		t.Errorf("of the other system: %+v", f)
	}
}

// A run is not run again for a failure that the document claims, and is for any other.
func TestEnded(t *testing.T) {
	d := description(t, `rules: [{of: load, where: {load.workers: "8"}, fails: {systems: [influxdb]}}]`)
	e, _ := d.Experiment("load")
	interrupted := brokenRun("20260101-000000-aaaa", "2", "influxdb", 0)
	interrupted.Reason = "interrupted"
	both := brokenRun("20260101-000000-aaaa", "2", "influxdb", 0)
	both.Targets[0].Failure = "does not start"
	both.Reason = both.FailedTarget()
	for _, c := range []struct {
		name string
		run  *result.Run
		want bool
	}{
		{"complete", run("20260101-000000-aaaa", "1", loadsOf(1), loadsOf(3)), true},
		{"fails as claimed", brokenRun("20260101-000000-aaaa", "2", "influxdb", 0), true}, // 2 workers stand for 8
		{"at another point", brokenRun("20260101-000000-aaaa", "1", "influxdb", 0), false},
		{"another system", brokenRun("20260101-000000-aaaa", "2", "questdb", 0), false},
		{"both", both, false},
		{"interrupted", interrupted, false},
	} {
		if got := Ended(d, e, document.Small, c.run); got != c.want {
			t.Errorf("%s: ended %t, want %t", c.name, got, c.want)
		}
	}
}

// Sizes of input files are counted, and compared in whole percent.
func TestInput(t *testing.T) {
	const head = "name: x\nsystems: [{driver: influxdb, input: influx}, {driver: questdb, input: questdb}]\nexperiments: [{id: E1, name: load}]\nclaims: [{id: C1, says: it is small, rules: [{of: load, input: {smaller: "
	for _, c := range []struct {
		rule  string
		bytes map[string]int64
		want  Verdict
		says  string
	}{
		{"questdb, than: influxdb, from: 30, to: 35", map[string]int64{"influx": 1000, "questdb": 700}, Holds, "here 30.0 %"},
		{"questdb, than: influxdb, from: 30, to: 35", map[string]int64{"influx": 1000, "questdb": 646}, Holds, "here 35.4 %"},
		{"questdb, than: influxdb, from: 30, to: 35", map[string]int64{"influx": 1000, "questdb": 644}, DoesNotHold, "here 35.6 %"},
		{"questdb, than: influxdb, from: 30, to: 35", map[string]int64{"influx": 1000, "questdb": 1300}, DoesNotHold, "here -30.0 %"},
		{"questdb, than: influxdb, from: 30, to: 35", map[string]int64{"influx": 1000}, NotTested, "not recorded"},
		{"questdb, than: influxdb, from: 30, to: 35, gzip: 10", map[string]int64{"influx": 1000, "influx.gz": 140, "questdb": 700, "questdb.gz": 50}, Holds, "here 30.0 %"},
		{"questdb, than: influxdb, from: 30, to: 35, gzip: 10", map[string]int64{"influx": 1000, "influx.gz": 160, "questdb": 700, "questdb.gz": 70}, DoesNotHold, "here 30.0 %"},
		{"questdb, than: influxdb, from: 30, to: 35, gzip: 10", map[string]int64{"influx": 1000, "influx.gz": 100, "questdb": 700}, NotTested, "here 30.0 %"},
	} {
		d, err := document.Parse([]byte(head + c.rule + "}}]}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		r := &result.Run{ID: "20260101-000000-aaaa", Dataset: result.Dataset{FormatBytes: c.bytes}}
		f := Judge(d, Measured{Size: document.Full, Runs: map[string][]*result.Run{"load": {r}}})[0]
		if f.Verdict != c.want || !strings.Contains(f.Parts[0].What+f.Why, c.says) {
			t.Errorf("%s of %v: %+v, want %s, %q", c.rule, c.bytes, f, c.want, c.says)
		}
	}
}

// A printed size on disk refers to the system's own input.
func TestSpaceSaved(t *testing.T) {
	d, _ := document.Find("ntua-2024")
	e, _ := d.Experiment("disk")
	r := run("20260101-000000-aaaa", "4", loadsOf(1), loadsOf(1))
	r.Parameters = result.Parameters{{Path: "workload.timestamp-end", Value: "2016-01-02T13:45:00Z"}}
	r.Dataset.FormatBytes = map[string]int64{"influx": 20000}
	for _, l := range Lines(d, e, Measured{Size: document.Small, Runs: map[string][]*result.Run{"disk": {r}}}) {
		i := slices.IndexFunc(l.Cells, func(c Cell) bool { return c.System == "influxdb" })
		if l.Name != "small" || l.Metric != spaceSaved || i < 0 {
			continue
		}
		if c := &l.Cells[i]; c.Own.Median.Figure < 94.8 || c.Own.Median.Figure > 94.9 || c.Printed.Text != "97.6" { // 1,025 bytes of 20,000
			t.Errorf("%+v", c)
		}
		return
	}
	t.Error("the table has no such line")
}
