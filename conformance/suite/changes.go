package suite

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// changing is a dataset of two tables, with a row of each series an hour, as it is after some changes.
type changing struct {
	schema    *series.Schema
	from, end int64 // hours
	gone      func(t *series.Table, id uint32, hour int64) bool
	corrected func(t *series.Table, id uint32, hour int64) bool
	onlyThese bool  // the corrected rows alone
	batch     int64 // hours of a batch
}

// changedHosts is the number of its series.
const changedHosts = 4

// changesBegin is its first time. Months, weeks and days begin within its four days.
var changesBegin = time.Date(2016, 1, 30, 0, 0, 0, 0, time.UTC)

// newChanging returns four days of rows, without changes.
func newChanging() *changing {
	tags := []series.Tag{{Key: "hostname", Values: series.Numbered{Prefix: "host_"}}, {Key: "region", Values: Names{"eu", "us", "eu", "us"}}}
	none := func(*series.Table, uint32, int64) bool { return false }
	return &changing{
		schema: &series.Schema{Series: changedHosts, Tables: []*series.Table{
			{Name: "cpu", Dense: true, Tags: tags, Fields: []series.Field{{Name: "usage", Type: series.Float}, {Name: "tasks", Type: series.Int}}},
			{Name: "mem", Dense: true, Tags: tags, Fields: []series.Field{{Name: "used", Type: series.Int}}},
		}},
		end: 4 * 24, gone: none, corrected: none, batch: 24,
	}
}

// Schema and Open implement workload.Dataset.
func (c *changing) Schema() *series.Schema { return c.schema }
func (c *changing) Open() workload.Reader  { return &changingReader{c, c.from} }

type changingReader struct {
	*changing
	hour int64
}

// Next implements workload.Reader.
func (r *changingReader) Next(b *series.Batch, _ int) error {
	if r.hour >= r.end {
		return io.EOF
	}
	*b = series.Batch{}
	until := min(r.hour+r.batch, r.end)
	for _, t := range r.schema.Tables {
		r.add(b, t, until)
	}
	r.hour = until
	return nil
}

// add adds the rows of a table up to an hour.
func (r *changingReader) add(b *series.Batch, t *series.Table, until int64) {
	var run *series.Run
	for hour := r.hour; hour < until; hour++ {
		for id := range uint32(changedHosts) {
			if r.gone(t, id, hour) || r.onlyThese && !r.corrected(t, id, hour) {
				continue
			}
			if run == nil {
				run = b.Add(t)
			}
			row := run.Rows()
			run.Grow(row + 1)
			run.Series[row], run.Times[row] = id, hourOf(hour).UnixNano()
			value := int64(id)*1000 + hour
			if r.corrected(t, id, hour) {
				value += 100_000
			}
			for f := range run.Columns {
				if t.Fields[f].Type == series.Float {
					run.Columns[f].Floats[row] = float64(value) + 0.5
				} else {
					run.Columns[f].Ints[row] = value
				}
			}
		}
	}
}

// hourOf returns the start of an hour.
func hourOf(hour int64) time.Time { return changesBegin.Add(time.Duration(hour) * time.Hour) }

