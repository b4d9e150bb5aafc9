package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// isNear reports whether got differs from want by at most the fraction tol.
func isNear(got, want, tol float64) bool { return math.Abs(got-want) <= tol*math.Abs(want) }

func TestSummaryOfNothingIsZero(t *testing.T) {
	l := NewLatency()
	if got := l.Summary(); got != (Summary{}) {
		t.Errorf("summary of nothing: %+v", got)
	}
	if got := l.Curve(10); got != nil {
		t.Errorf("curve of nothing: %v", got)
	}
	if got := l.Quantile(0.5); got != 0 {
		t.Errorf("median of nothing: %v", got)
	}
}

func TestSummary(t *testing.T) {
	l := NewLatency()
	for ms := 1; ms <= 1000; ms++ {
		l.Record(time.Duration(ms) * time.Millisecond)
	}
	s := l.Summary()
	if s.Count != 1000 || s.Min != 0.001 || s.Max != 1 {
		t.Errorf("count, min, max = %d, %v, %v", s.Count, s.Min, s.Max)
	}
	for _, c := range []struct {
		name           string
		got, want, tol float64
	}{
		{"mean", s.Mean, 0.5005, 1e-12},
		{"stddev", s.StdDev, math.Sqrt((1000*1000-1)/12.0) / 1000, 1e-12},
		{"median", s.Median, 0.5005, 1e-3},
		{"p90", s.P90, 0.900, 1e-3},
		{"p95", s.P95, 0.950, 1e-3},
		{"p99", s.P99, 0.990, 1e-3},
		{"p99.9", s.P999, 0.999, 1e-3},
	} {
		if !isNear(c.got, c.want, c.tol) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestStdDevOfLongAlikeLatencies fails where squares are summed plainly: half
// an hour in nanoseconds squared leaves no digit for a spread of 1 ns.
func TestStdDevOfLongAlikeLatencies(t *testing.T) {
	l := NewLatency()
	for i := range 1000 {
		l.Record(30*time.Minute + time.Duration(i%2)*2)
	}
	if got := l.Summary().StdDev; !isNear(got, 1e-9, 1e-6) {
		t.Errorf("stddev = %v, want 1e-9", got)
	}
}

func TestRecordOutOfRange(t *testing.T) {
	l := NewLatency()
	l.Record(-time.Second)
	l.Record(2 * Longest)
	s := l.Summary()
	if s.Count != 2 || s.Min != 0 || s.Max != 7200 || s.Mean != 3600 {
		t.Errorf("summary: %+v", s)
	}
	if p99 := l.Quantile(0.99); p99 < 3599 || p99 > 7200 || s.P99 != 0 {
		t.Errorf("p99 = %v, want the end of the range or more, and no figure of two values, not %v", p99, s.P99)
	}
}

// samples returns durations of very different magnitude.
func samples(r *rand.Rand, n int) []time.Duration {
	s := make([]time.Duration, n)
	for i := range s {
		s[i] = time.Duration(math.Exp(r.Float64() * math.Log(float64(10*time.Minute))))
	}
	return s
}

func TestQuantilesAgreeWithSortedSamples(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(5000)
		values := samples(r, n)
		l := NewLatency()
		var sum float64
		for _, v := range values {
			l.Record(v)
			sum += v.Seconds()
		}
		slices.Sort(values)
		s := l.Summary()
		if s.Min != values[0].Seconds() || s.Max != values[n-1].Seconds() {
			t.Fatalf("seed %d: min, max = %v, %v, want %v, %v", seed, s.Min, s.Max, values[0], values[n-1])
		}
		if !isNear(s.Mean, sum/float64(n), 1e-9) {
			t.Fatalf("seed %d: mean = %v, want %v", seed, s.Mean, sum/float64(n))
		}
		for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
			rank := Rank(int64(n), q)
			want := values[rank-1].Seconds()
			if got := l.Quantile(q); got < want || !isNear(got, want, 1e-3) {
				t.Fatalf("seed %d, %d values: quantile %v = %v, want %v", seed, n, q, got, want)
			}
		}
	}
}

func TestMergeEqualsRecordingTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	together, merged := NewLatency(), NewLatency()
	for part := range 4 {
		l := NewLatency()
		for _, v := range samples(r, part*500) { // the first part is empty
			l.Record(v)
			together.Record(v)
		}
		merged.Merge(l)
	}
	got, want := merged.Summary(), together.Summary()
	if !isNear(got.Mean, want.Mean, 1e-9) || !isNear(got.StdDev, want.StdDev, 1e-9) {
		t.Errorf("mean, stddev = %v, %v, want %v, %v", got.Mean, got.StdDev, want.Mean, want.StdDev)
	}
	got.Mean, got.StdDev = want.Mean, want.StdDev
	if got != want {
		t.Errorf("merged %+v, together %+v", got, want)
	}
}

func TestCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	l := NewLatency()
	for _, v := range samples(r, 2000) {
		l.Record(v)
	}
	points := l.Curve(40)
	s := l.Summary()
	if len(points) != 40 || points[0].Quantile != 0 || !isNear(points[0].Seconds, s.Min, 1e-3) {
		t.Errorf("%d points, the first %+v, want 40 from the minimum %v", len(points), points[0], s.Min)
	}
	last := points[39]
	if !isNear(last.Quantile, 1-1.0/4000, 1e-12) || last.Seconds != s.Max {
		t.Errorf("last point %+v, want the maximum %v at 1-1/4000", last, s.Max)
	}
	for i, p := range points[1:] {
		if p.Quantile <= points[i].Quantile || p.Seconds < points[i].Seconds {
			t.Errorf("the curve falls from %+v to %+v", points[i], p)
		}
	}
	if got, want := points[20].Seconds, l.Quantile(points[20].Quantile); got != want {
		t.Errorf("point %v has %v, Quantile says %v", points[20].Quantile, got, want)
	}
}

func TestEncodeDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{0, 1, 3000} {
		l := NewLatency()
		for _, v := range samples(r, n) {
			l.Record(v)
		}
		encoded, err := l.Encode()
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		got, want := decoded.Summary(), l.Summary()
		if got.Count != want.Count {
			t.Errorf("%d values decoded, want %d", got.Count, want.Count)
		}
		for _, c := range [][2]float64{
			{got.Min, want.Min}, {got.Mean, want.Mean}, {got.Median, want.Median}, {got.P90, want.P90},
			{got.P95, want.P95}, {got.P99, want.P99}, {got.P999, want.P999}, {got.Max, want.Max},
		} {
			if !isNear(c[0], c[1], 2e-3) {
				t.Errorf("%d values: decoded %+v, want %+v", n, got, want)
				break
			}
		}
		again, err := decoded.Encode()
		if err != nil || again != encoded {
			t.Errorf("%d values: encoding the decoded values gives another text (error %v)", n, err)
		}
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	l := NewLatency()
	l.Record(time.Millisecond)
	encoded, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", "not base64!", encoded[:len(encoded)/2]} {
		if _, err := Decode(damaged); err == nil {
			t.Errorf("%q was decoded", damaged)
		}
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	l := NewLatency()
	d := time.Duration(1)
	if n := testing.AllocsPerRun(1000, func() { l.Record(d); d = d*3%time.Minute + 1 }); n != 0 {
		t.Errorf("Record allocates %v times", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	l := NewLatency()
	b.ReportAllocs()
	d := time.Duration(1)
	for b.Loop() {
		l.Record(d)
		d = d*3%time.Second + 1
	}
}

// A histogram may come from anybody: figures that no operation can have, and ranges that
// take much memory, are errors.
func TestRestoreRefuses(t *testing.T) {
	l := NewLatency()
	l.Record(time.Second)
	encoded, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range []float64{1e308, -1, math.NaN(), math.Inf(1)} {
		for _, exact := range []Summary{{Mean: figure}, {StdDev: figure}, {Min: figure}, {Max: figure}} {
			if _, err := Restore(encoded, exact); err == nil {
				t.Errorf("%+v: no error", exact)
			}
		}
	}
	wide, err := (&Latency{hist: hdrhistogram.New(1, math.MaxInt64, 5)}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(wide); err == nil {
		t.Error("a histogram of another range was decoded")
	}
}
