package query

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// PromQL is the answer of a PromQL expression at the query's End or, with a Step, at each step from
// Start to End, both inclusive. Unlike other shapes it counts samples at the End itself.
//
// Columns: time; then, with Over, its labels, where NULL stands for a label that a series lacks, and
// otherwise labels, which is the label set as LabelSet writes it; and value. Native histograms in an
// answer are an error: expressions take numbers of them.
type PromQL struct {
	Expr string
	Step time.Duration // a multiple of a millisecond; 0: an instant query at End
	// Over is the meaning of Expr in a form that SQL can express; nil: only systems with PromQL
	// answer it.
	Over *Over
}

// Over is a function over time of one metric, aggregated by labels: see PromQL.
type Over struct {
	Metric    string        `json:"metric"`
	Match     []Matcher     `json:"match,omitempty"`
	Func      string        `json:"func"`                // one of OverFunctions
	Range     time.Duration `json:"range_ns"`            // of samples after t-Range, up to t
	Aggregate string        `json:"aggregate,omitempty"` // sum, avg, max, min or count; empty: each series by itself
	By        []string      `json:"by,omitempty"`        // labels of the answer
	Top       int           `json:"top,omitempty"`       // series with the largest values; 0: all
	Above     *float64      `json:"above,omitempty"`     // series with a larger value; nil: all
}

// Matcher selects series by a label. A label that a series lacks is the empty text.
type Matcher struct {
	Label string `json:"label"`
	Op    string `json:"op"` // =, !=, =~ or !~
	Value string `json:"value"`
}

// OverValue is the function of Over that PromQL has no name for: the current value of a series, which
// is the newest one within Lookback unless that is a staleness marker. Its Range is Lookback.
const OverValue = "value"

// Lookback is how old the current value of a series may be, as by default in Prometheus.
const Lookback = 5 * time.Minute

// OverFunctions lists the functions of Over. All but OverValue, rate and increase have the suffix
// _over_time in PromQL, and pass over staleness markers.
func OverFunctions() []string {
	return []string{OverValue, "last", "avg", "max", "min", "sum", "count", "rate", "increase"}
}

const (
	promqlName   = "promql"
	labelsColumn = "labels"
	valueColumn  = series.MetricValue
)

// PromQL returns the expression.
func (o *Over) PromQL() string {
	matchers := make([]string, len(o.Match))
	for i, m := range o.Match {
		matchers[i] = m.Label + m.Op + strconv.Quote(m.Value)
	}
	selector := o.Metric
	if len(matchers) > 0 {
		selector += "{" + strings.Join(matchers, ",") + "}"
	}
	text := selector
	switch o.Func {
	case OverValue:
	case "rate", "increase":
		text = fmt.Sprintf("%s(%s[%s])", o.Func, selector, PromDuration(o.Range))
	default:
		text = fmt.Sprintf("%s_over_time(%s[%s])", o.Func, selector, PromDuration(o.Range))
	}
	if o.Aggregate != "" {
		by := ""
		if len(o.By) > 0 {
			by = " by (" + strings.Join(o.By, ", ") + ")"
		}
		text = fmt.Sprintf("%s%s (%s)", o.Aggregate, by, text)
	}
	if o.Top > 0 {
		text = fmt.Sprintf("topk(%d, %s)", o.Top, text)
	}
	if o.Above != nil {
		text += " > " + strconv.FormatFloat(*o.Above, 'g', -1, 64)
	}
	return text
}

