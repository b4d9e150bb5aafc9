package encode

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/series"
)

// OTLP describes requests in OpenTelemetry's protocol for metrics, each an ExportMetricsServiceRequest:
// https://opentelemetry.io/docs/specs/otlp/.
//
// All labels are attributes of data points, and there is no resource. A counter whose name ends with
// _total is a cumulative, monotonic sum, since Prometheus appends this ending to the names of other
// sums. A native histogram is an exponential histogram. The buckets, the sum and the count of a classic
// histogram are a histogram if the batch has them together, and receivers store them as the batch has them:
// counts are whole numbers, and bounds are written without needless digits. Everything else is a gauge. A NULL
// in a table that is a metric is a data point with the flag for no recorded value. Other tables are written as
// by RemoteWrite.
type OTLP struct {
	// Metric, Label and Null are those of RemoteWrite.
	Metric func(t *series.Table, field string) string
	Label  func(tag string) string
	Null   string
	// JSON selects the encoding of requests in JSON, each in a line of its own; otherwise they are in
	// protobuf.
	JSON bool
}

// New returns an encoder of the schema's rows.
func (o OTLP) New(s *series.Schema) Encoder {
	e := &otlp{form: otlpProto{}}
	if o.JSON {
		e.form = otlpJSON{}
	}
	e.tables = newTables(s, func(t *series.Table) otlpTable {
		tags := slices.Clone(t.Tags)
		for i := range tags {
			tags[i].Key = o.Label(tags[i].Key)
		}
		var ot otlpTable
		native := t.Metric != nil && t.Metric.Native != nil
		kind := otlpGauge
		if native {
			kind = otlpExponential
		}
		ot.attributes = newSeriesText(s, t, e.form.attributes(tags, kind))
		if t.Metric == nil {
			for _, name := range metricFields(t, o.Null) {
				ot.metrics = append(ot.metrics, otlpMetric{name: o.Metric(t, name)})
			}
			return ot
		}
		m := otlpMetric{name: o.Metric(t, t.Fields[0].Name), help: t.Metric.Help}
		m.unit = map[string]string{"seconds": "s", "bytes": "By"}[t.Metric.Unit]
		switch {
		case native:
			m.kind = otlpExponential
		case t.Metric.Kind == series.Counter && strings.HasSuffix(m.name, "_total"):
			m.kind = otlpSum
		}
		ot.metrics = append(ot.metrics, m)
		return ot
	})
	e.setHistograms(s, o)
	e.scratch.New = func() any { return new(otlpScratch) }
	return e
}

// otlp implements Encoder.
type otlp struct {
	form       otlpForm
	tables     tables[otlpTable]
	histograms []*otlpHistograms
	scratch    sync.Pool // of *otlpScratch
}

type otlpTable struct {
	attributes seriesText
	metrics    []otlpMetric    // by field
	of         *otlpHistograms // the family of the table; nil: it is not part of a classic histogram
}

type otlpMetric struct {
	name, help, unit string
	kind             otlpKind
}

type otlpKind uint8

const (
	otlpGauge otlpKind = iota
	otlpSum
	otlpHistogram
	otlpExponential
)

// otlpForm is an encoding of requests.
type otlpForm interface {
	// attributes returns a function that appends the attributes of a series' data points.
	attributes(tags []series.Tag, kind otlpKind) func([]byte, uint32) []byte
	begin(dst []byte) []byte
	end(dst []byte, start int) []byte
	beginMetric(dst []byte, m *otlpMetric, first bool) (out []byte, mark otlpMark)
	endMetric(dst []byte, m *otlpMetric, mark otlpMark) []byte
	// number appends a data point; null: it has no recorded value.
	number(dst, attributes []byte, at int64, v float64, null, first bool) []byte
	histogram(dst, attributes []byte, p *otlpPoint, first bool) []byte
	exponential(dst, attributes []byte, run *series.Run, row int, first bool) []byte
}

// otlpMark holds where the lengths of a metric belong.
type otlpMark struct{ metric, data int }

