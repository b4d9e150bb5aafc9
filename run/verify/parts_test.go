package verify

import (
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Invisible rows explain an aggregate only if some part of the rows has that result. If there are
// too many parts to try, it must be within their limits.
func TestParts(t *testing.T) {
	some := func(visible []float64, missing ...float64) parts {
		p := parts{visible: visible}
		for i, v := range missing {
			p.missing = append(p.missing, timed{int64(i), v})
		}
		return p
	}
	many := make([]float64, 3*smallParts)
	for i := range many {
		many[i] = float64(i)
	}
	for _, c := range []struct {
		aggregate query.Aggregate
		parts     parts
		v         float64
		want      fit
	}{
		{query.Max, some([]float64{3, 5}, 4, 7, 9), 7, matches},
		{query.Max, some([]float64{3, 5}, 4, 7, 9), 5, matches},
		{query.Max, some([]float64{3, 5}, 4, 7, 9), 6, beyond}, // within 5 and 9, and no row has it
		{query.Max, some([]float64{3, 5}, 4, 7, 9), 4, beyond}, // less than the visible maximum
		{query.Max, some(nil, 4, 7), 4, matches},
		{query.Max, some(nil, 4, 7), 5, beyond},
		{query.Min, some([]float64{3, 5}, 4, 1, 2), 2, matches},
		{query.Min, some([]float64{3, 5}, 4, 1, 2), 4, beyond},
		{query.Count, some([]float64{3, 5}, 4, 1, 2), 4, matches},
		{query.Count, some([]float64{3, 5}, 4, 1, 2), 1, beyond},
		{query.Count, some([]float64{3, 5}, 4, 1, 2), 2.5, beyond},
		{query.Sum, some([]float64{3, 5}, 4, 1), 9, matches},
		{query.Sum, some([]float64{3, 5}, 4, 1), 10, beyond},
		{query.Avg, some([]float64{3, 5}, 7, 1), 3, matches}, // without the first missing row
		{query.Avg, some([]float64{3, 5}, 7, 1), 4.5, beyond},
		{query.Avg, some(nil, many...), 1, matches},   // 0, 1, 2: the others are missing
		{query.Avg, some(nil, many...), 1.25, within}, // of four rows: that state was not tried
		{query.Avg, some(nil, many...), 35.5, beyond}, // more than the greatest value
		{query.Avg, some(many, many...), 1, beyond},   // the visible values have the same weight
		{query.Sum, some([]float64{-1}, many...), 629, matches},
		{query.Sum, some([]float64{-1}, many...), 628, within},
		{query.Sum, some([]float64{-1}, many...), 630, beyond},
	} {
		if got := c.parts.explain(c.aggregate, c.v); got != c.want {
			t.Errorf("%s of %v and some of %v is %v: %d, want %d", c.aggregate, c.parts.visible, c.parts.missing, c.v, got, c.want)
		}
	}
}

// An answer from too many rows is checked against the limits of its groups.
func TestLimitsOfLargeAnswers(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	s := workload.Spec{Name: "cpu-only", Seed: 1, Scale: 5, Start: start, End: start.Add(2 * time.Hour), Interval: time.Minute}
	d, err := tsbs.CPUOnly().Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, aggregate := range []query.Aggregate{query.Max, query.Min, query.Avg, query.Count} {
		q := query.Query{Table: "cpu", Start: s.Start, End: s.End, Shape: query.Buckets{Width: time.Hour, Aggregate: aggregate, Fields: []string{"usage_user"}, GroupBy: "hostname"}}
		right, err := oracle.Pass(t.Context(), d, []query.Query{q}, nil, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		for add, wrong := range map[float64]bool{0: false, 1000: true, -1000: true} {
			a := &answer{Answered: &engine.Answered{Query: q, Answer: &query.Answer{}}, columns: q.Columns(d.Schema().Table("cpu"))}
			for _, row := range right.Full[0].Answer.Rows {
				row = slices.Clone(row)
				v, _ := row[len(row)-1].Number()
				row[len(row)-1] = query.Value{Kind: query.Float, Float: v + add}
				a.Answer.Rows = append(a.Answer.Rows, row)
			}
			if err := examineLimits(t.Context(), d, []*answer{a}); err != nil {
				t.Fatal(err)
			}
			if (a.beyond != "") != wrong || !wrong && a.parts != within {
				t.Errorf("%s with %v added: %d, %q", aggregate, add, a.parts, a.beyond)
			}
		}
	}
}
