package promql

import (
	"context"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/tsmark/tsmark/query"
)

// Querier implements storage.Queryable. The engine ignores samples beyond its times.
func (s *store) Querier(int64, int64) (storage.Querier, error) { return querier{s.match}, nil }

// querier implements storage.Querier.
type querier struct {
	match func([]*labels.Matcher) []*samples
}

// Select implements storage.Querier.
func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	return &seriesSet{storage.EmptySeriesSet(), q.match(matchers)}
}

// LabelValues implements storage.Querier; the engine does not call it.
func (querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames implements storage.Querier; the engine does not call it.
func (querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close implements storage.Querier.
func (querier) Close() error { return nil }

// seriesSet implements storage.SeriesSet: the embedded one holds the current series.
type seriesSet struct {
	storage.SeriesSet
	next []*samples
}

func (s *seriesSet) Next() bool {
	if len(s.next) == 0 {
		return false
	}
	s.SeriesSet, s.next = storage.TestSeriesSet(s.next[0]), s.next[1:]
	return true
}

// Labels implements storage.Series.
func (s *samples) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *samples) Iterator(chunkenc.Iterator) chunkenc.Iterator {
	return storage.NewListSeriesIterator(&list{samples: s})
}

// list implements storage.Samples. It is used by one goroutine.
type list struct {
	*samples
	at point
}

func (l *list) Len() int { return len(l.times) }

// Get returns a sample that holds until the next call.
func (l *list) Get(i int) chunks.Sample {
	if l.at = (point{t: l.times[i]}); l.histograms != nil {
		l.at.h = l.histograms[i]
	} else {
		l.at.v = l.values[i]
	}
	return &l.at
}

// point implements chunks.Sample.
type point struct {
	t int64
	v float64
	h *histogram.FloatHistogram // nil: v
}

func (p *point) ST() int64               { return 0 }
func (p *point) T() int64                { return p.t }
func (p *point) F() float64              { return p.v }
func (p *point) H() *histogram.Histogram { return nil }
func (p *point) Copy() chunks.Sample     { c := *p; return &c }

// FH implements chunks.Sample. The engine may change the result.
func (p *point) FH() *histogram.FloatHistogram { return p.h.Copy() }

func (p *point) Type() chunkenc.ValueType {
	if p.h != nil {
		return chunkenc.ValFloatHistogram
	}
	return chunkenc.ValFloat
}

// labelSet returns labels as answers hold them.
func labelSet(of labels.Labels) string {
	var names, values []string
	of.Range(func(l labels.Label) { names, values = append(names, l.Name), append(values, l.Value) })
	return query.LabelSet(names, values)
}
