package promql

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/tsmark/tsmark/series"
)

// span is a range of times in milliseconds, both ends included.
type span struct{ first, last int64 }

// need is what a selector reads: series that match, in a span.
type need struct {
	matchers []*labels.Matcher
	span     span
}

// store holds the samples that selectors need.
type store struct {
	needs  []need
	feeds  map[*series.Table][]*feed
	byName map[string][]*samples
	unique map[string]*samples // by the bytes of its labels
	merged map[string][]span   // spans of needs, merged, by the indexes of the needs
	text   []byte
}

// feed is a field of a table whose values are the samples of a metric.
type feed struct {
	name   string
	field  int   // or nativeRows, or emptyRows
	needs  []int // whose matchers accept the name
	marker bool  // NULL is a staleness marker; otherwise there is no sample
	series map[uint32]*samples
}

// Feeds that are not one field of a table.
const (
	nativeRows = -1 // the rows are native histograms
	emptyRows  = -2 // the rows without any value are samples of the metric series.NoValue
)

// samples is a series: its samples in order of time, once the store is complete.
type samples struct {
	labels     labels.Labels
	spans      []span // of times that are needed
	times      []int64
	values     []float64                   // of floats
	histograms []*histogram.FloatHistogram // nil for floats
	batches    []int32                     // that brought the samples, which are then in the order of their arrival; nil: not recorded
}

func newStore() *store {
	return &store{feeds: map[*series.Table][]*feed{}, byName: map[string][]*samples{}, unique: map[string]*samples{}, merged: map[string][]span{}}
}

// need records what an expression reads when it is evaluated at times in a span. The step is the one
// that VictoriaMetrics uses. Its rules read further back than Prometheus's.
func (s *store) need(e parser.Node, at span, step int64) {
	// shift returns the times that are read for a selector or subquery with modifiers.
	shift := func(at span, offset time.Duration, timestamp *int64) span {
		if timestamp != nil {
			at = span{*timestamp, *timestamp}
		}
		return span{at.first - offset.Milliseconds(), at.last - offset.Milliseconds()}
	}
	switch n := e.(type) {
	case *parser.MatrixSelector:
		of := n.VectorSelector.(*parser.VectorSelector)
		at = shift(at, of.OriginalOffset, of.Timestamp)
		s.needs = append(s.needs, need{of.LabelMatchers, span{at.first - max(n.Range.Milliseconds(), step) - silence, at.last}})
		return
	case *parser.VectorSelector:
		at = shift(at, n.OriginalOffset, n.Timestamp)
		s.needs = append(s.needs, need{n.LabelMatchers, span{at.first - max(silence, step) - silence, at.last}})
		return
	case *parser.SubqueryExpr:
		at = shift(at, n.OriginalOffset, n.Timestamp)
		inner := n.Step.Milliseconds()
		if inner == 0 {
			inner = max(step, time.Minute.Milliseconds())
		}
		s.need(n.Expr, span{at.first - n.Range.Milliseconds() - 2*inner - silence, at.last + 2*inner}, inner)
		return
	}
	for child := range parser.ChildrenIter(e) {
		s.need(child, at, step)
	}
}

// open finds out which fields of a table are needed.
func (s *store) open(t *series.Table) []*feed {
	feeds, known := s.feeds[t]
	if known {
		return feeds
	}
	add := func(name string, field int, marker bool) {
		f := &feed{name: name, field: field, marker: marker, series: map[uint32]*samples{}}
		for i := range s.needs {
			if matchesName(s.needs[i].matchers, name) {
				f.needs = append(f.needs, i)
			}
		}
		if len(f.needs) > 0 {
			feeds = append(feeds, f)
		}
	}
	switch {
	case t.Metric != nil && t.Metric.Native != nil:
		add(t.Name, nativeRows, true)
	case t.Metric != nil:
		add(t.Name, t.FieldIndex(series.MetricValue), true)
	default:
		for i := range t.Fields {
			if f := &t.Fields[i]; f.Type.Numeric() || f.Type == series.Bool || f.Type == series.Date {
				add(t.Name+"_"+f.Name, i, false)
			}
		}
		add(t.Name+"_"+series.NoValue, emptyRows, false)
	}
	s.feeds[t] = feeds
	return feeds
}

// metricName is the label with the name of a metric.
const metricName = "__name__"

func isMetricName(label string) bool { return label == metricName }

func matchesName(matchers []*labels.Matcher, name string) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool {
		return m.Name == metricName && !m.Matches(name)
	})
}

func matchesAll(matchers []*labels.Matcher, of labels.Labels) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(of.Get(m.Name)) })
}

// notRecorded is in place of a sample's batch.
const notRecorded = -1

// add takes the samples of a run that are needed.
func (s *store) add(run *series.Run, batch int32) {
	for _, f := range s.open(run.Table) {
		for row, t := range run.Times {
			if f.field == emptyRows && hasValue(run, row) {
				continue
			}
			of, known := f.series[run.Series[row]]
			if !known {
				of = s.series(f, run.Table, run.Series[row])
				f.series[run.Series[row]] = of
			}
			ms := t / int64(time.Millisecond)
			if of == nil || !of.needs(ms) {
				continue
			}
			switch {
			case f.field == emptyRows:
				of.times, of.values = append(of.times, ms), append(of.values, 1)
			case f.field == nativeRows:
				of.times, of.histograms = append(of.times, ms), append(of.histograms, nativeOf(run, row))
			case !run.Lacks(f.field, row):
				v := 0.0
				if c := &run.Columns[f.field]; run.Table.Fields[f.field].Type.UsesInts() {
					v = float64(c.Ints[row])
				} else {
					v = c.Floats[row]
				}
				of.times, of.values = append(of.times, ms), append(of.values, v)
			case f.marker:
				of.times, of.values = append(of.times, ms), append(of.values, math.Float64frombits(value.StaleNaN))
			}
			if batch != notRecorded && len(of.batches) < len(of.times) {
				of.batches = append(of.batches, batch)
			}
		}
	}
}

