package claims

import (
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// A comparison names its point, and the measured values that replace the document's;
// no two of a claim read alike.
func TestLocated(t *testing.T) {
	d, _ := document.Find("fixstars-2023")
	var runs []*result.Run
	for scale, end := range map[string]string{"100": "13:53:20", "1000": "02:46:40", "10000": "01:00:00"} {
		for _, workers := range []string{"2", "1"} {
			r := run("20260101-000000-"+scale+workers, workers, loadsOf(1), loadsOf(2))
			r.Parameters = append(r.Parameters, result.Parameter{Path: "workload.scale", Value: scale}, result.Parameter{Path: "workload.timestamp-end", Value: "2016-03-01T" + end + "Z"})
			runs = append(runs, r)
		}
	}
	findings := Judge(d, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": runs}})
	var texts []string
	for _, p := range findings[2].Parts {
		if slices.Contains(texts, p.What) {
			t.Errorf("%q is listed twice", p.What)
		}
		texts = append(texts, p.What)
		if !strings.Contains(p.What, "from load.workers 8 to 4") || !strings.Contains(p.What, "(here 2 to 1)") {
			t.Errorf("%q does not name the measured values", p.What)
		}
	}
	if len(texts) != 3 || !strings.Contains(texts[2], "workload.scale=10000") || !strings.Contains(findings[2].Why, "workload.scale=100000, which size small has not") {
		t.Errorf("%s has %q, %s", findings[2].Claim.ID, texts, findings[2].Why)
	}
	// 2 workers stand for 8 and for 10, so claims about the difference were not tested.
	both := *d
	both.Claims = []document.Claim{{Rules: []document.Rule{{Of: "load", Changes: &document.Change{Systems: []string{"questdb"}, Along: "load.workers", From: "8", To: "10", Goes: document.Worse}}}}}
	if f := Judge(&both, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": runs}})[0]; f.Verdict != NotTested || !strings.Contains(f.Why, "size small has load.workers=2 for both 8 and 10") {
		t.Errorf("%s: %s, %s", f.Claim.ID, f.Verdict, f.Why)
	}
	if e, _ := d.Experiment("load"); inWords(e, "at workload.scale=100") != "at workload.scale=100" {
		t.Error("values without words are changed")
	}
	ntua, _ := document.Find("ntua-2024")
	sizes, _ := ntua.Experiment("queries")
	cut := document.Cut{For: map[string]map[string]string{"workload.timestamp-end": {"2016-02-12T00:00:00Z": "2016-01-10T08:10:00Z"}}}
	if got := inWords(sizes, nameReplaced(sizes, cut, "at workload.timestamp-end=2016-01-10T08:10:00Z")); got != "at dataset=big (here 2016-01-10T08:10:00Z)" {
		t.Errorf("a value that stands for another one: %q", got)
	}
	taos, _ := document.Find("taos-2023")
	e, _ := taos.Experiment("rows-per-device")
	if got := inWords(e, "from workload.timestamp-end 2016-01-01T00:12:00Z to 2016-01-01T01:36:00Z"); got != "from rows_per_device 72 to 576" {
		t.Errorf("in words: %q", got)
	}
}

// Why TSBS's texts decide nothing names the system that has none.
func TestUncommon(t *testing.T) {
	d := description(t, `rules: [{of: load, types: [lastpoint], order: [questdb, influxdb]}]`)
	own := queryRun("20260101-000000-bbbb", result.TextsTSBS, 1, 2)
	for i := range own.Targets {
		if own.Targets[i].Driver == "influxdb" {
			own.Targets[i].Repeats = nil
		}
	}
	f := Judge(d, Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": {queryRun("20260101-000000-aaaa", "", 1, 2)}}, Verbatim: map[string][]*result.Run{"load": {own}}})[0]
	if len(f.VerbatimParts) != 1 || f.VerbatimParts[0].Why != "TSBS has no text for influxdb, or it failed" {
		t.Errorf("%+v", f.VerbatimParts)
	}
}

// The figures are the document's printed ones, followed by the ones that only claims use;
// a claim's name for a printed figure does not add a second one.
func TestShown(t *testing.T) {
	for _, c := range []struct{ document, experiment, want, path, along string }{
		{"fixstars-2023", "load", "rows_per_s", "workload.scale", "rows_per_s"},
		{"taos-2023", "fsync", "metrics_per_s", "targets.tdengine.wal_fsync_period", "metrics_per_s"},
		{"tsinghua-2019", "distributions", "disk_size rows_per_s", "workload.iotdb.distribution", "disk_size rows_per_s"},
		{"tsinghua-2019", "series", "points", "workload.scale", "points"},
		{"drouzas-2022", "queries-scale", "queries_per_s", "workload.scale", "queries_per_s"},
		{"drouzas-2022", "queries-workers", "queries_per_s rate", "queries.workers", "queries_per_s rate"},
		{"drouzas-2022", "load-scale", "metrics_per_s", "workload.scale", "metrics_per_s"},
	} {
		d, _ := document.Find(c.document)
		e, ok := d.Experiment(c.experiment)
		if !ok {
			t.Fatalf("%s has no %s", c.document, c.experiment)
		}
		var runs []*result.Run
		if strings.HasPrefix(c.experiment, "queries") {
			runs = append(runs, queryRun("20260101-000000-aaaa", "", 1, 2))
		}
		if got := namesOf(ShownOf(d, e, runs)); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.document, c.experiment, got, c.want)
		}
		if got := namesOf(ShownAlong(d, e, runs, c.path)); got != c.along {
			t.Errorf("%s, %s along %s: %s, want %s", c.document, c.experiment, c.path, got, c.along)
		}
	}
}

// namesOf are the names of figures.
func namesOf(list []Shown) string {
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// Targets outside the document's systems are added, and so is a second target of one;
// but not the targets that an experiment varies of its one system.
func TestAdded(t *testing.T) {
	d, _ := document.Find("drouzas-2022")
	e, _ := d.Experiment("load")
	r := &result.Run{Targets: []result.Target{{Name: "quest", Driver: "questdb"}, {Name: "duck", Driver: "duckdb"}, {Name: "quest-2", Driver: "questdb"}}}
	if got := strings.Join(AddedTargets(d, e, Measured{Runs: map[string][]*result.Run{"load": {r}}}), " "); got != "duck quest-2" {
		t.Errorf("added: %s", got)
	}
	taos, _ := document.Find("taos-2023")
	vgroups, _ := taos.Experiment("vgroups")
	varied := &result.Run{Targets: []result.Target{{Name: "tdengine-1", Driver: "tdengine"}, {Name: "tdengine-4", Driver: "tdengine"}}}
	if got := AddedTargets(taos, vgroups, Measured{Runs: map[string][]*result.Run{"vgroups": {varied}}}); got != nil {
		t.Errorf("what vgroups varies was added: %v", got)
	}
}
