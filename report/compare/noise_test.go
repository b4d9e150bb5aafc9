package compare

import (
	"testing"

	"github.com/tsmark/tsmark/result"
)

// A figure says which side's phases others disturbed, and no others' do.
func TestNoiseOfFigures(t *testing.T) {
	noise := func(others float64) *result.Noise {
		n := result.NewNoise(10, 2)
		n.Others, n.OthersMin, n.OthersMax = result.Value(others), result.Value(others), result.Value(others)
		n.Judge(result.QuietShare)
		return &n
	}
	subject := Subject{targets: []*result.Target{{Repeats: []result.Repeat{{
		Load: &result.Load{
			Cell:  result.Cell{Noise: noise(1)},
			Mixed: &result.Mixed{Writes: result.Load{Cell: result.Cell{Noise: noise(8)}}, Types: []result.MixedType{{Type: "a"}}},
		},
		Queries: []result.Queries{
			{Type: "a", Executed: 1, Cell: result.Cell{Noise: noise(0)}}, {Type: "b", Executed: 1, Cell: result.Cell{Noise: noise(12)}}, {Type: "c"},
		},
	}}}}}
	for _, c := range []struct {
		figure Figure
		want   string
	}{
		{Figure{Subject: LoadSubject, Metric: Load}, ""},
		{Figure{Subject: MixedSubject, Metric: MixedLoad}, "other processes used 40 % of the CPU"},
		{Figure{Subject: "a", Metric: MixedMedian}, "other processes used 40 % of the CPU"},
		{Figure{Subject: "a", Metric: Median}, ""},
		{Figure{Subject: "b", Metric: P99}, "other processes used 60 % of the CPU"},
		{Figure{Subject: "c", Metric: Median}, ""},
		{Figure{Subject: AllTypes, Metric: GeoMean}, "other processes used 30 % of the CPU (in 1 of 2 phases by itself)"},
	} {
		if got := subject.noisy(&c.figure); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.figure.Metric, c.figure.Subject, got, c.want)
		}
	}
}