func hasValue(run *series.Run, row int) bool {
	for f := range run.Table.Fields {
		if !run.Lacks(f, row) {
			return true
		}
	}
	return false
}

// series returns a series of a feed; nil: no selector needs it.
func (s *store) series(f *feed, t *series.Table, id uint32) *samples {
	pairs := []string{metricName, f.name}
	for i := range t.Tags {
		text, has := t.Tags[i].Values.Append(s.text[:0], id)
		if s.text = text; has && len(text) > 0 {
			pairs = append(pairs, t.Tags[i].Key, string(text))
		}
	}
	of := &samples{labels: labels.FromStrings(pairs...)}
	var key []byte
	var spans []span
	for _, i := range f.needs {
		if matchesAll(s.needs[i].matchers, of.labels) {
			key = append(key, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
			spans = append(spans, s.needs[i].span)
		}
	}
	if spans == nil {
		return nil
	}
	merged, known := s.merged[string(key)]
	if !known {
		merged = merge(spans)
		s.merged[string(key)] = merged
	}
	of.spans = merged
	s.text = of.labels.Bytes(s.text[:0])
	if same := s.unique[string(s.text)]; same != nil { // systems of metrics make one series of both
		return same
	}
	s.unique[string(s.text)] = of
	s.byName[f.name] = append(s.byName[f.name], of)
	return of
}

// merge returns spans that cover the same times, ascending, without overlaps.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return int(min(max(a.first-b.first, -1), 1)) })
	out := spans[:1]
	for _, next := range spans[1:] {
		if last := &out[len(out)-1]; next.first <= last.last {
			last.last = max(last.last, next.last)
		} else {
			out = append(out, next)
		}
	}
	return out
}

func (s *samples) needs(t int64) bool {
	i := sort.Search(len(s.spans), func(i int) bool { return t <= s.spans[i].last })
	return i < len(s.spans) && t >= s.spans[i].first
}

// nativeOf returns the native histogram of a row.
func nativeOf(run *series.Run, row int) *histogram.FloatHistogram {
	t := run.Table
	count := t.FieldIndex(series.NativeCount)
	if run.Lacks(count, row) {
		return &histogram.FloatHistogram{Sum: math.Float64frombits(value.StaleNaN)}
	}
	ints := func(field int) float64 {
		if run.Lacks(field, row) {
			return 0
		}
		return float64(run.Columns[field].Ints[row])
	}
	h := &histogram.FloatHistogram{
		Schema: t.Metric.Native.Schema, ZeroThreshold: t.Metric.Native.ZeroThreshold,
		Count: ints(count), ZeroCount: ints(t.FieldIndex(series.NativeZero)),
		Sum: run.Columns[t.FieldIndex(series.NativeSum)].Floats[row],
	}
	first := t.FieldIndex("b0")
	h.PositiveBuckets = make([]float64, len(t.Fields)-first)
	for i := range h.PositiveBuckets {
		h.PositiveBuckets[i] = ints(first + i)
	}
	h.PositiveSpans = []histogram.Span{{Offset: t.Metric.Native.First, Length: uint32(len(h.PositiveBuckets))}}
	return h
}

// finish puts samples in order of time. Of several samples at one time the last one counts.
func (s *store) finish() {
	for _, list := range s.byName {
		for _, of := range list {
			of.sort()
		}
	}
}

func (s *samples) sort() {
	ascending := true
	for i := 1; i < len(s.times); i++ {
		ascending = ascending && s.times[i-1] < s.times[i]
	}
	if ascending {
		return
	}
	order := make([]int, len(s.times))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return s.times[order[a]] < s.times[order[b]] })
	sorted := samples{}
	for i, from := range order {
		if i+1 < len(order) && s.times[order[i+1]] == s.times[from] {
			continue
		}
		sorted.times = append(sorted.times, s.times[from])
		if s.histograms != nil {
			sorted.histograms = append(sorted.histograms, s.histograms[from])
		} else {
			sorted.values = append(sorted.values, s.values[from])
		}
	}
	s.times, s.values, s.histograms = sorted.times, sorted.values, sorted.histograms
}

// cut returns the series' samples after a time, up to another one.
func (s *samples) cut(after, last int64) samples {
	from := sort.Search(len(s.times), func(i int) bool { return s.times[i] > after })
	to := from + sort.Search(len(s.times)-from, func(i int) bool { return s.times[from+i] > last })
	part := samples{labels: s.labels, times: s.times[from:to]}
	if s.histograms != nil {
		part.histograms = s.histograms[from:to]
	} else {
		part.values = s.values[from:to]
	}
	return part
}

// match returns the series that match.
func (s *store) match(matchers []*labels.Matcher) []*samples {
	var found []*samples
	for name, list := range s.byName {
		if !matchesName(matchers, name) {
			continue
		}
		for _, of := range list {
			if matchesAll(matchers, of.labels) {
				found = append(found, of)
			}
		}
	}
	slices.SortFunc(found, func(a, b *samples) int { return labels.Compare(a.labels, b.labels) })
	return found
}
