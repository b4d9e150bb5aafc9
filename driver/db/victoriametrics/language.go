package victoriametrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// render renders a query as one instant or range query in MetricsQL.
func render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	if err := checkEqual(q.Filter, s.Table(q.Table)); err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	p, err := promql.Render(metricsQL{}, q, s, promql.Interval(o))
	if err != nil {
		return driver.Request{}, err
	}
	return p.Request()
}

// checkEqual returns an error if a filter needs floats that equal a constant with more digits than they
// are stored with.
func checkEqual(f *query.ValueFilter, t *series.Table) error {
	if f == nil || f.Compare != query.Equal || t == nil {
		return nil
	}
	stored, _ := strconv.ParseFloat(strconv.FormatFloat(f.Value, 'e', digits-1, 64), 64)
	isFloat := func(name string) bool {
		i := t.FieldIndex(name)
		return i >= 0 && !t.Fields[i].Type.Integer()
	}
	if stored != f.Value && slices.ContainsFunc(f.Fields(), isFloat) {
		return metric.UnsupportedError("no value equals %v: VictoriaMetrics rounds values to %d digits", f.Value, digits)
	}
	return nil
}

// metricsQL implements promql.Language.
type metricsQL struct{}

// Name implements promql.Language.
func (metricsQL) Name() string { return "MetricsQL" }

// Metric implements promql.Language: any name will do.
func (metricsQL) Metric(t *series.Table, field string) string { return metric.Name(t, field) }

// Label implements promql.Language.
func (metricsQL) Label(tag string) string { return tag }

// Ident implements promql.Language.
func (metricsQL) Ident(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c != '_' && (c > unicode.MaxASCII || !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c))) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// seconds formats milliseconds for MetricsQL, which computes with doubles and truncates or rounds
// fractions of a millisecond: an added fraction keeps 0.999 from becoming 0.998.
func seconds(ms int64) string {
	if ms%1000 == 0 {
		return strconv.FormatInt(ms/1000, 10)
	}
	return fmt.Sprintf("%d.%03d4", ms/1000, ms%1000)
}

// Seconds implements promql.Language.
func (metricsQL) Seconds(ms int64) string { return seconds(ms) }

// Duration implements promql.Language.
func (metricsQL) Duration(ms int64) string { return seconds(ms) + "s" }

// apply applies a function to the samples of each series, and keeps the names.
func apply(r *promql.Renderer, function string, fields []string, s promql.Span, more ...string) string {
	return function + "(" + strings.Join(append([]string{r.Samples(fields, s)}, more...), ", ") + ") keep_metric_names"
}

// withName adds the metric name to the labels by which series are grouped, so that names are kept.
func withName(by []string) []string { return append([]string{"__name__"}, by...) }

// moveNames moves names to a label, by which operands match, and back restores them: expressions with two
// operands do not match by names.
func moveNames(expression string) string {
	return fmt.Sprintf("label_move(%s, \"__name__\", %q)", expression, metric.NameLabel)
}

func restoreNames(expression string) string {
	return fmt.Sprintf("label_move(%s, %q, \"__name__\")", expression, metric.NameLabel)
}

// SetName implements promql.Language.
func (metricsQL) SetName(expression, name string) string {
	return fmt.Sprintf("label_set(%s, \"__name__\", %s)", expression, strconv.Quote(name))
}

// Union implements promql.Language.
func (metricsQL) Union(expressions ...string) string {
	if len(expressions) == 1 {
		return expressions[0]
	}
	return "union(\n  " + strings.Join(expressions, ",\n  ") + "\n)"
}

// Filter implements promql.Language.
func (l metricsQL) Filter(expression string, labels []string, condition string) string {
	list := make([]string, len(labels))
	for i, name := range labels {
		list[i] = l.Ident(name)
	}
	return fmt.Sprintf("%s if on (%s) (%s)", expression, strings.Join(list, ", "), condition)
}

// LimitTimes implements promql.Language.
func (metricsQL) LimitTimes(expression string, after, before int64) string {
	var conditions []string
	if after != 0 {
		conditions = append(conditions, "time() > "+seconds(after))
	}
	if before != 0 {
		conditions = append(conditions, "time() < "+seconds(before))
	}
	if conditions == nil {
		return expression
	}
	return fmt.Sprintf("(%s) if (%s)", expression, strings.Join(conditions, " and "))
}

// Part implements promql.Language.
func (metricsQL) Part(expression string, number int) string {
	return fmt.Sprintf("label_set(%s, %q, \"%d\")", expression, metric.PartLabel, number)
}

// Instant implements promql.Language.
func (l metricsQL) Instant(selector string) string {
	return "last_over_time(" + promql.Span{Length: 1}.AppendRange(l, selector, "") + ") keep_metric_names"
}

