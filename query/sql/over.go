package sql

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Metrics has the expressions for functions over time of metrics. Times are computed as whole
// milliseconds since 1970, which all samples of metrics and all steps are.
type Metrics struct {
	// Milliseconds returns the milliseconds of a time, and FromMilliseconds the time of milliseconds.
	Milliseconds, FromMilliseconds func(expression string) string
	// Double is the type of doubles in a CAST.
	Double string
	// Numbers returns a source of rows, called numbers, whose only column n has the numbers from 0
	// to before count.
	Numbers func(count int64) string
	// Matches returns the condition that a text matches a regular expression, which has anchors.
	// Both are SQL expressions. Nil: there are no regular expressions.
	Matches func(text, pattern string) string
}

// Columns of the subqueries of overTime. No label has such a name in practice.
const (
	sampledAt     = "sampled_at"   // of a sample, in milliseconds
	evaluatedAt   = "evaluated_at" // of the answer that a sample belongs to, in milliseconds
	previousAt    = "previous_at"  // of the sample before, of the same series
	previousValue = "previous_value"
	nextAt        = "next_at" // of the sample after
	resultColumn  = "result"
)

// checkOver returns an error, which wraps query.ErrUnsupported, if the database cannot compute a
// function over time.
func (r *renderer) checkOver(o *query.Over) error {
	switch {
	case r.Metrics == nil || r.Narrow:
		return fmt.Errorf("%w: tsmark has no SQL of %s for functions over time of metrics", query.ErrUnsupported, r.Name)
	case r.Precision > time.Millisecond:
		return fmt.Errorf("%w: times are multiples of %v, and samples of metrics are at milliseconds", query.ErrUnsupported, r.Precision)
	case len(r.table.Tags) == 0:
		return fmt.Errorf("%w: metric %s has no labels that tell series apart", query.ErrUnsupported, o.Metric)
	}
	for _, m := range o.Match {
		err := r.CheckText(m.Value)
		if expression := strings.HasSuffix(m.Op, "~"); expression && err == nil {
			if _, err = regexp.Compile(m.Value); err == nil && r.Metrics.Matches == nil && !alternatives.MatchString(m.Value) {
				err = fmt.Errorf("%w: %s has no regular expressions", query.ErrUnsupported, r.Name)
			}
		}
		if err != nil {
			return fmt.Errorf("the matcher of label %s: %w", m.Label, err)
		}
	}
	return nil
}

// overTime writes a function over time of a metric: the samples, for each time of the answer the
// windows that end there, the function of each series' window, and the answer from these. A window
// lacks its start: Prometheus counts samples after t-Range, up to t.
func (r *renderer) overTime(s query.PromQL) {
	o := s.Over
	first, last, step := s.Steps(r.q)
	length := o.Range.Milliseconds()
	r.line("WITH samples AS (")
	r.samples(o, first-length, last)
	r.line("), placed AS (")
	r.place(first, last, step, length)
	r.line("), windows AS (")
	r.windows(o, first, last, length)
	functions := "windows"
	if counter(o) {
		r.extrapolate(o, length)
		functions = "rates"
	}
	r.line("), answers AS (")
	labels := r.answers(o, functions)
	source := "answers"
	if o.Top > 0 {
		r.line("), ranked AS (")
		r.line("  SELECT answers.*, row_number() OVER (PARTITION BY %s ORDER BY %s DESC) AS place", evaluatedAt, resultColumn)
		r.line("  FROM answers")
		source = "ranked"
	}
	r.line(")")
	r.line("SELECT")
	columns := append([]string{r.Metrics.FromMilliseconds(evaluatedAt) + " AS " + r.Ident(TimeColumn)}, labels...)
	r.list("  ", append(columns, resultColumn+" AS "+r.Ident(series.MetricValue)))
	r.line("FROM %s", source)
	var conditions []string
	if o.Top > 0 {
		conditions = append(conditions, fmt.Sprintf("place <= %d", o.Top))
	}
	if o.Above != nil {
		conditions = append(conditions, comparison(resultColumn, query.Greater, *o.Above))
	}
	r.conditions("", conditions)
}

// counter reports whether the function is of a counter, whose value may begin again at 0.
func counter(o *query.Over) bool { return o.Func == "rate" || o.Func == "increase" }

// newest reports whether the function is of the newest sample of a window.
func newest(o *query.Over) bool { return o.Func == "last" || o.Func == query.OverValue }

// seriesKeys returns the columns of a row that identify its series.
func (r *renderer) seriesKeys() []string {
	if !r.Wide {
		return []string{r.tagsID()}
	}
	keys := make([]string, len(r.table.Tags))
	for i := range r.table.Tags {
		keys[i] = r.Ident(r.table.Tags[i].Key)
	}
	return keys
}

