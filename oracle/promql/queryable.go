package promql

import (
	"context"
	"sort"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
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
	return &seriesSet{list: q.match(matchers), at: -1}
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

// seriesSet implements storage.SeriesSet.
type seriesSet struct {
	list []*samples
	at   int
}

func (s *seriesSet) Next() bool {
	s.at++
	return s.at < len(s.list)
}

func (s *seriesSet) At() storage.Series              { return s.list[s.at] }
func (*seriesSet) Err() error                        { return nil }
func (*seriesSet) Warnings() annotations.Annotations { return nil }

// Labels implements storage.Series.
func (s *samples) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *samples) Iterator(chunkenc.Iterator) chunkenc.Iterator { return &iterator{samples: s, at: -1} }

// iterator implements chunkenc.Iterator.
type iterator struct {
	*samples
	at int
}

func (i *iterator) kind() chunkenc.ValueType {
	switch {
	case i.at >= len(i.times):
		return chunkenc.ValNone
	case i.histograms != nil:
		return chunkenc.ValFloatHistogram
	}
	return chunkenc.ValFloat
}

func (i *iterator) Next() chunkenc.ValueType {
	if i.at < len(i.times) {
		i.at++
	}
	return i.kind()
}

func (i *iterator) Seek(t int64) chunkenc.ValueType {
	i.at = max(i.at, 0)
	i.at += sort.Search(len(i.times)-i.at, func(n int) bool { return i.times[i.at+n] >= t })
	return i.kind()
}

func (i *iterator) At() (int64, float64) { return i.times[i.at], i.values[i.at] }

func (i *iterator) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) {
	panic("there are only float histograms")
}

func (i *iterator) AtFloatHistogram(to *histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	if to == nil {
		return i.times[i.at], i.histograms[i.at].Copy()
	}
	i.histograms[i.at].CopyTo(to)
	return i.times[i.at], to
}

func (i *iterator) AtT() int64 { return i.times[i.at] }
func (*iterator) AtST() int64  { return 0 }
func (*iterator) Err() error   { return nil }

// labelSet returns labels as answers hold them.
func labelSet(of labels.Labels) string {
	var names, values []string
	of.Range(func(l labels.Label) { names, values = append(names, l.Name), append(values, l.Value) })
	return query.LabelSet(names, values)
}