// Rows implements promql.Language. An instant query of a subquery chooses its own steps, so rows above
// a threshold need a range query at the data's interval.
func (l metricsQL) Rows(p *metric.Plan, r *promql.Renderer, fields []string, s promql.Span) {
	if r.Query.Filter == nil {
		p.Expression = r.Samples(fields, s)
		return
	}
	p.Expression = r.FilteredRows(fields)
	first, last := -query.BucketOf(-r.From, time.Duration(r.Interval)), query.BucketOf(r.To, time.Duration(r.Interval))
	p.Start, p.End, p.Step = first, last, r.Interval
	if first >= last { // of a single step the server looks for other samples: the next one is left out, or both are
		p.End = first + r.Interval
		p.Expression = l.LimitTimes(promql.Parenthesize(p.Expression), 0, last+r.Interval/2)
	}
}

// meansOf returns means of the samples of fields in groups, their names aside: of
// each group the sum divided by the count.
func meansOf(r *promql.Renderer, fields []string, s promql.Span, by []string) string {
	return moveNames(r.GroupBy("sum", apply(r, "sum_over_time", fields, s), withName(by)...)) + " / " +
		moveNames(r.GroupBy("sum", apply(r, "count_over_time", fields, s), withName(by)...))
}

// Aggregate implements promql.Language.
func (metricsQL) Aggregate(r *promql.Renderer, a query.Aggregate, fields []string, s promql.Span, by []string) []string {
	switch a {
	case query.Avg:
		return []string{restoreNames(meansOf(r, fields, s, by))}
	case query.Count:
		return []string{r.GroupBy("sum", apply(r, "count_over_time", fields, s), withName(by)...)}
	}
	return []string{r.GroupBy(string(a), apply(r, string(a)+"_over_time", fields, s), withName(by)...)}
}

// Mean implements promql.Language.
func (metricsQL) Mean(r *promql.Renderer, field string, s promql.Span, by []string) string {
	return r.GroupBy("sum", apply(r, "sum_over_time", []string{field}, s), by...) + " / " +
		r.GroupBy("sum", apply(r, "count_over_time", []string{field}, s), by...)
}

// ZeroShare implements promql.Language.
func (metricsQL) ZeroShare(r *promql.Renderer, field string, s promql.Span, by []string) (string, error) {
	return r.GroupBy("sum", apply(r, "count_eq_over_time", []string{field}, s, "0"), by...) + " / " +
		r.GroupBy("sum", apply(r, "count_over_time", []string{field}, s), by...), nil
}

// UnitMeans implements promql.Language.
func (metricsQL) UnitMeans(r *promql.Renderer, fields []string, s promql.Span, group []string, unit, over string) ([]string, error) {
	units := meansOf(r, fields, s, append(append([]string{}, group...), unit))
	mean := r.GroupBy("avg", units, append([]string{metric.NameLabel}, group...)...)
	if over != "" {
		mean = fmt.Sprintf("%s / label_value(%[1]s, %s)", mean, strconv.Quote(over))
	}
	return []string{restoreNames(mean)}, nil
}

// TagMean implements promql.Language.
func (metricsQL) TagMean(r *promql.Renderer, tag, field string, s promql.Span, group []string) (string, error) {
	count := "count_over_time(" + r.Samples([]string{field}, s, tag) + ") keep_metric_names"
	weighed := fmt.Sprintf("label_value(%s, %s) * %s", count, strconv.Quote(tag), promql.Parenthesize(count))
	return r.GroupBy("sum", weighed, group...) + " / " + r.GroupBy("sum", count, group...), nil
}

// Exists implements promql.Language.
func (metricsQL) Exists(r *promql.Renderer, fields []string, s promql.Span, by []string) string {
	return r.GroupBy("count", apply(r, "count_over_time", fields, s), by...)
}

// Rises implements promql.Language.
func (metricsQL) Rises(subquery string) string { return "increases_over_time(" + subquery + ")" }

// Last implements promql.Language: the last sample of each series, if its time is the
// latest of its group's.
func (l metricsQL) Last(p *metric.Plan, r *promql.Renderer, q query.Last, s promql.Span) error {
	labels := r.Tags()
	witnesses := r.Witnesses(q.Fields)
	if witnesses == nil {
		witnesses = q.Fields
	}
	newestTimes := apply(r, "tlast_over_time", witnesses, s)
	newest := fmt.Sprintf("== on (%s) group_left() %s", r.Ident(q.By), r.GroupBy("max", newestTimes, q.By))
	// valuesOf returns the values of the newest row, without their names.
	valuesOf := func(fields ...string) string {
		return l.Filter(moveNames(apply(r, "last_over_time", fields, s)), append([]string{metric.NameLabel}, labels...),
			moveNames(apply(r, "tlast_over_time", fields, s))+" "+newest)
	}
	values := restoreNames(valuesOf(q.Fields...))
	times := l.SetName(fmt.Sprintf("%s %s", r.GroupBy("max", newestTimes, labels...), newest), metric.TimeName)
	if having := q.Having; having != nil {
		compared := promql.Parenthesize(valuesOf(having.Field))
		if having.Over != "" {
			compared = fmt.Sprintf("(%s / label_value(%[1]s, %s))", compared, strconv.Quote(having.Over))
		}
		condition := fmt.Sprintf("%s %s %s", compared, having.Compare, promql.Number(having.Value))
		values, times = l.Filter(values, labels, condition), l.Filter(times, labels, condition)
	}
	p.Expression = l.Union(values, times)
	return nil
}
