package memory

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// growWithZeros fills the new fields of older rows with 0.
func (m *database) growWithZeros(s *series.Schema) error {
	if err := m.Grow(s); err != nil {
		return err
	}
	for _, b := range m.batches {
		for i := range b.Runs {
			for f := range b.Runs[i].Columns {
				b.Runs[i].Columns[f].Nulls = nil
			}
		}
	}
	return nil
}

// The census finds older rows with a value where none was sent.
func TestOlderRowsWithValues(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 1, Scale: 2, Start: start, End: start.Add(time.Hour), Interval: time.Minute, NewFields: 1})
	if err != nil {
		t.Fatal(err)
	}
	expected, err := oracle.Pass(t.Context(), d, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, lies := range []bool{false, true} {
		memory := Driver("memory")
		db, err := memory.Open(t.Context(), driver.Env{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if lies {
			db.Grow = db.Required.(*database).growWithZeros
		}
		steps, err := d.(workload.Growing).Steps()
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Create(t.Context(), steps[0].Schema()); err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			err := db.Grow(step.Schema())
			if err == nil {
				_, err = engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 50}, step, db, func(int) {})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		census, err := verify.Census(t.Context(), db, &expected.Survey, verify.Sent{Acknowledged: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if found := census[0].Problem != ""; found != lies {
			t.Errorf("lies: %v, and the census says %q", lies, census[0].Problem)
		}
	}
}
