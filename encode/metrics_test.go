package encode_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// stale is the value of Prometheus's staleness marker.
const stale = 0x7ff0000000000002

// metricSchema has a table of each kind of metric. Each series is in one table.
func metricSchema() *series.Schema {
	const each = 5 // series of a table
	long := strings.Repeat("λ", 100)
	tags := []series.Tag{
		{Key: "job", Values: series.Numbered{Prefix: "job-"}},
		{Key: "Zone", Values: present{0: "a", 2: long, 7: `b"\` + "\n", 26: "z"}},
		{Key: "instance", Values: series.Numbered{Prefix: "10.0.0."}},
	}
	s := &series.Schema{}
	add := func(name string, m series.Metric, fields ...series.Field) {
		if fields == nil {
			fields = []series.Field{{Name: series.MetricValue, Type: series.Float}}
		}
		own := series.Span{First: s.Series, End: s.Series + each}
		s.Tables = append(s.Tables, &series.Table{Name: name, Tags: tags, Fields: fields, Metric: &m, Range: own})
		s.Series += each
	}
	add("node_load1", series.Metric{Kind: series.Gauge, Family: "node_load1", Help: `load, "1m"` + "\n\\"})
	add("node_cpu_seconds_total", series.Metric{Kind: series.Counter, Family: "node_cpu_seconds", Help: "seconds", Unit: "seconds"})
	latency := series.Metric{Kind: series.Histogram, Family: "latency_seconds", Unit: "seconds"}
	add("latency_seconds_bucket", latency)
	add("latency_seconds_sum", latency)
	add("latency_seconds_count", latency)
	native := []series.Field{{Name: series.NativeCount, Type: series.Int}, {Name: series.NativeSum, Type: series.Float}, {Name: series.NativeZero, Type: series.Int}}
	for i := range 12 {
		native = append(native, series.Field{Name: fmt.Sprint("b", i), Type: series.Int})
	}
	add("rpc_seconds", series.Metric{Kind: series.Histogram, Family: "rpc_seconds", Help: "calls", Unit: "seconds",
		Native: &series.Native{Schema: 3, ZeroThreshold: 1e-5, First: -4}}, native...)
	add("TcpInSegs", series.Metric{Family: "TcpInSegs", Help: "a counter that lacks its ending"})
	add("target_info", series.Metric{Kind: series.Info, Family: "target"})
	return s
}

// metricBatch fills a batch with samples; some are staleness markers.
func metricBatch(r *rand.Rand, s *series.Schema, b *series.Batch) {
	b.Reset()
	for range 20 {
		t := s.Tables[r.IntN(len(s.Tables))]
		run := b.Add(t)
		run.Grow(1 + r.IntN(10))
		for row := range run.Times {
			run.Series[row] = t.Range.First + uint32(r.IntN(int(t.Range.End-t.Range.First)))
			run.Times[row] = (1451606400_000 + r.Int64N(1e6)) * 1e6
			null := r.IntN(5) == 0
			for f := range run.Columns {
				if c := &run.Columns[f]; t.Fields[f].Type == series.Int {
					c.Ints[row] = r.Int64N(3) * r.Int64N(1000) * r.Int64N(2)
				} else {
					c.Floats[row] = [...]float64{r.NormFloat64(), 0, 3, math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(6)]
				}
				if null {
					run.SetNull(f, row)
				}
			}
		}
	}
}

// valueText returns a value with the bits of NaN.
func valueText(v float64) string {
	if v != v {
		return fmt.Sprintf("NaN:%x", math.Float64bits(v))
	}
	return fmt.Sprint(v)
}

// pointText returns a native histogram as a text: its buckets by their index in Prometheus.
func pointText(schema int32, threshold float64, count uint64, sum float64, zero uint64, buckets map[int32]uint64) string {
	return fmt.Sprintf("schema %d zero %v:%d count %d sum %s %v", schema, threshold, zero, count, valueText(sum), buckets)
}

// expectedPoints returns the samples of a batch by the labels of their series.
func expectedPoints(b *series.Batch) map[string][]string {
	out := map[string][]string{}
	for i := range b.Runs {
		run := &b.Runs[i]
		for row, of := range run.Series {
			labels := []string{fmt.Sprintf("__name__=%q", run.Table.Name)}
			for _, tag := range run.Table.Tags {
				if value, ok := tag.Values.Append(nil, of); ok {
					labels = append(labels, fmt.Sprintf("%s=%q", tag.Key, value))
				}
			}
			slices.Sort(labels)
			v := math.Float64frombits(stale)
			null := run.Lacks(0, row)
			text := ""
			if n := run.Table.Metric.Native; n == nil {
				if !null {
					v = run.Columns[0].Floats[row]
				}
				text = valueText(v)
			} else {
				buckets := map[int32]uint64{}
				count, zero := uint64(0), uint64(0)
				if !null {
					count, v, zero = uint64(run.Columns[0].Ints[row]), run.Columns[1].Floats[row], uint64(run.Columns[2].Ints[row])
					for i := range run.Columns[3:] {
						if n := run.Columns[3+i].Ints[row]; n != 0 {
							buckets[run.Table.Metric.Native.First+int32(i)] = uint64(n)
						}
					}
				}
				text = pointText(n.Schema, n.ZeroThreshold, count, v, zero, buckets)
			}
			name := strings.Join(labels, ",")
			out[name] = append(out[name], fmt.Sprintf("%s@%d", text, run.Times[row]/1e6))
		}
	}
	return out
}

func nativeText(h *histogram.Histogram) string {
	buckets := map[int32]uint64{}
	for it := h.PositiveBucketIterator(); it.Next(); {
		if b := it.At(); b.Count != 0 {
			buckets[b.Index] = b.Count
		}
	}
	return pointText(h.Schema, h.ZeroThreshold, h.Count, h.Sum, h.ZeroCount, buckets)
}

func metricName(t *series.Table, _ string) string { return t.Name }
func sameLabel(tag string) string                 { return tag }

// Requests of remote write hold the samples of metrics, as Prometheus's own types decode them: staleness markers,
// native histograms and, in version 2, type, help and unit.
func TestMetricsByRemoteWrite(t *testing.T) {
	s := metricSchema()
	for _, many := range []bool{false, true} { // whether labels are too many to be kept
		if many {
			s.Series = 1 << 20
		}
		r := rand.New(rand.NewPCG(3, 4))
		one := encode.RemoteWrite{Metric: metricName, Label: sameLabel}.New(s)
		two := encode.RemoteWrite{Metric: metricName, Label: sameLabel, Symbols: true}.New(s)
		var b series.Batch
		for range 100 {
			metricBatch(r, s, &b)
			want := expectedPoints(&b)
			if diff := cmp.Diff(want, decodeRemoteWrite1(t, one.Append(nil, &b))); diff != "" {
				t.Fatalf("version 1 (-want +got):\n%s", diff)
			}
			request := two.Append(nil, &b)
			if diff := cmp.Diff(want, decodeRemoteWrite2(t, s, request)); diff != "" {
				t.Fatalf("version 2 (-want +got):\n%s", diff)
			}
			samples, histograms := encode.WrittenSymbols(request)
			if samples == 0 || samples+histograms != int64(b.Rows()) {
				t.Fatalf("%d samples and %d histograms of %d rows", samples, histograms, b.Rows())
			}
		}
	}
}

func decodeRemoteWrite1(t testing.TB, request []byte) map[string][]string {
	t.Helper()
	var w prompb.WriteRequest
	if err := w.Unmarshal(request); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, s := range w.Timeseries {
		var labels, points []string
		for _, l := range s.Labels {
			labels = append(labels, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
		for _, p := range s.Samples {
			points = append(points, fmt.Sprintf("%s@%d", valueText(p.Value), p.Timestamp))
		}
		for _, p := range s.Histograms {
			if p.IsFloatHistogram() {
				t.Fatal("a histogram has floats")
			}
			points = append(points, fmt.Sprintf("%s@%d", nativeText(p.ToIntHistogram()), p.Timestamp))
		}
		addPoints(t, out, labels, points)
	}
	return out
}

// addPoints adds a series, which must not be there yet, with its labels in order.
func addPoints(t testing.TB, out map[string][]string, labels, points []string) {
	t.Helper()
	name := strings.Join(labels, ",")
	if out[name] != nil || !slices.IsSorted(labels) {
		t.Errorf("the series %s is there twice, or its labels are not in order", name)
	}
	out[name] = points
}

func decodeRemoteWrite2(t testing.TB, schema *series.Schema, request []byte) map[string][]string {
	t.Helper()
	var w writev2.Request
	if err := w.Unmarshal(request); err != nil {
		t.Fatal(err)
	}
	if w.Symbols[0] != "" {
		t.Errorf("the first symbol is %q", w.Symbols[0])
	}
	out := map[string][]string{}
	for _, s := range w.Timeseries {
		var labels, points []string
		var of *series.Metric
		for i := 0; i < len(s.LabelsRefs); i += 2 {
			name, value := w.Symbols[s.LabelsRefs[i]], w.Symbols[s.LabelsRefs[i+1]]
			labels = append(labels, fmt.Sprintf("%s=%q", name, value))
			if name == "__name__" {
				of = schema.Table(value).Metric
			}
		}
		m := s.Metadata
		if m.Type.String() != "METRIC_TYPE_"+strings.Replace(strings.ToUpper(of.Kind.String()), "UNKNOWN", "UNSPECIFIED", 1) || w.Symbols[m.HelpRef] != of.Help || w.Symbols[m.UnitRef] != of.Unit {
			t.Errorf("%v has the metadata %v, %q, %q", labels, m.Type, w.Symbols[m.HelpRef], w.Symbols[m.UnitRef])
		}
		for _, p := range s.Samples {
			points = append(points, fmt.Sprintf("%s@%d", valueText(p.Value), p.Timestamp))
		}
		for _, p := range s.Histograms {
			points = append(points, fmt.Sprintf("%s@%d", nativeText(p.ToIntHistogram()), p.Timestamp))
		}
		addPoints(t, out, labels, points)
	}
	return out
}

// Requests of OTLP hold the same samples, in protobuf and in JSON. Its exponential histograms count buckets from an
// index that is one less.
func TestMetricsByOTLP(t *testing.T) {
	s := metricSchema()
	r := rand.New(rand.NewPCG(3, 4))
	binaries := encode.OTLP{Metric: metricName, Label: sameLabel}.New(s)
	lines := encode.OTLP{Metric: metricName, Label: sameLabel, JSON: true}.New(s)
	var b series.Batch
	for range 100 {
		metricBatch(r, s, &b)
		want := expectedPoints(&b)
		var request, line metricspb.MetricsData // an ExportMetricsServiceRequest has the same field
		if err := proto.Unmarshal(binaries.Append(nil, &b), &request); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, decodeOTLP(t, s, &request)); diff != "" {
			t.Fatalf("protobuf (-want +got):\n%s", diff)
		}
		text := lines.Append(nil, &b)
		if err := protojson.Unmarshal(text, &line); err != nil || strings.Count(string(text), "\n") != 1 {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decodeOTLP(t, s, &request), decodeOTLP(t, s, &line)); diff != "" {
			t.Fatalf("JSON (-protobuf +JSON):\n%s", diff)
		}
	}
	b.Reset()
	if len(binaries.Append(nil, &b)) > 0 {
		t.Error("a batch without rows is a request")
	}
}

func decodeOTLP(t testing.TB, schema *series.Schema, request *metricspb.MetricsData) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	add := func(metric string, attributes []*commonpb.KeyValue, at uint64, text string) {
		labels := []string{fmt.Sprintf("__name__=%q", metric)}
		for _, a := range attributes {
			labels = append(labels, fmt.Sprintf("%s=%q", a.Key, a.Value.GetStringValue()))
		}
		slices.Sort(labels)
		name := strings.Join(labels, ",")
		out[name] = append(out[name], fmt.Sprintf("%s@%d", text, at/1e6))
	}
	for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		of := schema.Table(m.Name).Metric
		if m.Description != of.Help || (m.Unit == "s") != (of.Unit == "seconds") {
			t.Errorf("%s: description %q, unit %q", m.Name, m.Description, m.Unit)
		}
		sum, exponential := m.GetSum(), m.GetExponentialHistogram()
		if (sum != nil) != (of.Kind == series.Counter) || (exponential != nil) != (of.Native != nil) {
			t.Errorf("%s is a %T", m.Name, m.Data)
		}
		points := m.GetGauge().GetDataPoints()
		if sum != nil {
			points = sum.DataPoints
			if !sum.IsMonotonic || sum.AggregationTemporality != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
				t.Errorf("%s: %v", m.Name, sum)
			}
		}
		for _, p := range points {
			v := p.GetAsDouble()
			if p.Flags == uint32(metricspb.DataPointFlags_DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK) {
				v = math.Float64frombits(stale)
			}
			add(m.Name, p.Attributes, p.TimeUnixNano, valueText(v))
		}
		for _, p := range exponential.GetDataPoints() {
			buckets := map[int32]uint64{}
			for i, n := range p.Positive.GetBucketCounts() {
				if n != 0 {
					buckets[p.Positive.Offset+int32(i)+1] = n
				}
			}
			sum, threshold := p.GetSum(), p.ZeroThreshold
			if p.Flags == 1 { // such a data point has nothing else
				sum, threshold = math.Float64frombits(stale), of.Native.ZeroThreshold
			}
			add(m.Name, p.Attributes, p.TimeUnixNano, pointText(p.Scale, threshold, p.Count, sum, p.ZeroCount, buckets))
		}
	}
	return out
}

// A file of remote write is requests, each compressed and after its length.
func TestRemoteWriteFile(t *testing.T) {
	s := metricSchema()
	e, err := encode.NewRemoteWriteFile(s)
	if err != nil {
		t.Fatal(err)
	}
	var file []byte
	var b series.Batch
	var want []map[string][]string
	r := rand.New(rand.NewPCG(3, 4))
	for range 3 {
		metricBatch(r, s, &b)
		want = append(want, expectedPoints(&b))
		file = e.Append(file, &b)
	}
	for i := range want {
		length, n := binary.Uvarint(file)
		request, err := s2.Decode(nil, file[n:][:length])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[i], decodeRemoteWrite1(t, request)); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i, diff)
		}
		file = file[n+int(length):]
	}
	if len(file) > 0 {
		t.Errorf("%d more bytes", len(file))
	}
}

// OpenMetrics text describes each family once and ends with # EOF. Staleness markers are left out.
func TestOpenMetrics(t *testing.T) {
	s := metricSchema()
	if _, err := encode.NewOpenMetrics(s); err == nil || !strings.Contains(err.Error(), "it has no native histograms, as rpc_seconds is; leave them out, as by metrics.histograms=classic") {
		t.Errorf("native histograms: %v", err)
	}
	s.Tables = slices.DeleteFunc(s.Tables, func(t *series.Table) bool { return t.Metric.Native != nil })
	e, err := encode.NewOpenMetrics(s)
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	for i, v := range []float64{0.25, math.Inf(1), math.NaN(), 1e21} {
		run := b.Add(s.Tables[i%2])
		run.Grow(2)
		for row := range 2 {
			run.Series[row], run.Times[row], run.Columns[0].Floats[row] = s.Tables[i%2].Range.First+uint32(2*row), 1451606400_000e6+int64(i)*20e6, v
		}
		if i == 1 {
			run.SetNull(0, 0)
		}
	}
	got := string(e.(encode.Footed).AppendFooter(e.Append(e.AppendHeader(nil), &b)))
	long := strings.Repeat("λ", 100)
	want := `# TYPE node_load1 gauge
# HELP node_load1 load, "1m"\n\\
# TYPE node_cpu_seconds counter
# UNIT node_cpu_seconds seconds
# HELP node_cpu_seconds seconds
# TYPE latency_seconds histogram
# UNIT latency_seconds seconds
# TYPE TcpInSegs unknown
# HELP TcpInSegs a counter that lacks its ending
# TYPE target info
node_load1{job="job-0",Zone="a",instance="10.0.0.0"} 0.25 1451606400
node_load1{job="job-2",Zone="` + long + `",instance="10.0.0.2"} 0.25 1451606400
node_cpu_seconds_total{job="job-7",Zone="b\"\\\n",instance="10.0.0.7"} +Inf 1451606400.020
node_load1{job="job-0",Zone="a",instance="10.0.0.0"} NaN 1451606400.040
node_load1{job="job-2",Zone="` + long + `",instance="10.0.0.2"} NaN 1451606400.040
node_cpu_seconds_total{job="job-5",instance="10.0.0.5"} 1e+21 1451606400.060
node_cpu_seconds_total{job="job-7",Zone="b\"\\\n",instance="10.0.0.7"} 1e+21 1451606400.060
# EOF
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// metricEncoders are the encoders of metrics.
func metricEncoders(s *series.Schema) map[string]encode.Encoder {
	file, _ := encode.NewRemoteWriteFile(s)
	return map[string]encode.Encoder{
		"remote-write-1":    encode.RemoteWrite{Metric: metricName, Label: sameLabel}.New(s),
		"remote-write-2":    encode.RemoteWrite{Metric: metricName, Label: sameLabel, Symbols: true}.New(s),
		"otlp":              encode.OTLP{Metric: metricName, Label: sameLabel}.New(s),
		"otlp-json":         encode.OTLP{Metric: metricName, Label: sameLabel, JSON: true}.New(s),
		"remote-write-file": file,
	}
}

// largeBatch is a batch of thousands of samples.
func largeBatch(s *series.Schema) *series.Batch {
	b, r := new(series.Batch), rand.New(rand.NewPCG(1, 1))
	for _, t := range s.Tables {
		run := b.Add(t)
		run.Grow(1000)
		for row := range run.Times {
			run.Series[row], run.Times[row] = t.Range.First+uint32(row)%(t.Range.End-t.Range.First), 1451606400_000e6+int64(row)*1e6
			for f := range run.Columns {
				if c := &run.Columns[f]; c.Ints != nil {
					c.Ints[row] = r.Int64N(1000)
				} else {
					c.Floats[row] = float64(r.IntN(1000)) / 8
				}
			}
		}
	}
	return b
}

// Metrics allocate nothing but room in the output, also where labels are not kept.
func TestMetricsAllocateNothing(t *testing.T) {
	s := metricSchema()
	for _, all := range []uint32{s.Series, 1 << 20} {
		s.Series = all
		b := largeBatch(s)
		for name, e := range metricEncoders(s) {
			out := e.Append(nil, b)
			if n := testing.AllocsPerRun(20, func() { out = e.Append(out[:0], b) }); n > 3 {
				t.Errorf("%s: %v allocations a batch of %d rows", name, n, b.Rows())
			}
		}
	}
}

func BenchmarkMetrics(b *testing.B) {
	s := metricSchema()
	for _, kept := range []bool{true, false} {
		if !kept {
			s.Series = 1 << 20
		}
		batch := largeBatch(s)
		for name, e := range metricEncoders(s) {
			b.Run(fmt.Sprintf("%s/labels-kept=%v", name, kept), func(b *testing.B) {
				out := e.Append(nil, batch)
				b.SetBytes(int64(len(out)))
				b.ReportAllocs()
				for b.Loop() {
					out = e.Append(out[:0], batch)
				}
				b.ReportMetric(float64(batch.Rows()*b.N)/b.Elapsed().Seconds(), "samples/s")
			})
		}
	}
}
