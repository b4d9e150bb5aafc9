package result

import (
	"encoding/json"
	"math"
	"testing"
)

// observedResources is a source with a gap: at 3 s nothing could be read.
func observedResources() *Resources {
	r := &Resources{Source: "server", Cores: 4, Period: 1}
	r.Add(0, map[Metric]float64{CPU: 0, DiskWritten: 0, RSS: 100})
	r.Add(1, map[Metric]float64{CPU: 2, DiskWritten: 1000, RSS: 300})
	r.Add(2, map[Metric]float64{CPU: 3, DiskWritten: 1000, RSS: 200, NetSent: 5})
	r.Add(3, nil)
	r.Add(4, map[Metric]float64{CPU: 7, DiskWritten: 3000, RSS: 150, NetSent: 25})
	return r
}

func TestUsage(t *testing.T) {
	r := observedResources()
	nan := math.NaN()
	for name, c := range map[string]struct {
		from, to            float64
		cpu, share, most    float64
		rss, written, sents float64
	}{
		"all":                        {0, 4, 7, 7.0 / 16, 0.5, 300, 3000, nan},
		"whole periods":              {1, 2, 1, 0.25, 0.25, 300, 0, nan},
		"parts of periods":           {0.5, 1.5, 1.5, 0.375, 0.5, 300, 500, nan},
		"within a period":            {0.25, 0.75, 1, 0.5, 0.5, 300, 500, nan},
		"over the gap":               {2, 4, 4, 0.5, 0.5, 200, 2000, 20},
		"ends in the gap":            {2, 3, 2, 0.5, 0.5, 200, 1000, 10},
		"before the first reading":   {-1, 2, nan, nan, nan, 300, nan, nan},
		"after the last reading":     {2, 5, nan, nan, nan, 200, nan, nan},
		"backwards":                  {2, 1, nan, nan, nan, nan, nan, nan},
		"far outside":                {10, 11, nan, nan, nan, nan, nan, nan},
		"before the metric was read": {0, 1, 2, 0.5, 0.5, 300, 1000, nan},
	} {
		t.Run(name, func(t *testing.T) {
			u := r.Usage(c.from, c.to)
			for _, f := range []struct {
				name string
				got  Value
				want float64
			}{
				{"CPU", u.CPU, c.cpu}, {"share", u.Share, c.share}, {"highest share", u.ShareMax, c.most},
				{"RSS", u.RSSMax, c.rss}, {"written", u.DiskWritten, c.written}, {"sent", u.NetSent, c.sents},
			} {
				if f.got.IsKnown() == math.IsNaN(f.want) || f.got.IsKnown() && math.Abs(float64(f.got)-f.want) > 1e-9 {
					t.Errorf("%s is %g, want %g", f.name, f.got, f.want)
				}
			}
		})
	}
	if got := r.Mean(RSS, 0, 2); got != 200 {
		t.Errorf("mean RSS %g", got)
	}
	if got := (&Resources{}).UsageTotal(); got.CPU.IsKnown() || got.RSSMax.IsKnown() {
		t.Errorf("without readings: %+v", got)
	}
}

// TestRateMaxPassesOverTheClocksTicks: the last reading of a sampler may come
// a moment after the one before.
func TestRateMaxPassesOverTheClocksTicks(t *testing.T) {
	r := &Resources{Cores: 1, Period: 1}
	r.Add(0, map[Metric]float64{CPU: 0})
	r.Add(1, map[Metric]float64{CPU: 0.5})
	r.Add(1.001, map[Metric]float64{CPU: 0.51})
	if got := r.Usage(0, 1.001).ShareMax; got != 0.5 {
		t.Errorf("highest share %g, want 0.5", got)
	}
}

func TestDerived(t *testing.T) {
	u := Usage{CPU: 8, DiskWritten: 3e9}
	for name, c := range map[string]struct{ got, want Value }{
		"CPU-seconds per million rows": {u.CPUPerMillionRows(4_000_000), 2},
		"queries per CPU-second":       {u.QueriesPerCPUSecond(4000), 500},
		"written per row":              {u.WrittenPerRow(1e8), 30},
		"bytes per row":                {BytesPerRow(500, 100), 5},
	} {
		if c.got != c.want {
			t.Errorf("%s: %g, want %g", name, c.got, c.want)
		}
	}
	nothing := Usage{CPU: Absent(), DiskWritten: Absent()}
	for name, got := range map[string]Value{
		"no rows":             u.CPUPerMillionRows(0),
		"no CPU read":         nothing.QueriesPerCPUSecond(10),
		"no CPU used":         Usage{}.QueriesPerCPUSecond(10),
		"size could not be":   BytesPerRow(Absent(), 10),
		"a size without rows": BytesPerRow(10, 0),
	} {
		if got.IsKnown() {
			t.Errorf("%s: %g, want absent", name, got)
		}
	}
}

func TestResourcesAsJSON(t *testing.T) {
	r := observedResources()
	r.Total = r.UsageTotal()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Resources
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Names() {
		for i, want := range r.Metrics[m] {
			if got := back.Metrics[m][i]; got != want && (got.IsKnown() || want.IsKnown()) {
				t.Errorf("%s at %g is %g, was %g", m, r.At[i], got, want)
			}
		}
	}
	if back.Metrics[CPU][3].IsKnown() || back.Total.NetSent.IsKnown() || back.Total.CPU != 7 {
		t.Errorf("an absent value came back as a number: %s", text)
	}
}

func TestProblemsAreFewAndDifferent(t *testing.T) {
	var r Resources
	r.Problem("a")
	r.Problem("a")
	if len(r.Problems) != 1 {
		t.Errorf("got %q", r.Problems)
	}
	for i := range 100 {
		r.Problem(string(rune('b' + i)))
	}
	if len(r.Problems) != 20 {
		t.Errorf("%d problems", len(r.Problems))
	}
}
