package encode_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// bucketBounds are the bounds of the test's histograms.
func bucketBounds() []string { return []string{"0.005", "1", "+Inf"} }

// ofBucket is a tag of series that are numbered bucket by bucket.
type ofBucket struct {
	first  uint32
	each   uint32
	values []string // nil: a number
}

func (o ofBucket) Append(dst []byte, of uint32) ([]byte, bool) {
	if of -= o.first; o.values != nil {
		return append(dst, o.values[of%o.each]...), true
	}
	return strconv.AppendUint(append(dst, "job-"...), uint64(of/o.each), 10), true
}

// histogramSchema has a family of four classic histograms, and a gauge.
func histogramSchema(bounds []string) *series.Schema {
	const all = 4
	s := &series.Schema{}
	each := uint32(len(bounds))
	add := func(name string, kind series.MetricKind, per uint32) {
		t := &series.Table{
			Name: name, Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}},
			Tags:   []series.Tag{{Key: "job", Values: ofBucket{s.Series, per, nil}}},
			Metric: &series.Metric{Kind: kind, Family: "latency_seconds", Help: "calls", Unit: "seconds"},
			Range:  series.Span{First: s.Series, End: s.Series + all*per},
		}
		if per > 1 {
			t.Tags = append(t.Tags, series.Tag{Key: "le", Values: ofBucket{s.Series, per, bounds}})
		}
		s.Series += all * per
		s.Tables = append(s.Tables, t)
	}
	add("latency_seconds_bucket", series.Histogram, each)
	add("load", series.Gauge, 1)
	add("latency_seconds_sum", series.Histogram, 1)
	add("latency_seconds_count", series.Histogram, 1)
	return s
}

// histogramBatch has two scrapes of all series.
func histogramBatch(s *series.Schema) *series.Batch {
	b, r := new(series.Batch), rand.New(rand.NewPCG(1, 2))
	buckets := s.Tables[0].Range.End / 4
	for scrape := range int64(2) {
		totals := make([]float64, s.Tables[0].Range.End)
		for i := range totals {
			if totals[i] = float64(r.IntN(9)); i%int(buckets) > 0 {
				totals[i] += totals[i-1]
			}
		}
		for _, t := range s.Tables {
			run := b.Add(t)
			run.Grow(int(t.Range.End - t.Range.First))
			for row := range run.Times {
				run.Series[row], run.Times[row] = t.Range.First+uint32(row), (1451606400_000+scrape*15_000)*1e6
				switch t.Name {
				case "latency_seconds_bucket":
					run.Columns[0].Floats[row] = totals[row]
				case "latency_seconds_count":
					run.Columns[0].Floats[row] = totals[(row+1)*int(buckets)-1]
				default:
					run.Columns[0].Floats[row] = r.NormFloat64()
				}
			}
		}
	}
	return b
}

// A classic histogram is one data point if the batch has its buckets, sum and count at one time, and as receivers
// store them. All other samples are gauges, so that in any case receivers make the batch's samples of a request.
func TestHistogramsByOTLP(t *testing.T) {
	run := func(b *series.Batch, table, scrape int) *series.Run { return &b.Runs[4*scrape+table] }
	for name, c := range map[string]struct {
		bounds []string
		change func(*series.Batch)
		want   int // data points of histograms
	}{
		"whole": {bucketBounds(), func(*series.Batch) {}, 8},
		"the end of a series": {bucketBounds(), func(b *series.Batch) {
			setNulls(run(b, 0, 1), 0, 1, 2)
			setNulls(run(b, 2, 1), 0)
			setNulls(run(b, 3, 1), 0)
		}, 8},
		"the end of some series":   {bucketBounds(), func(b *series.Batch) { setNulls(run(b, 0, 1), 1) }, 7},
		"the end of a sum":         {bucketBounds(), func(b *series.Batch) { setNulls(run(b, 2, 0), 1) }, 7},
		"not a number":             {bucketBounds(), func(b *series.Batch) { run(b, 2, 0).Columns[0].Floats[1] = math.NaN() }, 8},
		"a batch ends in buckets":  {bucketBounds(), func(b *series.Batch) { run(b, 0, 1).Grow(10) }, 7},
		"a batch ends in counts":   {bucketBounds(), func(b *series.Batch) { run(b, 3, 1).Grow(1) }, 5},
		"a batch without buckets":  {bucketBounds(), func(b *series.Batch) { b.Runs = b.Runs[1:4] }, 0},
		"half a count":             {bucketBounds(), func(b *series.Batch) { run(b, 0, 0).Columns[0].Floats[0] = 0.5 }, 7},
		"counts that fall":         {bucketBounds(), func(b *series.Batch) { run(b, 0, 0).Columns[0].Floats[1] = -1 }, 7},
		"more counts than buckets": {bucketBounds(), func(b *series.Batch) { run(b, 3, 0).Columns[0].Floats[2]++ }, 7},
		"another time":             {bucketBounds(), func(b *series.Batch) { run(b, 2, 0).Times[0] += 1e6 }, 7},
		"another order": {bucketBounds(), func(b *series.Batch) {
			slices.Reverse(run(b, 2, 0).Series)
			slices.Reverse(run(b, 2, 0).Columns[0].Floats)
		}, 8},
		"1.0":          {[]string{"0.005", "1.0", "+Inf"}, func(*series.Batch) {}, 0},
		"without +Inf": {[]string{"0.005", "1"}, func(*series.Batch) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := histogramSchema(c.bounds)
			b := histogramBatch(s)
			c.change(b)
			want := expectedPoints(b)
			var request, line metricspb.MetricsData
			if err := proto.Unmarshal(encode.OTLP{Metric: metricName, Label: sameLabel}.New(s).Append(nil, b), &request); err != nil {
				t.Fatal(err)
			}
			if err := protojson.Unmarshal(encode.OTLP{Metric: metricName, Label: sameLabel, JSON: true}.New(s).Append(nil, b), &line); err != nil {
				t.Fatal(err)
			}
			for form, of := range map[string]*metricspb.MetricsData{"protobuf": &request, "JSON": &line} {
				got, histograms := receivedSamples(t, of)
				for _, points := range []map[string][]string{want, got} {
					for name := range points {
						slices.Sort(points[name])
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", form, diff)
				}
				if histograms != c.want {
					t.Errorf("%s has %d data points of histograms, want %d", form, histograms, c.want)
				}
			}
		})
	}
}