// otlpScratch is the memory of one batch's encoding.
type otlpScratch struct {
	order      []otlpRun // sorted by table
	attributes []byte
	otlpJoin
}

type otlpRun struct{ table, run int }

// AppendHeader implements Encoder.
func (e *otlp) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *otlp) Append(dst []byte, b *series.Batch) []byte {
	s := e.scratch.Get().(*otlpScratch)
	defer e.scratch.Put(s)
	s.order = s.order[:0]
	for i := range b.Runs {
		if b.Runs[i].Rows() > 0 {
			s.order = append(s.order, otlpRun{e.tables.index.lookUp(b.Runs[i].Table), i})
		}
	}
	if len(s.order) == 0 {
		return dst
	}
	slices.SortStableFunc(s.order, func(a, b otlpRun) int { return cmp.Compare(a.table, b.table) })
	start := len(dst)
	dst = e.form.begin(dst)
	first := true
	s.begin(len(e.histograms))
	for from, to := 0, 0; from < len(s.order); from = to {
		for to = from; to < len(s.order) && s.order[to].table == s.order[from].table; to++ {
		}
		t := &e.tables.values[s.order[from].table]
		if t.of != nil {
			dst, first = e.join(dst, s, t.of, b, first)
			continue
		}
		for f := range t.metrics {
			before := len(dst)
			var mark otlpMark
			dst, mark = e.form.beginMetric(dst, &t.metrics[f], first)
			none := len(dst)
			for _, at := range s.order[from:to] {
				run := &b.Runs[at.run]
				for row := range run.Series {
					dst = e.point(dst, s, t, f, run, row, none)
				}
			}
			if len(dst) == none {
				dst = dst[:before]
				continue
			}
			dst, first = e.form.endMetric(dst, &t.metrics[f], mark), false
		}
	}
	return e.form.end(dst, start)
}

// point appends the data point of a field in a row, if there is one. The first data point of the metric is at none.
func (e *otlp) point(dst []byte, s *otlpScratch, t *otlpTable, f int, run *series.Run, row, none int) []byte {
	null := false
	if run.Table.Metric != nil {
		null = run.Columns[0].Nulls.Has(row)
	} else if !hasSample(run, f, int32(row)) {
		return dst
	}
	s.attributes = t.attributes.append(s.attributes[:0], run.Series[row])
	if t.metrics[f].kind == otlpExponential {
		return e.form.exponential(dst, s.attributes, run, row, len(dst) == none)
	}
	v := 1.0
	if f < len(run.Columns) && !null {
		if c := &run.Columns[f]; run.Table.Fields[f].Type.UsesInts() {
			v = float64(c.Ints[row])
		} else {
			v = c.Floats[row]
		}
	}
	return e.form.number(dst, s.attributes, run.Times[row], v, null, len(dst) == none)
}

// otlpProto is the encoding in protobuf.
type otlpProto struct{}

func (otlpProto) attributes(tags []series.Tag, kind otlpKind) func([]byte, uint32) []byte {
	// Field 7 of a NumberDataPoint, 9 of a HistogramDataPoint, and 1 of an ExponentialHistogramDataPoint.
	field := [...]byte{otlpGauge: 0x3a, otlpSum: 0x3a, otlpHistogram: 0x4a, otlpExponential: 0x0a}[kind]
	l := newProtoLabels(tags, field, true)
	return l.append
}

// openMessage begins a message whose length closeMessage fills in. The length has four bytes.
func openMessage(dst []byte, tag byte) []byte { return append(dst, tag, 0x80, 0x80, 0x80, 0) }

// closeMessage ends the message whose content begins at start.
func closeMessage(dst []byte, start int) []byte {
	n := len(dst) - start
	for i := range 3 {
		dst[start-4+i] = byte(n>>(7*i)) | 0x80
	}
	dst[start-1] = byte(n >> 21)
	return dst
}

// openSize is the number of bytes that openMessage appends.
const openSize = 5

func (otlpProto) begin(dst []byte) []byte {
	dst = openMessage(dst, 0x0a)  // ResourceMetrics
	return openMessage(dst, 0x12) // its ScopeMetrics
}