// PromDuration writes a multiple of a millisecond as PromQL does: 5m, 90s, 1500ms.
func PromDuration(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d > 0 && d%unit.length == 0 {
			return strconv.FormatInt(int64(d/unit.length), 10) + unit.name
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

// LabelSet writes labels, sorted by name, as answers hold them: {a="b",c="d"}. Labels without a
// value are left out.
func LabelSet(names, values []string) string {
	order := make([]int, 0, len(names))
	for i := range names {
		if values[i] != "" {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	text := []byte{'{'}
	for n, i := range order {
		if n > 0 {
			text = append(text, ',')
		}
		text = append(append(text, names[i]...), '=')
		text = strconv.AppendQuote(text, values[i])
	}
	return string(append(text, '}'))
}

// Labels returns the labels of an answer's columns. The labels of series that are not aggregated are
// those of the metric.
func (o *Over) Labels(metric *series.Table) []string {
	if o.Aggregate != "" {
		return o.By
	}
	labels := make([]string, len(metric.Tags))
	for i := range metric.Tags {
		labels[i] = metric.Tags[i].Key
	}
	return labels
}

func (s PromQL) outline() outline {
	o := outline{name: promqlName, time: timeName, values: []value{{name: valueColumn, kind: Float}}}
	switch {
	case s.Over == nil:
		o.keys = []string{labelsColumn}
	case s.Over.Aggregate != "":
		o.keys = s.Over.By
	}
	return o
}

// AsPromQL returns the query's shape if it is PromQL.
func (q *Query) AsPromQL() (s PromQL, ok bool) {
	s, ok = q.Shape.(PromQL)
	return s, ok
}

// RefusePromQL returns an error that wraps ErrUnsupported if the query's shape is PromQL, for
// languages that cannot express it.
func (q *Query) RefusePromQL(language string) error {
	if s, ok := q.AsPromQL(); ok {
		return fmt.Errorf("%w: %s cannot express the PromQL %s", ErrUnsupported, language, s.Expr)
	}
	return nil
}

// Steps returns the times of the answer in milliseconds since 1970: the first and the last one, and
// their distance, which is 1 if there is one time only.
func (s PromQL) Steps(q *Query) (first, last, step int64) {
	last = q.End.UnixMilli()
	if s.Step <= 0 {
		return last, last, 1
	}
	first, step = q.Start.UnixMilli(), s.Step.Milliseconds()
	return first, first + max(last-first, 0)/step*step, step
}

// columns returns the columns of the answer.
func (s PromQL) columns(table *series.Table) []Column {
	columns := []Column{{timeName, Time}}
	if s.Over == nil {
		columns = append(columns, Column{labelsColumn, Text})
	} else {
		for _, label := range s.Over.Labels(table) {
			columns = append(columns, Column{label, Text})
		}
	}
	return append(columns, Column{valueColumn, Float})
}

// check returns an error if the shape is meaningless for the table: the metric of Over, or nil.
func (s PromQL) check(q *Query, table *series.Table) error {
	switch {
	case s.Expr == "":
		return errors.New("it has no PromQL expression")
	case q.End.IsZero(), s.Step > 0 && q.Start.IsZero():
		return errors.New("a PromQL expression is evaluated at times, and the query lacks them")
	case s.Step < 0, s.Step%time.Millisecond != 0:
		return fmt.Errorf("%w: a step of %v, which is not a multiple of 1 ms", ErrUnsupported, s.Step)
	case q.In != nil, q.Filter != nil, len(q.Present) > 0:
		return errors.New("a PromQL expression selects its rows itself")
	case s.Over != nil:
		return s.checkOver(q, table)
	}
	return nil
}

func (s PromQL) checkOver(q *Query, table *series.Table) error {
	o := s.Over
	switch {
	case s.Expr != o.PromQL():
		return fmt.Errorf("its expression is %s, and the form for SQL means %s", s.Expr, o.PromQL())
	case o.Metric != q.Table || table == nil:
		return fmt.Errorf("its metric is %q, and its table %q", o.Metric, q.Table)
	case table.Metric == nil || table.FieldIndex(valueColumn) < 0:
		return fmt.Errorf("table %s is not a metric with the field %s", table.Name, valueColumn)
	case !slices.Contains(OverFunctions(), o.Func):
		return fmt.Errorf("%w: function %q over time", ErrUnsupported, o.Func)
	case !slices.Contains([]string{"", "sum", "avg", "max", "min", "count"}, o.Aggregate):
		return fmt.Errorf("%w: aggregate %q of series", ErrUnsupported, o.Aggregate)
	case o.Aggregate == "" && len(o.By) > 0:
		return errors.New("it groups series without an aggregate")
	case o.Range <= 0 || o.Range%time.Millisecond != 0:
		return fmt.Errorf("a range of %v is not a positive multiple of 1 ms", o.Range)
	case o.Func == OverValue && o.Range != Lookback:
		return fmt.Errorf("the current value has a range of %v, not %v", Lookback, o.Range)
	case o.Top < 0:
		return fmt.Errorf("it wants the top %d series", o.Top)
	case o.Above != nil && (math.IsNaN(*o.Above) || math.IsInf(*o.Above, 0)):
		return fmt.Errorf("the value that series are compared with is %v, not a number", *o.Above)
	}
	for _, label := range o.By {
		if table.Tag(label) == nil {
			return fmt.Errorf("metric %s has no label %q", o.Metric, label)
		}
	}
	for _, m := range o.Match {
		if !slices.Contains([]string{"=", "!=", "=~", "!~"}, m.Op) {
			return fmt.Errorf("it compares label %s by %q", m.Label, m.Op)
		}
	}
	return nil
}

// rename returns the function with another name of the metric and of its labels.
func (o *Over) rename(metric string, label func(string) string) *Over {
	renamed := *o
	renamed.Metric, renamed.By, renamed.Match = metric, renameAll(o.By, label), slices.Clone(o.Match)
	for i := range renamed.Match {
		renamed.Match[i].Label = label(renamed.Match[i].Label)
	}
	return &renamed
}

// promqlRecord is the stored form of a PromQL.
type promqlRecord struct {
	Expr string        `json:"expr"`
	Step time.Duration `json:"step_ns,omitempty"`
	Over *Over         `json:"over,omitempty"`
}

func (s PromQL) store(r *record) { r.PromQL = &promqlRecord{s.Expr, s.Step, s.Over} }
