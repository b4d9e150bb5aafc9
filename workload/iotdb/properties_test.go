package iotdb

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tsmark/tsmark/workload"
)

// Values drawn with a fixed seed have the configured distribution. The bounds of the tests allow a
// false alarm with a probability of at most 1 in 10,000.

// uniformly fails unless numbers lie evenly from 0 to 1 (Kolmogorov-Smirnov).
func uniformly(t *testing.T, what string, numbers []float64) {
	t.Helper()
	slices.Sort(numbers)
	n := float64(len(numbers))
	d := 0.0
	for i, x := range numbers {
		d = max(d, math.Abs(x-float64(i)/n), math.Abs(x-float64(i+1)/n))
	}
	if limit := 2.23 / math.Sqrt(n); d > limit {
		t.Errorf("%s: %g from a uniform distribution, at most %g is chance", what, d, limit)
	}
}

// evenly fails if counts differ from the expected ones by more than chance (Pearson).
func evenly(t *testing.T, what string, counts, expected []float64) {
	t.Helper()
	limit := distuv.ChiSquared{K: float64(len(counts) - 1)}.Quantile(0.9999)
	if x := stat.ChiSquare(counts, expected); x > limit {
		t.Errorf("%s: chi square %g is beyond %g\n%v\n%v", what, x, limit, counts, expected)
	}
}

// Delays of late rows and of repeated ones are 1 and a Poisson number of steps.
func TestDelaysArePoisson(t *testing.T) {
	const rows, lambda, classes = 200_000, 6.5, 18
	spec := base()
	spec.End = spec.Start.Add(rows * spec.Interval)
	spec.Settings["iotdb.late"], spec.Settings["iotdb.duplicates"], spec.Settings["iotdb.late-mean"] = "0.25", "0.25", "6.5"
	s := dataset(t, spec).settings
	var late, again [classes]float64
	count := func(of *[classes]float64, delay int64) {
		of[min(delay-1, classes-1)]++
	}
	for k := range int64(rows) {
		if delay := s.delay(source{device: 3}, k); delay > 0 {
			count(&late, delay)
		}
		if repeated, delay := s.repeatDelay(source{device: 3}, k); repeated {
			count(&again, delay)
		}
	}
	known := distuv.Poisson{Lambda: lambda}
	for what, of := range map[string][classes]float64{"late rows": late, "repeated rows": again} {
		n := 0.0
		for _, c := range of {
			n += c
		}
		if share := n / rows; math.Abs(share-0.25) > 4*math.Sqrt(0.25*0.75/rows) {
			t.Errorf("%s: a share of %g, want 0.25", what, share)
		}
		var expected [classes]float64
		for x := range expected {
			expected[x] = n * known.Prob(float64(x))
		}
		expected[classes-1] = n * (1 - known.CDF(classes-2))
		evenly(t, what, of[:], expected[:])
	}
}

// Noise is normal around each wave, with a deviation in amplitudes.
func TestNoiseOfEachWave(t *testing.T) {
	for distribution, deviation := range map[string]float64{"1": 0.5, "0:1": 0.03, "0:0:1": 2} {
		noise := map[string]string{"1": "0.5", "0:1": "0.03", "0:0:1": "2"}[distribution]
		with := func(noise string) ([]float64, waveform) {
			values, _, w := wave(t, func(s *workload.Spec) {
				s.Settings["iotdb.distribution"], s.Settings["iotdb.noise"] = distribution, noise
			})
			return values, w
		}
		plain, _ := with("0")
		noisy, w := with(noise)
		for i := range noisy {
			noisy[i] = distuv.UnitNormal.CDF((noisy[i] - plain[i]) / w.amplitude / deviation)
		}
		uniformly(t, "the noise of "+distribution+" in quantiles of the normal distribution", noisy)
	}
	for _, distribution := range []string{"0:0:0:1", "0:0:0:0:1"} {
		if _, _, w := wave(t, func(s *workload.Spec) {
			s.Settings["iotdb.distribution"], s.Settings["iotdb.noise"] = distribution, "1"
		}); w.noise != 0 {
			t.Errorf("distribution %s has noise", distribution)
		}
	}
}

