package oracle_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// sites is a dataset of a second with the values of each series.
type sites struct {
	schema *series.Schema
	values [][]float64
}

func newSites(decimals int, values ...[]float64) *sites {
	return &sites{&series.Schema{Series: uint32(len(values)), Tables: []*series.Table{{
		Name: "power", Tags: []series.Tag{{Key: "site", Values: letters{}}}, Fields: []series.Field{{Name: "load", Type: series.Float, Decimals: decimals}}, Dense: true,
	}}}, values}
}

// letters name series.
type letters struct{}

func (letters) Append(dst []byte, series uint32) ([]byte, bool) {
	return append(dst, "ab"[series]), true
}

func (s *sites) Schema() *series.Schema { return s.schema }
func (s *sites) Open() workload.Reader  { return &sitesReader{sites: s} }

type sitesReader struct {
	*sites
	ended bool
}

func (r *sitesReader) Next(b *series.Batch, _ int) error {
	b.Reset()
	if r.ended {
		return io.EOF
	}
	r.ended = true
	run := b.Add(r.schema.Tables[0])
	for s, values := range r.values {
		for i, v := range values {
			run.Grow(run.Rows() + 1)
			row := run.Rows() - 1
			run.Series[row], run.Times[row], run.Columns[0].Floats[row] = uint32(s), int64(i)*int64(time.Millisecond), v
		}
	}
	return nil
}

// The order of summation makes a large difference to sums of decimals that cancel each other out: 0.1 + 0.2 - 0.3 is
// 5.55e-17 from left to right, and 2.78e-17 by the sums of Kahan and from right to left. All of these are correct, and
// nothing beyond rounding is.
func TestSumsThatCancel(t *testing.T) {
	load := []string{"load"}
	cancels, adds := []float64{0.1, 0.2, -0.3}, []float64{0.1, 0.2, 0.3}
	buckets := func(a query.Aggregate) query.Shape {
		return query.Buckets{Aggregate: a, Width: time.Minute, Fields: load, GroupBy: "site"}
	}
	for name, c := range map[string]struct {
		shape        query.Shape
		values       [][]float64
		decimals     int
		right, wrong []float64 // values of the last column of series a
	}{
		"sum":           {buckets(query.Sum), [][]float64{cancels}, 0, []float64{0x1p-54, 0x1p-55, 0}, []float64{1e-14, -1e-14}},
		"mean":          {buckets(query.Avg), [][]float64{cancels}, 0, []float64{0x1p-54 / 3, 0x1p-55 / 3, 0}, []float64{1e-15, -1e-15}},
		"sum of total":  {query.Totals{Aggregate: query.Sum, Fields: load, GroupBy: "site"}, [][]float64{cancels}, 0, []float64{0x1p-55}, []float64{1e-14}},
		"decimals":      {buckets(query.Sum), [][]float64{cancels}, 1, []float64{0x1p-54, 0}, []float64{1e-14}},
		"partly":        {buckets(query.Sum), [][]float64{{1e9, 0.5, -1e9}}, 0, []float64{0.5 + 1e-7}, []float64{0.5 + 1e-5}},
		"no cancelling": {buckets(query.Sum), [][]float64{adds}, 0, []float64{0.6}, []float64{0.6 + 2e-9}},
		"all negative":  {buckets(query.Sum), [][]float64{{-0.1, -0.2}}, 0, []float64{-0.3}, []float64{-0.3 + 2e-9}},
		"smallest":      {buckets(query.Min), [][]float64{cancels}, 0, []float64{-0.3}, []float64{-0.3 + 2e-9}},
		"means":         {query.Means{Group: []string{"site"}, Fields: load}, [][]float64{cancels}, 0, []float64{0x1p-55 / 3, 0}, []float64{1e-15}},
		"mean of means": {query.UnitMeans{Unit: "site", Fields: load}, [][]float64{adds, {-0.1, -0.2, -0.3}}, 0, []float64{1e-17, -1e-17, 0}, []float64{1e-14}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newSites(c.decimals, c.values...)
			q := query.Query{Table: "power", Shape: c.shape}
			pass, err := oracle.Pass(t.Context(), d, []query.Query{q}, nil, ignore)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := oracle.Rows(t.Context(), d, &q)
			if err != nil {
				t.Fatal(err)
			}
			for by, expected := range map[string]*query.Answer{"a family": pass.Full[0].Answer, "an evaluator": alone} {
				differs := func(v float64) *query.Difference {
					found := slices.Clone(expected.Rows[0])
					found[len(found)-1] = query.Value{Kind: query.Float, Float: v}
					return query.Compare(&q, q.Columns(d.schema.Tables[0]), expected, &query.Answer{Rows: [][]query.Value{found}})
				}
				for _, v := range c.right {
					if d := differs(v); d != nil {
						t.Errorf("by %s, %v is not accepted: %s", by, v, d)
					}
				}
				for _, v := range c.wrong {
					if differs(v) == nil {
						t.Errorf("by %s, %v is accepted for %s", by, v, query.RowText(expected.Rows[0]))
					}
				}
			}
		})
	}
}
