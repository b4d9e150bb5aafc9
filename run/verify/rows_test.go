package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Values that were exchanged between rows keep every figure of the census, and rows that
// are read back differ.
func TestRows(t *testing.T) {
	for _, kind := range append(conformance.Traps(), conformance.Memory("memory")) {
		swaps := kind.Name == "swaps-values"
		if !swaps && kind.Name != "memory" {
			continue
		}
		census, survey := readBack(t, kind, "a seed", 40)
		c := &census[0]
		switch {
		case c.Contents.RowsUnread != "":
			t.Errorf("%s: not read: %s", kind.Name, c.Contents.RowsUnread)
		case swaps && !(strings.HasPrefix(c.Problem, "table cpu: the row of hostname=host_") && strings.Contains(c.Problem, ": usage_user is ")):
			t.Errorf("%s: problem %q", kind.Name, c.Problem)
		case !swaps && (c.Problem != "" || c.Contents.Rows != int64(len(survey.Sample)) || c.Contents.Rows != oracle.SampleRows):
			t.Errorf("%s: problem %q, %d of %d rows compared", kind.Name, c.Problem, c.Contents.Rows, len(survey.Sample))
		}
	}
}

// readBack loads a target, and compares its census and its rows.
func readBack(t *testing.T, kind driver.Driver, seed string, scale uint32) ([]result.CensusResult, *oracle.Survey) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	w := tsbs.CPUOnly()
	d, err := w.Dataset(workload.Spec{Name: w.Name(), Seed: 1, Scale: scale, Start: start, End: start.Add(time.Hour), Interval: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	db, err := kind.Open(t.Context(), driver.Env{}, nil)
	if err == nil {
		err = db.Create(t.Context(), d.Schema())
	}
	if err == nil {
		_, err = engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 100}, d, db, func(int) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	expected, err := oracle.PassSampling(t.Context(), d, seed, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	survey := &expected.Survey
	census, err := verify.Census(t.Context(), db, survey, verify.Sent{Acknowledged: true}, nil)
	if err != nil || census[0].Problem != "" {
		t.Fatalf("error %v, problem %q", err, census[0].Problem)
	}
	if err := verify.Rows(t.Context(), verify.Config{Workers: 2}, db, kind.Renderer(nil), survey, 0, census); err != nil {
		t.Fatal(err)
	}
	return census, survey
}