// Sensors have distributions and types in their shares.
func TestSharesOfSensors(t *testing.T) {
	spec := base()
	spec.Settings["iotdb.sensors"], spec.Settings["iotdb.distribution"], spec.Settings["iotdb.types"] = "10000", "1:2:3:0:4", "1:0:2:0:7"
	var shapes [distributionCount]float64
	var kinds [typeCount]float64
	last := boolean
	for _, n := range dataset(t, spec).sensors {
		shapes[n.shape]++
		kinds[n.kind]++
		if n.kind < last {
			t.Fatalf("sensor %d is a %s, behind a %s", n.number, typeNames[n.kind], typeNames[last])
		}
		last = n.kind
	}
	if shapes[uniform] != 0 {
		t.Errorf("%g sensors are random", shapes[uniform])
	}
	evenly(t, "distributions", slices.Delete(shapes[:], int(uniform), int(uniform)+1), []float64{1000, 2000, 3000, 4000})
	for kind, want := range map[valueType]float64{boolean: 1000, int32Type: 0, int64Type: 2000, floatType: 0, doubleType: 7000} {
		if math.Abs(kinds[kind]-want) > 1 { // a border may be rounded
			t.Errorf("%g sensors are of type %s, want %g", kinds[kind], typeNames[kind], want)
		}
	}
}

// Amplitudes, middles, periods, phases and noise of series lie evenly in their
// ranges.
func TestParametersOfSeries(t *testing.T) {
	spec := base()
	spec.Scale = 4000
	spec.Settings["iotdb.amplitude"], spec.Settings["iotdb.offset"], spec.Settings["iotdb.period"], spec.Settings["iotdb.noise"], spec.Settings["iotdb.distribution"] = "10..30", "-5..5", "1m..3m", "0.1..0.3", "1"
	d := dataset(t, spec)
	drawn := map[string][]float64{}
	for device := range spec.Scale {
		w := d.settings.waveform(device, &d.sensors[2])
		for what, x := range map[string]float64{
			"amplitude": (w.amplitude - 10) / 20, "offset": (w.middle + 5) / 10, "phase": w.phase,
			"period": (1/w.frequency - float64(time.Minute)) / float64(2*time.Minute), "noise": (w.noise/w.amplitude - 0.1) / 0.2,
		} {
			drawn[what] = append(drawn[what], x)
		}
	}
	if r := stat.Correlation(drawn["amplitude"], drawn["offset"], nil); math.Abs(r) > 4/math.Sqrt(4000) {
		t.Errorf("amplitudes and offsets are correlated: %g", r)
	}
	for what, numbers := range drawn {
		uniformly(t, what, numbers)
	}
}

// Each series has values of its own: of another sensor, another device or
// another seed they are independent.
func TestSeriesAreIndependent(t *testing.T) {
	values := func(device, sensor uint32, seed int64) []float64 {
		spec := base()
		spec.Seed, spec.End = seed, spec.Start.Add(20_000*spec.Interval)
		spec.Settings["iotdb.distribution"], spec.Settings["iotdb.types"] = "0:0:0:1", "0:0:0:0:1"
		d := dataset(t, spec)
		rows := make([]row, 20_000)
		for i := range rows {
			rows[i].at = int64(i)
		}
		out := make([]float64, len(rows))
		d.settings.floats(out, device, &d.sensors[sensor], rows, make([]int64, len(rows)))
		return out
	}
	one := values(3, 4, 123)
	for what, other := range map[string][]float64{
		"sensor": values(3, 5, 123), "device": values(2, 4, 123), "seed": values(3, 4, 124), "row": append(one[1:], one[0]),
	} {
		if r := stat.Correlation(one, other, nil); math.Abs(r) > 4/math.Sqrt(20_000) {
			t.Errorf("values are correlated with those of another %s: %g", what, r)
		}
	}
}