// samples writes the query of all samples that an answer needs. Functions over time pass over
// staleness markers, which are NULL; to the newest value they are its end.
func (r *renderer) samples(o *query.Over, after, last int64) {
	keys := r.seriesKeys()
	at, value := r.Metrics.Milliseconds(r.time()), r.Ident(series.MetricValue)
	columns := append(slices.Clone(keys), at+" AS "+sampledAt, value)
	neighbor := func(function, expression, name string) {
		columns = append(columns, r.neighbor(function, expression, 1, strings.Join(keys, ", "), r.time())+" AS "+name)
	}
	if counter(o) {
		neighbor("lag", at, previousAt)
		neighbor("lag", value, previousValue)
	}
	if counter(o) || newest(o) {
		neighbor("lead", at, nextAt)
	}
	r.line("  SELECT")
	r.list("    ", columns)
	r.line("  FROM %s", r.rows)
	conditions := r.matchers(o.Match)
	if !r.Wide && len(conditions) > 0 {
		conditions = []string{fmt.Sprintf("%s IN (SELECT %s FROM %s WHERE %s)", r.tagsID(), r.id(), r.tags, strings.Join(conditions, " AND "))}
	}
	conditions = append(conditions,
		fmt.Sprintf("%s > %s", r.time(), r.Time(time.UnixMilli(after).UTC())),
		fmt.Sprintf("%s <= %s", r.time(), r.Time(time.UnixMilli(last).UTC())))
	if o.Func != query.OverValue {
		conditions = append(conditions, value+" IS NOT NULL")
	}
	r.conditions("  ", conditions)
}

// place writes the query that gives each sample the times of the answer whose windows may have it:
// the first one at or after the sample, and as many more as a window has steps.
func (r *renderer) place(first, last, step, length int64) {
	if first == last {
		r.line("  SELECT samples.*, %d AS %s", last, evaluatedAt)
		r.line("  FROM samples")
		return
	}
	windows := (length + step - 1) / step // at most that a sample is in
	// No sample is before the origin, so that the remainder is never negative.
	origin := first - windows*step - (step - 1)
	at := fmt.Sprintf("%s + %d - (%[1]s - %[3]d) %% %[4]d", sampledAt, step-1, origin, step)
	if windows > 1 {
		at += fmt.Sprintf(" + n * %d", step)
	}
	r.line("  SELECT samples.*, %s AS %s", at, evaluatedAt)
	r.line("  FROM samples")
	if windows > 1 {
		r.line("  CROSS JOIN %s", r.Metrics.Numbers(windows))
	}
}

// windows writes the query of each series' windows: the function's results, or the values from which
// rates are computed. Counters begin again where a value is less than the one before it in the
// same window.
func (r *renderer) windows(o *query.Over, first, last, length int64) {
	value := r.Ident(series.MetricValue)
	columns := append([]string{evaluatedAt}, r.seriesKeys()...)
	groups := len(columns)
	newestValue := fmt.Sprintf("max(CASE WHEN %s IS NULL OR %[1]s > %s THEN %s END)", nextAt, evaluatedAt, value)
	switch {
	case counter(o):
		start := fmt.Sprintf("%s - %d", evaluatedAt, length)
		columns = append(columns, "count(*) AS sample_count",
			fmt.Sprintf("min(%s) AS first_at", sampledAt),
			fmt.Sprintf("max(%s) AS last_at", sampledAt),
			fmt.Sprintf("max(CASE WHEN %s IS NULL OR %[1]s <= %s THEN %s END) AS first_value", previousAt, start, value),
			newestValue+" AS last_value",
			fmt.Sprintf("sum(CASE WHEN %s > %s AND %s < %s THEN %[4]s ELSE 0e0 END) AS resets", previousAt, start, value, previousValue))
	case newest(o):
		columns = append(columns, newestValue+" AS "+resultColumn)
	case o.Func == "count":
		columns = append(columns, r.asDoubleType("count("+value+")")+" AS "+resultColumn)
	default:
		columns = append(columns, fmt.Sprintf("%s(%s) AS %s", o.Func, value, resultColumn))
	}
	r.line("  SELECT")
	r.list("    ", columns)
	r.line("  FROM placed")
	var conditions []string
	if first != last { // otherwise all samples are in the only window
		conditions = []string{
			fmt.Sprintf("%s >= %d", evaluatedAt, first),
			fmt.Sprintf("%s <= %d", evaluatedAt, last),
			fmt.Sprintf("%s < %s + %d", evaluatedAt, sampledAt, length),
		}
	}
	r.conditions("  ", conditions)
	r.line("  GROUP BY %s", numbers(groups))
}

// asDoubleType returns the expression of a number as a double.
func (r *renderer) asDoubleType(expression string) string {
	return fmt.Sprintf("CAST(%s AS %s)", expression, r.Metrics.Double)
}

