package claims

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Claims about numbers of rows are decided without any run, in each size.
func TestRows(t *testing.T) {
	for name, id := range map[string]int{"drouzas-2022": 17, "ntua-2024": 22} {
		d, ok := document.Find(name)
		if !ok {
			t.Fatal("the document is not there")
		}
		for _, size := range document.Sizes() {
			if f := judge(d, Measured{Size: size}, d.Claims[id], nil); f.Verdict != Holds {
				t.Errorf("%s-%s in size %s: %+v", name, f.Claim.ID, size, f)
			}
		}
	}
	for _, c := range []struct {
		rule string
		want Verdict
	}{
		{`rows: 86400, metrics: 864000`, Holds}, {`rows: 86401`, DoesNotHold}, {`rows: 86400, metrics: 86400`, DoesNotHold},
		{`where: {workload.scale: "3"}, rows: 86400`, NotTested},
	} {
		d, err := document.Parse([]byte(`{name: x, systems: [], experiments: [{id: E1, name: load, run: {workload: {name: cpu-only, scale: 10, timestamp-start: "2016-01-01T00:00:00Z", timestamp-end: "2016-01-02T00:00:00Z", log-interval: 10s}, queries: {types: []}}}], claims: [{id: C1, says: it is large, rules: [{of: load, ` + c.rule + `}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if f := Judge(d, Measured{Size: document.Small})[0]; f.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", c.rule, f, c.want)
		}
	}
}

// Counting rows without generating them gives the number that the generator makes.
func TestGenerated(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, w := range tsbs.Workloads() {
		spec := workload.Spec{Name: w.Name(), Seed: 123, Scale: 7, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second}
		d, err := w.Dataset(spec)
		if err != nil {
			t.Fatal(err)
		}
		made, err := pass(d)
		if err != nil {
			t.Fatal(err)
		}
		if rows, _, err := generatedSize(spec); err != nil || rows != made {
			t.Errorf("%s: %d rows, %v; the generator makes %d", w.Name(), rows, err, made)
		}
	}
}