func (otlpProto) end(dst []byte, start int) []byte {
	return closeMessage(closeMessage(dst, start+2*openSize), start+openSize)
}

func (otlpProto) beginMetric(dst []byte, m *otlpMetric, _ bool) ([]byte, otlpMark) {
	var mark otlpMark
	dst = openMessage(dst, 0x12)
	mark.metric = len(dst)
	dst = appendBytes(dst, 0x0a, m.name)
	if m.help != "" {
		dst = appendBytes(dst, 0x12, m.help)
	}
	if m.unit != "" {
		dst = appendBytes(dst, 0x1a, m.unit)
	}
	dst = openMessage(dst, [...]byte{otlpGauge: 0x2a, otlpSum: 0x3a, otlpHistogram: 0x4a, otlpExponential: 0x52}[m.kind])
	mark.data = len(dst)
	return dst, mark
}

func (otlpProto) endMetric(dst []byte, m *otlpMetric, mark otlpMark) []byte {
	if m.kind != otlpGauge {
		dst = append(dst, 0x10, 2) // cumulative
	}
	if m.kind == otlpSum {
		dst = append(dst, 0x18, 1) // monotonic
	}
	return closeMessage(closeMessage(dst, mark.data), mark.metric)
}

func (otlpProto) number(dst, attributes []byte, at int64, v float64, null, _ bool) []byte {
	size := len(attributes) + 9 + 9
	if null {
		size = len(attributes) + 9 + 2
	}
	dst = binary.AppendUvarint(append(dst, 0x0a), uint64(size))
	dst = append(dst, attributes...)
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x19), uint64(at))
	if null {
		return append(dst, 0x40, 1)
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0x21), math.Float64bits(v))
}

// nativeRange returns the range of columns of a row's buckets that are not empty.
func nativeRange(run *series.Run, row int) (first, end int) {
	first, end = nativeBuckets, len(run.Columns)
	for first < end && run.Columns[first].Ints[row] == 0 {
		first++
	}
	for end > first && run.Columns[end-1].Ints[row] == 0 {
		end--
	}
	return first, end
}

// nativeOffset is OTLP's index of the bucket in a column, which is one less than Prometheus's.
func nativeOffset(run *series.Run, column int) int64 {
	return int64(run.Table.Metric.Native.First) + int64(column-nativeBuckets) - 1
}

func (otlpProto) exponential(dst, attributes []byte, run *series.Run, row int, _ bool) []byte {
	native := run.Table.Metric.Native
	dst = openMessage(dst, 0x0a)
	start := len(dst)
	dst = append(dst, attributes...)
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x19), uint64(run.Times[row]))
	if run.Columns[nativeCount].Nulls.Has(row) {
		dst = appendZigzag(append(dst, 0x30), int64(native.Schema))
		return closeMessage(append(dst, 0x50, 1), start)
	}
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x21), uint64(run.Columns[nativeCount].Ints[row]))
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x29), math.Float64bits(run.Columns[nativeSum].Floats[row]))
	dst = appendZigzag(append(dst, 0x30), int64(native.Schema))
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x39), uint64(run.Columns[nativeZero].Ints[row]))
	if first, end := nativeRange(run, row); first < end {
		dst = openMessage(dst, 0x42)
		buckets := len(dst)
		dst = appendZigzag(append(dst, 0x08), nativeOffset(run, first))
		dst = openMessage(dst, 0x12)
		counts := len(dst)
		for i := first; i < end; i++ {
			dst = binary.AppendUvarint(dst, uint64(run.Columns[i].Ints[row]))
		}
		dst = closeMessage(closeMessage(dst, counts), buckets)
	}
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x71), math.Float64bits(native.ZeroThreshold))
	return closeMessage(dst, start)
}

// otlpJSON is the encoding in JSON, as OpenTelemetry's Collector writes files: a request in a line.
type otlpJSON struct{}

