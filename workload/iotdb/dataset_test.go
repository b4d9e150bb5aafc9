package iotdb

import (
	"cmp"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// base is a small dataset.
func base() workload.Spec {
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	return workload.Spec{Name: "iotdb", Seed: 123, Scale: 7, Start: start, End: start.Add(1050 * 5 * time.Second), Interval: 5 * time.Second, Settings: workload.Settings{}, QuerySettings: workload.Settings{}}
}

func dataset(t testing.TB, spec workload.Spec) *Dataset {
	t.Helper()
	d, err := Workload().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	return d.(*Dataset)
}

// flat is a row of a dataset, with NaN for NULL.
type flat struct {
	series uint32
	time   int64
	values string
}

// read returns all rows.
func rowsOf(t testing.TB, reader workload.Reader, max int) []flat {
	t.Helper()
	var all []flat
	var b series.Batch
	for {
		err := reader.Next(&b, max)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := b.Rows(); n == 0 || n > max {
			t.Fatalf("a batch of %d rows, at most %d wanted", n, max)
		}
		for i := range b.Runs {
			run := &b.Runs[i]
			for row, at := range run.Times {
				f := flat{series: run.Series[row], time: at, values: run.Table.Name}
				for c := range run.Columns {
					column := &run.Columns[c]
					switch {
					case run.Lacks(c, row):
						f.values += " -"
					case run.Table.Fields[c].Type.UsesInts():
						f.values += " " + time.Duration(column.Ints[row]).String()
					default:
						f.values += " " + time.Duration(math.Float64bits(column.Floats[row])).String()
					}
				}
				all = append(all, f)
			}
		}
	}
}

// variants are specifications that take different ways through the code.
func variants() map[string]workload.Spec {
	with := func(change func(*workload.Spec)) workload.Spec {
		s := base()
		change(&s)
		return s
	}
	return map[string]workload.Spec{
		"plain":     base(),
		"groups":    with(func(s *workload.Spec) { s.Settings["iotdb.device-groups"] = "3" }),
		"irregular": with(func(s *workload.Spec) { s.Settings["iotdb.irregular"] = "true" }),
		"unaligned": with(func(s *workload.Spec) {
			s.Settings["iotdb.unaligned"], s.Settings["iotdb.irregular"], s.Settings["iotdb.late"] = "true", "true", "0.1"
		}),
		"shared buffer": with(func(s *workload.Spec) { s.Settings["iotdb.values"] = sharedBuffer }),
		"all types":     with(func(s *workload.Spec) { s.Settings["iotdb.types"] = "1:1:1:1:1:1:1:1:1:1" }),
		"delayed":       with(func(s *workload.Spec) { s.Settings["iotdb.late"], s.Settings["iotdb.duplicates"] = "0.3", "0.2" }),
		"batch":         with(func(s *workload.Spec) { s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"] = "0.3", withinBatch }),
		"global": with(func(s *workload.Spec) {
			s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"], s.Settings["iotdb.duplicates"] = "0.3", global, "0.1"
		}),
		"paper-poisson": with(func(s *workload.Spec) { s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"] = "0.3", paperPoisson }),
	}
}

// The rows do not depend on how they are read: in batches of any size, the devices in several
// shards, the time in several parts.
func TestRandomAccessEqualsSequential(t *testing.T) {
	for name, spec := range variants() {
		t.Run(name, func(t *testing.T) {
			d := dataset(t, spec)
			want := rowsOf(t, d.Open(), 10_000)
			if again := rowsOf(t, dataset(t, spec).Open(), 33); !slices.Equal(again, want) {
				t.Error("batches of 33 rows hold other rows")
			}
			byDevice := func(all []flat) []flat {
				slices.SortStableFunc(all, func(a, b flat) int { return int(a.series) - int(b.series) })
				return all
			}
			var shards, parts []flat
			for i := range 3 {
				shards = append(shards, rowsOf(t, dealt(t, d, 3).OpenShard(i), 100)...)
			}
			n := d.settings.rows
			for _, device := range []uint32{4, 0, 6, 1, 5, 2, 3} {
				for from := int64(0); from < n; from += 300 {
					parts = append(parts, rowsOf(t, d.Part(device, device+1, from, min(from+300, n)), 77)...)
				}
			}
			ordered := byDevice(want)
			if !slices.Equal(byDevice(shards), ordered) {
				t.Error("three shards hold other rows")
			}
			if spec.Settings["iotdb.unaligned"] != "" { // a part has the sensors in turn
				slices.SortFunc(parts, compareFlat)
				slices.SortFunc(ordered, compareFlat)
			}
			if !slices.Equal(byDevice(parts), ordered) {
				t.Error("parts by device and time hold other rows")
			}
		})
	}
}

func compareFlat(a, b flat) int {
	return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.time, b.time), cmp.Compare(a.values, b.values))
}

// Latest holds the last row that arrived of each series and time.
func TestLatest(t *testing.T) {
	for name, spec := range variants() {
		d := dataset(t, spec)
		type key struct {
			series uint32
			time   int64
		}
		want := map[key]string{}
		all := rowsOf(t, d.Open(), 500)
		for _, r := range all {
			want[key{r.series, r.time}] = r.values
		}
		latest := rowsOf(t, d.Latest().Open(), 500)
		if len(latest) != len(want) {
			t.Errorf("%s: %d rows of %d, want %d", name, len(latest), len(all), len(want))
		}
		for _, r := range latest {
			if want[key{r.series, r.time}] != r.values {
				t.Fatalf("%s: %v, want %s", name, r, want[key{r.series, r.time}])
			}
		}
	}
}

// fast allocates nothing in the steady state, however rows arrive.
func TestReadingAllocatesNothing(t *testing.T) {
	for name, spec := range variants() {
		var b series.Batch
		reader := dataset(t, spec).Open()
		next := func() {
			if err := reader.Next(&b, 100); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			next()
		}
		if n := testing.AllocsPerRun(20, next); n >= 1 {
			t.Errorf("%s: %v allocations a batch", name, n)
		}
	}
}

// wave returns the values of the first sensor of a dataset of one distribution,
// and its formula.
func wave(t *testing.T, change func(*workload.Spec)) (values []float64, times []int64, w waveform) {
	t.Helper()
	s := base()
	s.Scale, s.End = 1, s.Start.Add(20_000*s.Interval)
	s.Settings["iotdb.types"], s.Settings["iotdb.decimals"] = "0:0:0:0:1", "9"
	change(&s)
	d := dataset(t, s)
	var b series.Batch
	if err := d.Open().Next(&b, 100); err != nil {
		t.Fatal(err)
	}
	for reader := d.Open(); reader.Next(&b, 1000) == nil; {
		values = append(values, b.Runs[0].Columns[0].Floats...)
		for _, at := range b.Runs[0].Times {
			times = append(times, at-s.Start.UnixNano())
		}
	}
	return values, times, d.settings.waveform(0, &d.sensors[0])
}

// Without noise the values are those of the formula.
func TestWaveforms(t *testing.T) {
	cycle := func(at int64, w waveform) float64 {
		_, part := math.Modf(float64(at)*w.frequency + w.phase)
		return part
	}
	for distribution, formula := range map[string]func(at int64, w waveform) float64{
		"1": func(at int64, w waveform) float64 {
			return w.middle + math.Copysign(w.amplitude, 0.5-cycle(at, w))
		},
		"0:1": func(at int64, w waveform) float64 {
			return w.middle + w.amplitude*math.Sin(2*math.Pi*(float64(at)*w.frequency+w.phase))
		},
		"0:0:1": func(at int64, w waveform) float64 {
			return w.middle - w.amplitude + 2*w.amplitude*cycle(at, w)
		},
		"0:0:0:0:1": func(_ int64, w waveform) float64 { return w.middle },
	} {
		values, times, w := wave(t, func(s *workload.Spec) {
			s.Settings["iotdb.distribution"], s.Settings["iotdb.noise"] = distribution, "0"
		})
		for i, at := range times {
			if want := formula(at, w); math.Abs(values[i]-want) > 1e-6 {
				t.Fatalf("distribution %s at %v: %v, want %v", distribution, time.Duration(at), values[i], want)
			}
		}
	}
}

// Noise has the configured variance, and random values are distributed evenly between their bounds.
func TestNoiseAndRandomValues(t *testing.T) {
	plain, _, _ := wave(t, func(s *workload.Spec) { s.Settings["iotdb.distribution"], s.Settings["iotdb.noise"] = "0:1", "0" })
	noisy, _, w := wave(t, func(s *workload.Spec) { s.Settings["iotdb.distribution"], s.Settings["iotdb.noise"] = "0:1", "0.2" })
	for i := range noisy {
		noisy[i] = (noisy[i] - plain[i]) / w.amplitude
	}
	if mean, deviation := stat.MeanStdDev(noisy, nil); math.Abs(mean) > 0.006 || math.Abs(deviation-0.2) > 0.004 {
		t.Errorf("noise has mean %g and deviation %g, want 0 and 0.2", mean, deviation)
	}
	if r := stat.Correlation(noisy[1:], noisy[:len(noisy)-1], nil); math.Abs(r) > 0.03 {
		t.Errorf("noise is correlated with its successor: %g", r)
	}
	values, _, w := wave(t, func(s *workload.Spec) { s.Settings["iotdb.distribution"] = "0:0:0:1" })
	for i := range values {
		values[i] = (values[i] - w.middle) / w.amplitude
	}
	slices.Sort(values)
	even := make([]float64, 10_001)
	for i := range even {
		even[i] = -1 + 2*float64(i)/10_000
	}
	if d := stat.KolmogorovSmirnov(values, nil, even, nil); d > 1.95/math.Sqrt(20_000) {
		t.Errorf("random values are %g from a uniform distribution", d)
	}
}

// The shared buffer repeats after 100 rows; device 99 has one value for ever,
// and device 49 two.
func TestSharedBuffer(t *testing.T) {
	s := base()
	s.Scale, s.Settings["iotdb.values"], s.Settings["iotdb.types"] = 100, sharedBuffer, "0:0:0:0:1"
	s.Settings["iotdb.distribution"] = "0:0:0:1"
	d := dataset(t, s)
	for device, want := range map[uint32]int{99: 1, 49: 2, 4: 20, 0: 100} {
		values := map[string]bool{}
		for _, r := range rowsOf(t, d.Part(device, device+1, 0, d.settings.rows), 1000) {
			values[r.values] = true
		}
		if len(values) != want {
			t.Errorf("device %d has %d different rows, want %d", device, len(values), want)
		}
	}
}

// BenchmarkReader is the default mix of ten sensors, noise included.
func BenchmarkReader(b *testing.B) {
	s := base()
	s.Scale, s.End = 1000, s.Start.Add(1_000_000*s.Interval)
	for name, types := range map[string]string{"default": "", "double": "0:0:0:0:1", "float": "0:0:0:1", "text": "0:0:0:0:0:1", "all": "1:1:1:1:1:1:1:1:1:1"} {
		b.Run(name, func(b *testing.B) {
			s.Settings["iotdb.types"] = types
			reader := dataset(b, s).Open()
			var batch series.Batch
			b.ReportAllocs()
			for b.Loop() {
				if err := reader.Next(&batch, 100); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds()/1e6, "Mpoints/s")
		})
	}
}

// dealt deals a dataset to clients, of 100 rows per quantum.
func dealt(t testing.TB, d *Dataset, clients int) *Dataset {
	t.Helper()
	dealt, err := d.Deal(clients, 100)
	if err != nil {
		t.Fatal(err)
	}
	return dealt.(*Dataset)
}

// BenchmarkShards is the default mix by as many readers at once as there are
// processors, each of devices of its own.
func BenchmarkShards(b *testing.B) {
	s := base()
	s.Scale, s.End = 1000, s.Start.Add(1_000_000*s.Interval)
	d := dealt(b, dataset(b, s), runtime.GOMAXPROCS(0))
	var next atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		reader := d.OpenShard(int(next.Add(1)) - 1)
		var batch series.Batch
		for p.Next() {
			if err := reader.Next(&batch, 100); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds()/1e6, "Mpoints/s")
}
