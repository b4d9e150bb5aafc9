package promql

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// promQL renders the PromQL shape: the expression itself. A range query with one step is an instant
// query, because VictoriaMetrics would add a step.
func (r *Renderer) promQL(s query.PromQL, of *series.Schema) (*metric.Plan, error) {
	if err := r.Query.Check(r.Table); err != nil {
		return nil, err
	}
	if err := r.checkNames(s.Expr, of); err != nil {
		return nil, err
	}
	p := &metric.Plan{Expression: s.Expr, Samples: true, Lookback: query.Lookback.Milliseconds()}
	if first, last, step := s.Steps(r.Query); first == last {
		p.At = last
	} else {
		p.Start, p.End, p.Step = first, last, step
	}
	if s.Over == nil {
		p.Tags = []metric.Tag{{}}
		return p, nil
	}
	for _, label := range s.Over.Labels(r.Table) {
		p.Tags = append(p.Tags, metric.Tag{Label: r.Label(label)})
	}
	return p, nil
}

// checkNames returns an error if an expression selects metrics that are stored by another name, or with other
// names of labels: it would not find them, or its answer would have the other names.
func (r *Renderer) checkNames(text string, of *series.Schema) error {
	var expr parser.Expr // is parsed for the first metric with another name
	for _, t := range of.Tables {
		tag, label := "", "" // the first tag whose label has another name
		for i := range t.Tags {
			if key := t.Tags[i].Key; r.Label(key) != key {
				tag, label = key, r.Label(key)
				break
			}
		}
		for _, field := range metric.StoredMetrics(t) {
			own, theirs := metric.Name(t, field), r.Metric(t, field)
			if own == theirs && label == "" {
				continue
			}
			if expr == nil {
				var err error
				if expr, err = parser.NewParser(parser.Options{}).ParseExpr(text); err != nil {
					return fmt.Errorf("%s is not PromQL: %w", text, err)
				}
			}
			switch {
			case !selects(expr, own) && !selects(expr, theirs):
			case own != theirs:
				return metric.UnsupportedError("the metric %s is stored as %s; rename table or field, with letters, digits and _ alone", own, theirs)
			default:
				return metric.UnsupportedError("the tag %s of table %s is stored as the label %s; rename it, with letters, digits and _ alone", tag, t.Name, label)
			}
		}
	}
	return nil
}

// selects reports whether a selector of an expression accepts the name of a metric.
func selects(expr parser.Expr, name string) bool {
	found := false
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			found = found || !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool {
				return m.Name == "__name__" && !m.Matches(name)
			})
		}
		return nil
	})
	return found
}

// samples passes each sample of an answer to a PromQL query to a sink as a row: its time, its labels, its
// value. It is a query.Sink of samples as metric.Joiner is, and reuses its memory.
type samples struct {
	plan          *metric.Plan
	sink          query.Sink
	names, values []string // the labels of the series
	row           []query.Value
}

func (s *samples) begin(p *metric.Plan, sink query.Sink) {
	s.plan, s.sink = p, sink
	s.series()
}

func (s *samples) series() {
	s.names, s.values, s.row = s.names[:0], s.values[:0], append(s.row[:0], query.Value{Kind: query.Time})
}

func (s *samples) label(name, value string) {
	s.names, s.values = append(s.names, name), append(s.values, value)
}

// endLabels ends the labels of the series. The label set is one column, unless the plan names labels.
func (s *samples) endLabels() {
	for _, tag := range s.plan.Tags {
		if tag.Label == "" {
			s.row = append(s.row, query.Value{Kind: query.Text, Text: []byte(query.LabelSet(s.names, s.values))})
			continue
		}
		var v query.Value
		for i, name := range s.names {
			if name == tag.Label && s.values[i] != "" {
				v = query.Value{Kind: query.Text, Text: []byte(s.values[i])}
			}
		}
		s.row = append(s.row, v)
	}
	s.row = append(s.row, query.Value{Kind: query.Float})
}

// Row implements query.Sink. NaN and infinities are values like others.
func (s *samples) Row(sample []query.Value) error {
	if len(sample) != 2 || sample[1].Kind != query.Text || len(s.row) != len(s.plan.Tags)+2 {
		return fmt.Errorf("%s is not a sample of a series", query.RowText(sample))
	}
	text := sample[1].Text
	value, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
	if err != nil {
		return fmt.Errorf("the value %q is not a number", string(text))
	}
	s.row[0].Int = metric.Milliseconds(sample[0]) * int64(time.Millisecond)
	s.row[len(s.row)-1].Float = value
	return s.sink.Row(s.row)
}

// The boundary rule of the zero bucket in Prometheus's JSON: it includes both of its bounds.
const zeroBucket = "3"

// histogram reads a sample that is a native histogram, as a row with the fields of its table.
func (q *Querier) histogram() error {
	switch {
	case q.exact:
		return metric.UnsupportedError("the answer has native histograms, and tsmark compares numbers: take one of them, such as histogram_count or histogram_quantile")
	case q.counted:
		return q.Skip()
	case q.Plan.Native == nil:
		return fmt.Errorf("the answer has a native histogram in place of a number")
	}
	part, at := 0, int64(0)
	return q.Array(func() error {
		if part++; part == 1 {
			seconds, err := q.number()
			if at = int64(math.Round(seconds * 1000)); err != nil {
				return err
			}
			return q.Joiner.ZeroRow(at)
		}
		return q.Object(func(name string) error {
			switch name {
			case series.NativeCount, series.NativeSum:
				v, err := q.number()
				if err != nil {
					return err
				}
				return q.Joiner.Cell(at, name, v)
			case "buckets":
				return q.Array(func() error { return q.bucket(at) })
			}
			return q.Skip()
		})
	})
}

// bucket reads a bucket of a native histogram: its boundary rule, its bounds, and its count.
func (q *Querier) bucket(at int64) error {
	var parts []string
	err := q.Array(func() error {
		text, err := q.Text()
		parts = append(parts, text)
		return err
	})
	if err == nil && len(parts) != 4 {
		err = fmt.Errorf("a bucket of a native histogram has %d parts in place of 4", len(parts))
	}
	if err != nil {
		return err
	}
	upper, err := strconv.ParseFloat(parts[2], 64)
	if err != nil {
		return fmt.Errorf("the bound %q of a bucket is not a number", parts[2])
	}
	count, err := strconv.ParseFloat(parts[3], 64)
	if err != nil {
		return fmt.Errorf("the count %q of a bucket is not a number", parts[3])
	}
	field := series.NativeZero
	if parts[0] != zeroBucket {
		index := math.Round(math.Ldexp(math.Log2(upper), int(q.Plan.Native.Schema)))
		field = fmt.Sprintf("b%d", int32(index)-q.Plan.Native.First)
	}
	return q.Joiner.Cell(at, field, count)
}

// number reads a number, which may be a text.
func (q *Querier) number() (float64, error) {
	text, err := q.Text()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		err = fmt.Errorf("the value %q is not a number", text)
	}
	return v, err
}