func (otlpJSON) attributes(tags []series.Tag, _ otlpKind) func([]byte, uint32) []byte {
	var keys [][]byte
	for i := range tags {
		keys = append(keys, append(appendJSON([]byte(`{"key":`), tags[i].Key), `,"value":{"stringValue":`...))
	}
	values := sync.Pool{New: func() any { return new([]byte) }}
	return func(dst []byte, of uint32) []byte {
		value := values.Get().(*[]byte)
		defer values.Put(value)
		dst = append(dst, `"attributes":[`...)
		start := len(dst)
		for i := range tags {
			var ok bool
			if *value, ok = tags[i].Values.Append((*value)[:0], of); !ok {
				continue
			}
			if len(dst) > start {
				dst = append(dst, ',')
			}
			dst, _ = jsontext.AppendQuote(append(dst, keys[i]...), *value)
			dst = append(dst, "}}"...)
		}
		return append(dst, ']')
	}
}

func (otlpJSON) begin(dst []byte) []byte {
	return append(dst, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[`...)
}

func (otlpJSON) end(dst []byte, _ int) []byte { return append(dst, "]}]}]}\n"...) }

func (otlpJSON) beginMetric(dst []byte, m *otlpMetric, first bool) ([]byte, otlpMark) {
	if !first {
		dst = append(dst, ',')
	}
	dst = appendJSON(append(dst, `{"name":`...), m.name)
	if m.help != "" {
		dst = appendJSON(append(dst, `,"description":`...), m.help)
	}
	if m.unit != "" {
		dst = appendJSON(append(dst, `,"unit":`...), m.unit)
	}
	return append(dst, [...]string{
		otlpGauge:       `,"gauge":{"dataPoints":[`,
		otlpSum:         `,"sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[`,
		otlpHistogram:   `,"histogram":{"aggregationTemporality":2,"dataPoints":[`,
		otlpExponential: `,"exponentialHistogram":{"aggregationTemporality":2,"dataPoints":[`,
	}[m.kind]...), otlpMark{}
}

func (otlpJSON) endMetric(dst []byte, _ *otlpMetric, _ otlpMark) []byte { return append(dst, "]}}"...) }

// point appends the parts that all data points have.
func (otlpJSON) point(dst, attributes []byte, at int64, first bool) []byte {
	if !first {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '{'), attributes...), `,"timeUnixNano":"`...)
	return append(strconv.AppendInt(dst, at, 10), '"')
}

func (j otlpJSON) number(dst, attributes []byte, at int64, v float64, null, first bool) []byte {
	dst = j.point(dst, attributes, at, first)
	if null {
		return append(dst, `,"flags":1}`...)
	}
	return append(appendJSONFloat(append(dst, `,"asDouble":`...), v), '}')
}

// appendJSONFloat appends a float as protobuf's JSON has it.
func appendJSONFloat(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

func (j otlpJSON) exponential(dst, attributes []byte, run *series.Run, row int, first bool) []byte {
	native := run.Table.Metric.Native
	dst = j.point(dst, attributes, run.Times[row], first)
	dst = strconv.AppendInt(append(dst, `,"scale":`...), int64(native.Schema), 10)
	if run.Columns[nativeCount].Nulls.Has(row) {
		return append(dst, `,"flags":1}`...)
	}
	dst = strconv.AppendInt(append(dst, `,"count":"`...), run.Columns[nativeCount].Ints[row], 10)
	dst = appendJSONFloat(append(dst, `","sum":`...), run.Columns[nativeSum].Floats[row])
	dst = strconv.AppendInt(append(dst, `,"zeroCount":"`...), run.Columns[nativeZero].Ints[row], 10)
	dst = appendJSONFloat(append(dst, `","zeroThreshold":`...), native.ZeroThreshold)
	if from, end := nativeRange(run, row); from < end {
		dst = strconv.AppendInt(append(dst, `,"positive":{"offset":`...), nativeOffset(run, from), 10)
		dst = append(dst, `,"bucketCounts":[`...)
		for i := from; i < end; i++ {
			if i > from {
				dst = append(dst, ',')
			}
			dst = append(strconv.AppendInt(append(dst, '"'), run.Columns[i].Ints[row], 10), '"')
		}
		dst = append(dst, "]}"...)
	}
	return append(dst, '}')
}
