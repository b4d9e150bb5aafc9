package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Texts loads TSBS's rows and has the system run the texts that TSBS's generator makes
// for it: all must be answered, except those of the named types, which the system or
// the driver refuses. The correct answers are unknown, but some must have rows.
func Texts(t *testing.T, d driver.Driver, options map[string]string, refused ...string) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	answered := 0
	for _, use := range []workload.Workload{tsbs.CPUOnly(), tsbs.IoT()} {
		spec := workload.Spec{Name: use.Name(), Seed: 123, Scale: 40, Start: start, End: start.Add(24 * time.Hour), Interval: 2 * time.Minute}
		if _, err := tsbs.Texts(d.TSBS.Format, spec, use.QueryTypes()[0].Name, 1); err != nil {
			continue // it has no texts of this use case
		}
		t.Run(use.Name(), func(t *testing.T) {
			dataset, err := use.Dataset(spec)
			if err != nil {
				t.Fatal(err)
			}
			resolved, err := d.Resolve(options)
			if err != nil {
				t.Fatal(err)
			}
			db, err := d.Open(t.Context(), driver.Env{Create: true}, resolved)
			if err != nil {
				t.Fatal(err)
			}
			defer Close(t, db)
			if err := session.New(db).Prepare(t.Context(), dataset.Schema(), session.Mark{}); err != nil {
				t.Fatal(err)
			}
			load := engine.LoadConfig{Workers: 1, BatchSize: 5000, Period: time.Minute}
			if _, err := engine.Load(t.Context(), load, dataset, db, func(int) {}); err != nil {
				t.Fatal(err)
			}
			if err := db.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, queryType := range use.QueryTypes() {
				answered += runTexts(t, &d, db, resolved, spec, queryType.Name, slices.Contains(refused, queryType.Name))
			}
		})
	}
	if answered < 100 {
		t.Errorf("TSBS's texts returned %d rows in all: nothing was looked at", answered)
	}
}

// runTexts runs some texts of a type, and returns the number of their rows.
func runTexts(t *testing.T, d *driver.Driver, db driver.DB, o driver.Options, spec workload.Spec, queryType string, refused bool) (rows int) {
	t.Helper()
	texts, err := tsbs.Texts(d.TSBS.Format, spec, queryType, 3)
	if err != nil {
		t.Logf("%s: %v", queryType, err)
		return 0
	}
	for text := range texts {
		querier := Querier(t, db)
		request, err := d.TSBS.Request(text.Statement(), o)
		var cost driver.Cost
		if err == nil {
			var sink query.Sink // nil: rows are only counted
			cost, err = querier.Do(t.Context(), request, sink)
		}
		switch {
		case refused && err == nil:
			t.Errorf("%s was answered, and should have been refused", queryType)
		case refused:
			t.Logf("%s: %v", queryType, err)
		case err != nil:
			t.Errorf("%s: %v\n%s", queryType, err, text.Statement())
		}
		rows += int(cost.Rows)
		if err := querier.Close(); err != nil && !refused {
			t.Error(err)
		}
	}
	return rows
}