// extrapolate writes the queries of rates, by Prometheus's rules (promql/functions.go,
// extrapolatedRate): the increase between the first and the last sample of a window is extended to
// the bounds of the window if they are closer than 1.1 times the mean distance of samples, otherwise
// by half that distance; and not further back than where the counter would have been 0.
func (r *renderer) extrapolate(o *query.Over, length int64) {
	seconds := func(milliseconds string) string { return r.asDoubleType(milliseconds) + " / 1000" }
	keys := append([]string{evaluatedAt}, r.seriesKeys()...)
	r.line("), increases AS (")
	r.line("  SELECT")
	r.list("    ", append(slices.Clone(keys), "first_value",
		"last_value - first_value + resets AS increase",
		seconds("last_at - first_at")+" AS sampled",
		seconds("last_at - first_at")+" / (sample_count - 1) AS distance",
		seconds(fmt.Sprintf("first_at - (%s - %d)", evaluatedAt, length))+" AS before_first",
		seconds(fmt.Sprintf("%s - last_at", evaluatedAt))+" AS after_last"))
	r.line("  FROM windows")
	r.line("  WHERE sample_count > 1")
	r.line("), extensions AS (")
	r.line("  SELECT")
	extension := func(gap string) string {
		return fmt.Sprintf("CASE WHEN %s >= distance * %s THEN distance / 2 ELSE %[1]s END AS %[1]s", gap, r.asDoubleType("1.1"))
	}
	r.list("    ", append(slices.Clone(keys), "increase", "sampled", extension("before_first"), extension("after_last"),
		"CASE WHEN increase > 0 AND first_value >= 0 THEN sampled * (first_value / increase) END AS since_zero"))
	r.line("  FROM increases")
	r.line("), rates AS (")
	factor := "(sampled + CASE WHEN since_zero < before_first THEN since_zero ELSE before_first END + after_last) / sampled"
	if o.Func == "rate" {
		factor += " / " + Double(o.Range.Seconds())
	}
	r.line("  SELECT")
	r.list("    ", append(keys, fmt.Sprintf("increase * (%s) AS %s", factor, resultColumn)))
	r.line("  FROM extensions")
}

// answers writes the query of the answer's labels and results, and returns the columns of labels.
func (r *renderer) answers(o *query.Over, functions string) []string {
	inner, labels := r.tagColumns(o.Labels(r.table))
	result := resultColumn
	switch o.Aggregate {
	case "":
	case "count":
		result = r.asDoubleType("count("+resultColumn+")") + " AS " + resultColumn
	default:
		result = fmt.Sprintf("%s(%s) AS %[2]s", o.Aggregate, resultColumn)
	}
	columns := append([]string{evaluatedAt}, inner...)
	r.line("  SELECT")
	r.list("    ", append(columns, result))
	r.line("  FROM %s", functions)
	if !r.Wide && len(labels) > 0 {
		r.line("  JOIN %s ON %[1]s.%s = %s.%s", r.tags, r.id(), functions, r.tagsID())
	}
	if o.Func == query.OverValue {
		r.line("  WHERE %s IS NOT NULL", resultColumn)
	}
	if o.Aggregate != "" {
		r.line("  GROUP BY %s", numbers(1+len(labels)))
	}
	return labels
}

// matchers returns the conditions on labels. A label that a series lacks is NULL, and the empty text
// to a matcher.
func (r *renderer) matchers(list []query.Matcher) []string {
	var conditions []string
	for _, m := range list {
		missing := accepts(m, "")
		if r.table.Tag(m.Label) == nil {
			if !missing {
				conditions = append(conditions, "1 = 0")
			}
			continue
		}
		label := r.Ident(m.Label)
		condition := r.matcher(label, m)
		switch negative := strings.HasPrefix(m.Op, "!"); {
		case m.Value == "" && m.Op == "=":
			condition = label + " IS NULL"
		case m.Value == "" && m.Op == "!=":
			condition = label + " IS NOT NULL"
		case missing:
			condition = fmt.Sprintf("(%s IS NULL OR %s)", label, condition)
		case negative:
			condition = fmt.Sprintf("(%s IS NOT NULL AND %s)", label, condition)
		}
		conditions = append(conditions, condition)
	}
	return conditions
}

// alternatives are texts of a regular expression that has no other meaning than these.
var alternatives = regexp.MustCompile(`^[A-Za-z0-9_/-]+(\|[A-Za-z0-9_/-]+)*$`)

// matcher returns the condition on a label that is not NULL.
func (r *renderer) matcher(label string, m query.Matcher) string {
	text := r.Text(m.Value)
	switch {
	case m.Op == "=":
		return label + " = " + text
	case m.Op == "!=":
		return label + " <> " + text
	case alternatives.MatchString(m.Value):
		var texts []string
		for value := range strings.SplitSeq(m.Value, "|") {
			texts = append(texts, r.Text(value))
		}
		not := ""
		if m.Op == "!~" {
			not = "NOT "
		}
		return fmt.Sprintf("%s %sIN (%s)", label, not, strings.Join(texts, ", "))
	}
	condition := r.Metrics.Matches(label, r.Text("^("+m.Value+")$"))
	if m.Op == "!~" {
		return "NOT " + condition
	}
	return condition
}

// accepts reports whether a matcher selects a text.
func accepts(m query.Matcher, text string) bool {
	var is bool
	if strings.HasSuffix(m.Op, "~") {
		is = regexp.MustCompile("^(?s:" + m.Value + ")$").MatchString(text) // checkOver has compiled it
	} else {
		is = text == m.Value
	}
	return is != strings.HasPrefix(m.Op, "!")
}
