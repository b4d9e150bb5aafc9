package suite

import (
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Grows: if rows have new tags and fields that Create has not made, the system makes room
// for them, and older rows have no values there; or it refuses the rows, as Caps says, with
// an error that is not temporary.
func (s *Suite) Grows(t T) {
	ctx := t.Context()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	e := s.exampleOf(t, tsbs.CPUOnly(), workload.Spec{
		Name: tsbs.CPUOnly().Name(), Seed: 123, Scale: 40, Start: start, End: start.Add(24 * time.Hour), Interval: s.interval, NewTags: 2, NewFields: 2,
	})
	e.queries = slices.DeleteFunc(e.queries, func(q query.Query) bool { return q.ID > 0 }) // the suite runs the other queries of this dataset elsewhere
	schema := e.dataset.Schema()
	steps, err := e.dataset.(workload.Growing).Steps()
	if err != nil {
		t.Fatal(err)
	}
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	if db.Grow == nil {
		Close(t, db)
		if s.caps.MakesColumns {
			t.Fatal("Caps says that the system makes columns, and an open database lacks Grow")
		}
		t.Skip("n/a: its writers take no schema that has grown")
	}
	if err := session.New(db).Beginning(steps[0].Schema()).Prepare(ctx, schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	for i, step := range steps {
		if i > 0 {
			err = db.Grow(step.Schema())
		}
		if err == nil {
			_, err = engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 700, Period: time.Minute}, step, db, func(int) {})
		}
		if i > 0 && err != nil && !s.caps.MakesColumns {
			t.Logf("n/a: the system adds no columns: %v", err)
			if driver.AsTemporary(err) != nil {
				t.Error("the refusal looks as if another try could succeed")
			}
			Close(t, db)
			return
		}
		if err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
	}
	if !s.caps.MakesColumns {
		t.Error("the system took rows with new columns, and Caps says that it makes none")
	}
	expected, err := oracle.Pass(ctx, e.dataset, e.queries, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	s.holds(t, db, env, e, e.dataset, expected)
	env.Create = true
	db = s.open(t, env)
	defer Close(t, db)
	if err := session.New(db).Prepare(ctx, schema, session.Mark{}); err != nil { // all that came belongs to the dataset
		t.Errorf("preparing again: %v", err)
	}
}
