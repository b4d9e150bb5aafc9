package suite

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// wrongly is a dataset of one batch with a change in its rows.
type wrongly struct {
	*fixed
	change func(*series.Run)
}

func (w *wrongly) Open() workload.Reader {
	kept := w.batch.CopyRows(nil)
	for i := range kept.Runs {
		w.change(&kept.Runs[i])
	}
	return &fixedReader{batch: kept}
}

// census: an incorrectly stored value of any type is found, as are a time
// and a series, as far as the target reports more about them than their count.
func (s *Suite) census(t T) {
	right, ok := s.types().dataset.(*fixed)
	if !ok {
		t.Fatal("the example has several batches")
	}
	expected, err := oracle.Pass(t.Context(), right, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	table := right.schema.Tables[0]
	for i, f := range table.Fields {
		if s.Brief() && i%4 > 0 { // a load for each field
			continue
		}
		digest := f.Type.Textual() && s.digests(t, right, i)
		problem, counts := s.censusProblem(t, right, expected, func(run *series.Run) {
			c := &run.Columns[i]
			switch {
			case run.Table != table:
			case !f.Type.UsesInts(): // all of them: sums of the largest floats show no smaller ones
				for row := range c.Floats {
					c.Floats[row] /= 2
				}
			case f.Type.Textual() && !digest: // the least and the largest alone
				for row := range c.Ints {
					c.Ints[row] = 5
				}
			case f.Type == series.Bool:
				c.Ints[31] ^= 1
			case f.Type == series.Timestamp:
				c.Ints[31] += int64(time.Second)
			case f.Type == series.Int && !s.caps.Holds(series.LargeInts): // doubles, whose sums of so large ones are not exact
				c.Ints[31] = 7
			case c.Ints[31] > 0:
				c.Ints[31]--
			default:
				c.Ints[31]++
			}
		})
		content := counts.Fields[i]
		switch {
		case content.Sum == nil && content.Min == nil:
			if !f.Type.Textual() {
				t.Errorf("Census reports neither sum nor minimum of %s", f.Name)
			}
		case !strings.Contains(problem, f.Name):
			t.Errorf("a wrong value of %s is not found: %q", f.Name, problem)
		}
	}
	if problem, _ := s.censusProblem(t, right, expected, func(run *series.Run) { run.Times[0] -= int64(time.Hour) }); !strings.Contains(problem, "the first time of a row is") {
		t.Errorf("a wrong time is not found: %q", problem)
	}
	if problem, _ := s.censusProblem(t, right, expected, func(run *series.Run) {
		for row := range run.Series {
			run.Series[row] = min(run.Series[row], 1)
		}
	}); !strings.Contains(problem, "no rows of 1 of 3 series") {
		t.Errorf("a series without rows is not found: %q", problem)
	}
}

// digests reports whether the target reports a digest of the texts of a field.
func (s *Suite) digests(t T, right *fixed, field int) bool {
	t.Helper()
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer db.Close()
	if err := session.New(db).Prepare(t.Context(), right.schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	counts, err := db.Census(t.Context(), right.schema.Tables[0])
	if err != nil {
		t.Fatal(err)
	}
	return counts.Fields[field].Sum != nil
}

// censusProblem loads the dataset with a change, and returns the problem that the census
// finds in its first table, and the target's census.
func (s *Suite) censusProblem(t T, right *fixed, expected *oracle.Expectations, change func(*series.Run)) (problem string, counts driver.Census) {
	t.Helper()
	ctx := t.Context()
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer db.Close()
	if err := session.New(db).Prepare(ctx, right.schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 3000, Period: time.Minute}, &wrongly{right, change}, db, func(int) {}); err != nil {
		t.Fatal(err)
	}
	counts, err := db.Census(ctx, right.schema.Tables[0])
	if err != nil {
		t.Fatal(err)
	}
	census, err := verify.Census(ctx, db, &expected.Survey, verify.Sent{Acknowledged: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return census[0].Problem, counts
}

// twice: of rows that were sent twice and are there twice the different ones are
// counted and compared, so that they hide no losses.
func (s *Suite) twice(t T) {
	ctx := t.Context()
	e := s.cpuOnly(t, 0)
	expected, err := oracle.Pass(ctx, e.dataset, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	const again = 100
	lost := fmt.Sprintf("different rows, %d expected; %d of its rows are lost: the target had acknowledged them", expected.Survey.Rows, again)
	for _, c := range []struct { // in a fixed order, as in recordings
		missing int64
		want    string
	}{{0, ""}, {again, lost}} {
		missing, want := c.missing, c.want
		db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
		defer db.Close()
		dedupes := s.caps.Dedupes
		if db.DistinctCensus == nil && !dedupes {
			t.Skip("n/a: the driver does not count distinct rows")
		}
		if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
			t.Fatal(err)
		}
		sent := verify.Sent{Acknowledged: true, Twice: again}
		if dedupes { // as the runner has it
			sent.Twice = 0
		}
		for _, d := range []workload.Dataset{workload.LimitRows(e.dataset, expected.Survey.Rows-missing), workload.LimitRows(e.dataset, again)} {
			if _, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 3000, Period: time.Minute}, d, db, func(int) {}); err != nil {
				t.Fatal(err)
			}
		}
		census, err := verify.Census(ctx, db, &expected.Survey, sent, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &census[0]
		if dedupes {
			if (r.Problem == "") != (missing == 0) || r.Lost != missing {
				t.Errorf("%d rows missing: %+v", missing, r)
			}
			continue
		}
		if !strings.Contains(r.Problem, want) || (r.Problem == "") != (want == "") || r.Duplicates != again || r.Lost != missing ||
			r.Contents.Distinct != expected.Survey.Rows-missing || r.Contents.PossiblyMissing != "" {
			t.Errorf("%d rows missing: %+v %+v", missing, r, r.Contents)
		}
	}
}