// Changes: corrected, deleted and dropped rows are so for queries once a call has returned, all others are as they
// were, and a repeated call changes nothing. Before each change the contents must differ from those after it: a
// driver that changes nothing would be found.
func (s *Suite) Changes(t T) {
	ctx := t.Context()
	d := newChanging()
	if s.refused(t, d.schema) {
		return
	}
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	defer func() { Close(t, db) }()
	s.offersChanges(t, db)
	ways := s.caps.Changes
	if ways.Delete.By+ways.Drop.By+ways.Correct.By == "" {
		t.Skipf("n/a: %s", ways.Delete.Reason)
	}
	if err := session.New(db).Prepare(ctx, d.schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	load := func(d *changing) {
		t.Helper()
		if _, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 5000, Period: time.Minute, InOrder: s.caps.InOrder}, d, db, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	if s.caps.InOrder > 0 && s.caps.InOrder < driver.InSeries {
		d.batch = 1
	}
	load(d)
	// nothing is a change of no rows, which a driver must not refuse: otherwise a way that it always refuses would be n/a.
	step := func(name string, way driver.Way, after *changing, change, nothing func() error) {
		s.sub(t, name, func(t T) {
			if way.By == "" {
				t.Skipf("n/a: %s", way.Reason)
			}
			if s.changesProblem(t, db, after) == "" {
				t.Error("a target that changes nothing would pass: the contents are those after the change")
			}
			for _, call := range []string{"first", "second"} {
				if err := change(); errors.Is(err, query.ErrUnsupported) {
					if err := nothing(); err != nil {
						t.Fatalf("Caps.Changes names the way %s, and not even a change of no rows is possible: %v", way.By, err)
					}
					t.Skipf("n/a: %v", err)
				} else if err != nil {
					t.Fatalf("the %s call: %v", call, err)
				}
				if s.brief() && call == "first" {
					continue
				}
				if problem := s.changesProblem(t, db, after); problem != "" {
					t.Fatalf("after the %s call: %s", call, problem)
				}
			}
			*d = *after
		})
	}
	cpu := d.schema.Tables[0]

	corrected := *d
	corrected.corrected = func(table *series.Table, id uint32, hour int64) bool {
		return table == cpu && id > 1 && hour%16 == 5
	}
	step("correct", ways.Correct, &corrected, func() error {
		these := corrected
		these.onlyThese = true
		if db.Correct == nil {
			load(&these)
			return nil
		}
		var all series.Batch
		these.batch = these.end
		if err := these.Open().Next(&all, 0); err != nil {
			return err
		}
		return db.Correct(ctx, &all)
	}, func() error {
		if db.Correct == nil {
			return nil
		}
		return db.Correct(ctx, new(series.Batch))
	})

	deleted := *d
	deleted.gone = func(table *series.Table, id uint32, _ int64) bool { return table == cpu && id == 1 }
	deleteNobody := func() error { return db.DeleteSeries(ctx, d.schema, cpu, "hostname", "nobody") }
	step("delete", ways.Delete, &deleted, func() error {
		err := db.DeleteSeries(ctx, d.schema, cpu, "hostname", "host_1")
		if err == nil {
			err = deleteNobody()
		}
		return err
	}, deleteNobody)

	// Units of retention may be hours, days, weeks or months. All of them begin on the 1st of February.
	dropped, before := *d, hourOf(2*24+12)
	dropped.from = 2 * 24
	step("drop", ways.Drop, &dropped, func() error {
		upTo, err := db.DropBefore(ctx, d.schema, before)
		switch {
		case err != nil:
			return err
		case upTo.Before(hourOf(2*24)) || upTo.After(before):
			t.Errorf("rows are gone up to %v, and they were to be dropped before %v", upTo, before)
		}
		dropped.from = int64(upTo.Sub(changesBegin)+time.Hour-1) / int64(time.Hour)
		return nil
	}, func() error {
		_, err := db.DropBefore(ctx, d.schema, changesBegin.AddDate(-5, 0, 0))
		return err
	})

	later := *d
	later.from, later.end = d.end, d.end+5
	later.gone = func(*series.Table, uint32, int64) bool { return false }
	load(&later)
	gone := d.gone
	d.end, d.gone = later.end, func(table *series.Table, id uint32, hour int64) bool {
		return gone(table, id, hour) && hour < later.from
	}
	if !s.brief() {
		if problem := s.changesProblem(t, db, d); problem != "" {
			t.Errorf("after further rows of all series: %s", problem)
		}
	}
	Close(t, db)
	env.Create = false
	db = s.open(t, env)
	if problem := s.changesProblem(t, db, d); problem != "" {
		t.Errorf("opened again: %s", problem)
	}
}

// offersChanges: an open database has the functions that Caps.Changes names, and Caps has reasons for the others.
func (s *Suite) offersChanges(t T, db driver.DB) {
	t.Helper()
	ways := s.caps.Changes
	writes := ways.Correct.By != "" && ways.Again == driver.Replaces
	for _, c := range []struct {
		name string
		way  driver.Way
		has  bool
	}{
		{"Delete", ways.Delete, db.DeleteSeries != nil}, {"Drop", ways.Drop, db.DropBefore != nil}, {"Correct", ways.Correct, db.Correct != nil || writes},
	} {
		steps := s.caps.Steps
		switch {
		case (c.way.By != "") != c.has:
			t.Errorf("Caps.Changes.%s has the way %q, and an open database has the function: %t", c.name, c.way.By, c.has)
		case (c.way.By == "") != (c.way.Reason != ""):
			t.Errorf("Caps.Changes.%s has the way %q and the reason %q; it has one of the two", c.name, c.way.By, c.way.Reason)
		case c.way.Step != "" && !slices.ContainsFunc(steps, func(step driver.Step) bool { return step.Name == c.way.Step }):
			t.Errorf("Caps.Changes.%s names the step %s, which the driver does not have", c.name, c.way.Step)
		}
	}
}

// changesProblem returns the first difference between a target and a dataset: of its census, of the rows that are read
// back, or of the number of rows.
func (s *Suite) changesProblem(t T, db driver.DB, d *changing) string {
	t.Helper()
	ctx := t.Context()
	expected, err := oracle.PassSampling(ctx, d, oracle.Drawing{Seed: t.Name(), Rows: 8}, []string{s.driver.Semantics}, nil, nil, oracle.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	census, err := verify.Census(ctx, db, &expected.Survey, verify.Sent{Acknowledged: true}, nil)
	if err == nil {
		err = verify.Rows(ctx, verify.Config{Workers: 1}, db, s.driver.Renderer(s.options), &expected.Survey, s.caps.Digits, census)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range census {
		if c.Problem != "" {
			return c.Problem
		}
	}
	return ""
}