// Irregular rows lie evenly in their intervals, unaligned ones in their
// sensor's part of it.
func TestIrregularTimes(t *testing.T) {
	for unaligned, parts := range map[bool]int64{false: 1, true: 10} {
		spec := base()
		spec.End = spec.Start.Add(20_000 * spec.Interval)
		spec.Settings["iotdb.irregular"], spec.Settings["iotdb.unaligned"] = "true", fmt.Sprint(unaligned)
		s := dataset(t, spec).settings
		room := s.step / parts
		l := source{device: 3, sensor: uint32(parts) / 2}
		var offsets []float64
		for k := range int64(20_000) {
			offset := s.time(l, k) - s.start - k*s.step - int64(l.sensor)*room
			offsets = append(offsets, float64(offset)/float64(room))
			if offset < 0 || offset >= room || offset%s.grain != 0 {
				t.Fatalf("row %d is %v behind its place, of %v", k, time.Duration(offset), time.Duration(room))
			}
		}
		uniformly(t, "times", offsets)
	}
}

// A part of a dataset that nobody could read from its start is made at once,
// and the same however it is cut.
func TestPartsNeedNoPast(t *testing.T) {
	const far = 1 << 36
	for name, spec := range variants() {
		if mode := spec.Settings["iotdb.late-mode"]; mode == global || mode == paperPoisson {
			continue // their late rows depend on all rows before
		}
		spec.Interval, spec.End = time.Millisecond, spec.Start.Add(2*far*time.Millisecond)
		d := dataset(t, spec)
		whole := rowsOf(t, d.Part(5, 6, far, far+300), 1000)
		var parts []flat
		for from := int64(far); from < far+300; from += 100 {
			parts = append(parts, rowsOf(t, d.Part(5, 6, from, from+100), 77)...)
		}
		slices.SortFunc(whole, compareFlat)
		slices.SortFunc(parts, compareFlat)
		if len(whole) < 250 || !slices.Equal(parts, whole) {
			t.Errorf("%s: %d rows as a whole, %d others in parts", name, len(whole), len(parts))
		}
	}
}

// Queries draw devices, sensors and windows evenly.
func TestQueriesAreDrawnEvenly(t *testing.T) {
	const n = 7000
	spec := base()
	spec.QuerySettings["iotdb.devices"], spec.QuerySettings["iotdb.sensors"], spec.QuerySettings["iotdb.span"] = "2", "3", "10m"
	sequence, err := Workload().Queries(spec, "time-range", n)
	if err != nil {
		t.Fatal(err)
	}
	queries := slices.Collect(sequence)
	devices, sensors := map[string]float64{}, map[string]float64{}
	var starts []float64
	for i := range queries {
		q := &queries[i]
		for _, d := range q.In.Values {
			devices[d]++
		}
		for _, f := range q.NamedFields() {
			sensors[f]++
		}
		if q.In.Values[0] == q.In.Values[1] || len(q.NamedFields()) != 3 {
			t.Fatalf("query %d has the same value twice: %v, %v", i, q.In.Values, q.NamedFields())
		}
		starts = append(starts, float64(q.Start.Sub(spec.Start))/float64(spec.End.Sub(spec.Start)-10*time.Minute))
	}
	for what, of := range map[string]map[string]float64{"devices": devices, "sensors": sensors} {
		var counts, expected []float64
		total := 0.0
		for _, c := range of {
			counts = append(counts, c)
			total += c
		}
		if want := map[string]int{"devices": 7, "sensors": 10}[what]; len(of) != want {
			t.Errorf("queries cover %d %s, want %d", len(of), what, want)
		}
		for range counts {
			expected = append(expected, total/float64(len(counts)))
		}
		evenly(t, what, counts, expected)
	}
	uniformly(t, "windows", starts)
}
