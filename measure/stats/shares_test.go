package stats

import "testing"

// R: fisher.test(…)$p.value, and binom.test(…)$conf.int of B's share.
func TestCompareSharesAsR(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		p, lo, hi  float64
		ratio      Value
	}{
		{1, 10, 11, 14, 0.00275945618522, 0.492024322952, 0.953420712110, Value{11. / 14 * 10, Exact}},
		{0, 20, 7, 20, 0.00831600831601, 0.153909204785, 0.592188534533, Value{0.35 / 0.15, AtLeast}},
		{7, 20, 0, 20, 0.00831600831601, 0, 0.168433470983, Value{0.15 / 0.35, AtMost}},
		{0, 20, 1, 20, 1, 0.00126508950, 0.248732763772, Value{0.05 / 0.15, AtLeast}},
		{0, 20, 0, 20, 1, 0, 0.168433470983, Value{0, Unknown}},
		{3, 3, 3, 3, 1, 0.292401773821, 1, Value{1, Exact}},
	} {
		got := CompareShares(c.a, c.n, c.b, c.m)
		within := func(x, y float64) bool { return x-y < 1e-8 && y-x < 1e-8 }
		if !within(got.P, c.p) || !within(got.B.Interval.Lo.Figure, c.lo) || !within(got.B.Interval.Hi.Figure, c.hi) || !within(got.Ratio.Figure, c.ratio.Figure) || got.Ratio.Bound != c.ratio.Bound {
			t.Errorf("%+v: p %.12g, B in %+v, ratio %v", c, got.P, *got.B.Interval, got.Ratio)
		}
	}
	if none := CompareShares(0, 0, 1, 5); none.Ratio.Bound != Unknown || none.A.N != 0 {
		t.Errorf("%+v of no trials", none)
	}
	for n, want := range map[int]float64{0: 1, 3: 1, 20: 0.15} {
		if got := RuleOfThree(n); got != want {
			t.Errorf("%v in %d trials, want %v", got, n, want)
		}
	}
}