func TestHistogramsByOTLPAllocateNothing(t *testing.T) {
	s := histogramSchema(bucketBounds())
	b := histogramBatch(s)
	for form, e := range map[string]encode.Encoder{"protobuf": encode.OTLP{Metric: metricName, Label: sameLabel}.New(s), "JSON": encode.OTLP{Metric: metricName, Label: sameLabel, JSON: true}.New(s)} {
		out := e.Append(nil, b)
		if n := testing.AllocsPerRun(20, func() { out = e.Append(out[:0], b) }); n > 0 {
			t.Errorf("%s: %v allocations a batch", form, n)
		}
	}
}

func setNulls(run *series.Run, rows ...int) {
	for _, row := range rows {
		run.SetNull(0, row)
	}
}

// receivedSamples returns the samples that receivers such as Prometheus make of a request, and the number of data
// points of histograms.
func receivedSamples(t *testing.T, request *metricspb.MetricsData) (out map[string][]string, histograms int) {
	out = map[string][]string{}
	for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		add := func(name, job, le string, at uint64, v float64, flags uint32) {
			labels := fmt.Sprintf("__name__=%q,job=%q", name, job)
			if le != "" {
				labels += fmt.Sprintf(",le=%q", le)
			}
			if flags == 1 {
				v = math.Float64frombits(stale)
			}
			out[labels] = append(out[labels], fmt.Sprintf("%s@%d", valueText(v), at/1e6))
		}
		for _, p := range m.GetGauge().GetDataPoints() {
			le := ""
			if len(p.Attributes) > 1 {
				le = p.Attributes[1].Value.GetStringValue()
			}
			add(m.Name, p.Attributes[0].Value.GetStringValue(), le, p.TimeUnixNano, p.GetAsDouble(), p.Flags)
		}
		if h := m.GetHistogram(); h != nil && (h.AggregationTemporality != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE || m.Unit != "s" || m.Description != "calls") {
			t.Errorf("%s: %v, %q, %q", m.Name, h.AggregationTemporality, m.Unit, m.Description)
		}
		for _, p := range m.GetHistogram().GetDataPoints() {
			histograms++
			job, total := p.Attributes[0].Value.GetStringValue(), uint64(0)
			if p.Sum == nil || len(p.BucketCounts) != len(p.ExplicitBounds)+1 || len(p.Attributes) != 1 {
				t.Fatal(p)
			}
			for i, n := range p.BucketCounts {
				le := "+Inf"
				if i < len(p.ExplicitBounds) {
					le = strconv.FormatFloat(p.ExplicitBounds[i], 'f', -1, 64)
				}
				total += n
				add(m.Name+"_bucket", job, le, p.TimeUnixNano, float64(total), p.Flags)
			}
			add(m.Name+"_sum", job, "", p.TimeUnixNano, p.GetSum(), p.Flags)
			add(m.Name+"_count", job, "", p.TimeUnixNano, float64(p.Count), p.Flags)
		}
	}
	return out, histograms
}
