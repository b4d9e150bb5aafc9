package verify_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Rows that come late, or device by device, make no exact target wrong, because the watermark lies
// further back. A watermark that ignores late rows is detected.
func TestMixedLateRows(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		use   workload.Workload
		spec  workload.Spec
		types []string
		// Whether answers show it where the watermark does not allow for late rows:
		// of the iot ones, few rows are late, and last rows never are.
		shows bool
	}{
		"iot": {tsbs.IoT(), workload.Spec{Name: "iot", Seed: 123, Scale: 40, Start: start, End: start.Add(6 * time.Hour), Interval: time.Minute},
			[]string{"last-loc", "low-fuel", "high-load"}, false},
		"de-interleaved": {tsbs.CPUOnly(), workload.Spec{Name: "cpu-only", Seed: 1, Scale: 20, Start: start, End: start.Add(4 * time.Hour), Interval: 10 * time.Second, InARow: 180},
			[]string{"single-groupby-1-1-1", "lastpoint", "double-groupby-1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := test.use.Dataset(test.spec)
			if err != nil {
				t.Fatal(err)
			}
			expected, err := oracle.Pass(t.Context(), d, nil, nil, ignore)
			if err != nil {
				t.Fatal(err)
			}
			survey := &expected.Survey
			if survey.Lateness == 0 {
				t.Fatal("no row is late")
			}
			longer := test.spec
			longer.End = start.Add(24 * time.Hour)
			var list []engine.MixedQueries
			for _, name := range test.types {
				sequence, err := test.use.Queries(longer, name, 200)
				if err != nil {
					t.Fatal(err)
				}
				queries := slices.Collect(sequence)
				for i := range queries {
					if q := &queries[i]; !q.Start.IsZero() {
						q.End = q.Start.Add(30 * time.Minute)
					}
				}
				list = append(list, engine.MixedQueries{Type: name, Queries: queries})
			}
			phase := func(kind driver.Driver, lateness time.Duration, batch int, share float64) (wrong, stale int64) {
				db, err := kind.Open(t.Context(), driver.Env{Create: true}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := session.New(db).Prepare(t.Context(), d.Schema(), session.Mark{}); err != nil {
					t.Fatal(err)
				}
				loaded := survey.Rows / 2
				if _, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 1000}, workload.LimitRows(d, loaded), db, ignore); err != nil {
					t.Fatal(err)
				}
				out, journal, err := engine.RunMixed(t.Context(), engine.MixedConfig{
					LoadConfig: engine.LoadConfig{Workers: 2, BatchSize: batch}, Queriers: 2, Share: share,
					Loaded: loaded, Start: start, Lateness: lateness, Windows: workload.Recent, Keep: 40,
				}, d, db, kind.Renderer(nil), list, ignore)
				if err == nil {
					err = verify.CheckMixed(t.Context(), d, journal, out, verify.MixedProgress{})
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range out.Types {
					if q.Withheld != "" {
						t.Log(q.Type, q.Withheld)
						wrong++
					}
					stale += q.Stale
				}
				return wrong, stale
			}
			if wrong, stale := phase(memory.Driver("exact"), survey.Lateness, 100, 0.3); wrong > 0 || stale > 0 {
				t.Errorf("of an exact target %d types are wrong, %d answers stale", wrong, stale)
			}
			// A query must fall between a row and its appearance, which does not happen in every
			// phase.
			shown := func(kind func() driver.Driver, lateness time.Duration, batch int, share float64, mayBeWrong bool) bool {
				for range 20 {
					wrong, stale := phase(kind(), lateness, batch, share)
					if wrong > 0 && !mayBeWrong {
						t.Fatalf("of a target that shows rows late %d types are wrong", wrong)
					}
					if wrong > 0 || stale > 0 {
						return true
					}
				}
				return false
			}
			if !shown(func() driver.Driver { return memory.SlowDriver("late", 20*time.Millisecond) }, survey.Lateness, 100, 0.3, false) {
				t.Error("no answer of a target that shows rows late is stale")
			}
			// Here many batches hold rows of one host alone. One with rows of two would
			// nearly always be under way, and hold the watermark back to where the rows
			// of the second begin. A few queries do, as each answer that is not right
			// is traced through all states.
			if test.shows && !shown(func() driver.Driver { return memory.Driver("exact") }, 0, 20, 0.95, true) {
				t.Error("nobody notices a watermark that is too new")
			}
		})
	}
}
