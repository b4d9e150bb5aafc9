package prometheus

import (
	"errors"
	"fmt"
	"maps"
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

// maxPoints is the largest number of points per series in the result of a range query.
const maxPoints = 11_000

// render renders a query as one instant or range query in PromQL for Prometheus 3; closed converts it
// to Prometheus 2.
func render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	return language{}.render("Prometheus", q, s, o)
}

func (l language) render(system string, q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	p, err := promql.Render(l, q, s, promql.Interval(o))
	if err != nil {
		return driver.Request{}, err
	}
	if p.Step > 0 && !p.Newest && (p.End-p.Start)/p.Step >= maxPoints {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, metric.UnsupportedError("%s returns at most %d points of a series", system, maxPoints))
	}
	return p.Request()
}

// language is PromQL; it implements promql.Language. Functions drop names, and operands match without
// names, so each field has an expression of its own, whose series have its name as the label
// metric.NameLabel.
type language struct {
	// back is how far selectors look back for the newest sample, in milliseconds; 0: as far as a query says.
	back int64
}

// Name implements promql.Language.
func (language) Name() string { return "PromQL" }

// Metric implements promql.Language.
func (language) Metric(t *series.Table, field string) string {
	return escapeName(metric.Name(t, field))
}

// Label implements promql.Language.
func (language) Label(tag string) string { return escapeName(tag) }

// Ident implements promql.Language.
func (language) Ident(tag string) string { return escapeName(tag) }

// escapeName returns a name that every version of Prometheus can query: ASCII letters, digits and
// underscores. Any other name is escaped with Prometheus's scheme "values" for systems that allow no
// others.
func escapeName(name string) string {
	if name == "__name__" || plain(name) {
		return name
	}
	var b strings.Builder
	b.WriteString(escapedPrefix)
	for _, c := range name {
		switch {
		case c == '_':
			b.WriteString("__")
		case letter(c) || c >= '0' && c <= '9':
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, "_%X_", c)
		}
	}
	return b.String()
}

// escapedPrefix begins the names that are escaped.
const escapedPrefix = "U__"

func letter(c rune) bool { return c <= unicode.MaxASCII && unicode.IsLetter(c) }

func plain(name string) bool {
	for i, c := range name {
		if !letter(c) && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Seconds implements promql.Language.
func (language) Seconds(ms int64) string { return seconds(ms) }

func seconds(ms int64) string {
	if ms%1000 == 0 {
		return strconv.FormatInt(ms/1000, 10)
	}
	return fmt.Sprintf("%d.%03d", ms/1000, ms%1000)
}

// long is the shortest range that Prometheus 3 does not compute exactly: it computes in seconds as
// doubles, and truncates them to milliseconds.
const long = int64(30 * 24 * time.Hour / time.Millisecond)

// Duration implements promql.Language. It adds 0.4 ms to a long duration.
func (language) Duration(ms int64) string {
	if ms > long && ms%1000 != 0 {
		return fmt.Sprintf("%d.%03d4", ms/1000, ms%1000)
	}
	return units(ms)
}

// units returns a duration in seconds and milliseconds.
func units(ms int64) string {
	var text string
	if s := ms / 1000; s > 0 {
		text = fmt.Sprintf("%ds", s)
	}
	if rest := ms % 1000; rest > 0 {
		text += fmt.Sprintf("%dms", rest)
	}
	return text
}

// SetName implements promql.Language.
func (language) SetName(expression, name string) string {
	return fmt.Sprintf(`label_replace(%s, %q, %s, "", "")`, expression, metric.NameLabel, strconv.Quote(name))
}

// Union implements promql.Language.
func (language) Union(expressions ...string) string { return strings.Join(expressions, "\nor\n") }

// Filter implements promql.Language.
func (l language) Filter(expression string, labels []string, condition string) string {
	return fmt.Sprintf("%s and on (%s) (%s)", expression, labelList(labels), condition)
}

func labelList(labels []string) string {
	list := make([]string, len(labels))
	for i, name := range labels {
		list[i] = escapeName(name)
	}
	return strings.Join(list, ", ")
}

// LimitTimes implements promql.Language.
func (language) LimitTimes(expression string, after, before int64) string {
	condition := ""
	if after != 0 {
		condition += " > " + seconds(after)
	}
	if before != 0 {
		condition += " < " + seconds(before)
	}
	if condition == "" {
		return expression
	}
	return fmt.Sprintf("(%s and on () (vector(time())%s))", promql.Parenthesize(expression), condition)
}

// Part implements promql.Language: series that never exist at the same time may have equal names.
func (language) Part(expression string, _ int) string { return expression }

// Instant implements promql.Language.
func (l language) Instant(selector string) string {
	return "last_over_time(" + promql.Span{Length: 1}.AppendRange(l, selector, "") + ")"
}

// single reports whether a range covers one millisecond. Prometheus 2 has no such range, because ranges
// contain both of their ends.
func single(r *promql.Renderer, s promql.Span) bool { return s.Length == 1 && r.Query.Filter == nil }

// singleSample returns the samples of a field at exactly the time of a single range.
func singleSample(r *promql.Renderer, field string, s promql.Span) string {
	sample := fmt.Sprintf("%s @ %s", r.Selector([]string{field}), seconds(s.Last))
	return fmt.Sprintf("(%s and (timestamp(%[1]s) == %s))", sample, seconds(s.Last))
}

// apply applies a function to the samples of each series of a field.
func apply(r *promql.Renderer, function, field string, s promql.Span) string {
	switch {
	case !single(r, s):
		return function + "(" + r.Samples([]string{field}, s) + ")"
	case function == "count_over_time":
		return "(" + singleSample(r, field, s) + " * 0 + 1)"
	}
	return singleSample(r, field, s)
}

// Rows implements promql.Language: a range selector's samples.
func (l language) Rows(p *metric.Plan, r *promql.Renderer, fields []string, s promql.Span) {
	if !single(r, s) {
		p.Expression = r.Samples(fields, s)
		return
	}
	if p.Native != nil { // one series has all fields
		p.Expression = singleSample(r, fields[0], s)
		return
	}
	var parts []string
	for _, f := range fields {
		parts = append(parts, l.SetName(singleSample(r, f, s), l.Metric(r.Table, f)))
	}
	p.Expression = l.Union(parts...)
}

// Aggregate implements promql.Language.
func (l language) Aggregate(r *promql.Renderer, a query.Aggregate, fields []string, s promql.Span, by []string) []string {
	var parts []string
	for _, f := range fields {
		var text string
		switch a {
		case query.Avg:
			text = l.Mean(r, f, s, by)
		case query.Count:
			text = r.GroupBy("sum", apply(r, "count_over_time", f, s), by...)
		default:
			text = r.GroupBy(string(a), apply(r, string(a)+"_over_time", f, s), by...)
		}
		parts = append(parts, l.SetName(text, l.Metric(r.Table, f)))
	}
	return parts
}

// Mean implements promql.Language.
func (language) Mean(r *promql.Renderer, field string, s promql.Span, by []string) string {
	return r.GroupBy("sum", apply(r, "sum_over_time", field, s), by...) + " / " +
		r.GroupBy("sum", apply(r, "count_over_time", field, s), by...)
}

// ZeroShare implements promql.Language: the mean of a comparison with 0, at the steps at which there
// are rows.
func (l language) ZeroShare(r *promql.Renderer, field string, s promql.Span, by []string) (string, error) {
	if r.Interval == 0 {
		return "", metric.UnsupportedError("PromQL counts no samples that are 0, but steps of a subquery at which they are; give the option %s where all rows stand at its multiples", promql.IntervalOption)
	}
	if single(r, s) {
		return r.GroupBy("avg", singleSample(r, field, s)+" == bool 0", by...), nil
	}
	sample := l.Instant(r.Selector([]string{field}))
	steps := func(of string) string { return s.AppendRange(l, promql.Parenthesize(of), ":"+l.Duration(r.Interval)) }
	return r.GroupBy("sum", "sum_over_time("+steps(sample+" == bool 0")+")", by...) + " / " +
		r.GroupBy("sum", "count_over_time("+steps(sample)+")", by...), nil
}

// maxValues is the largest number of values of a tag that an expression spells out.
const maxValues = 64

// byValue returns the union of expressions for the rows with each value of a tag: PromQL cannot compute
// with the value of a label, but with a literal.
func byValue(r *promql.Renderer, tag string, of func(some *promql.Renderer, value string) string) (string, error) {
	var parts []string
	values, err := valuesOf(r, tag)
	for _, value := range values {
		parts = append(parts, promql.Parenthesize(of(r.WithTag(tag, value), value)))
	}
	return strings.Join(parts, " or "), err
}

// valuesOf returns the distinct values of a tag.
func valuesOf(r *promql.Renderer, tag string) ([]string, error) {
	all := r.Table.Tag(tag).Values
	values := map[string]bool{}
	if some, ok := all.(*series.Dictionary); ok {
		for _, value := range some.Values {
			values[value] = true
		}
	} else {
		var text []byte
		for n := range r.Series {
			if value, ok := all.Append(text[:0], n); ok {
				text = value
				if values[string(value)] = true; len(values) > maxValues {
					break
				}
			}
		}
	}
	delete(values, "")
	if len(values) > maxValues || len(values) == 0 {
		return nil, metric.UnsupportedError("PromQL cannot compute with the value of a label, and tag %s has not from 1 to %d values that could be written out", tag, maxValues)
	}
	return slices.Sorted(maps.Keys(values)), nil
}

// UnitMeans implements promql.Language.
func (l language) UnitMeans(r *promql.Renderer, fields []string, s promql.Span, group []string, unit, over string) ([]string, error) {
	var parts []string
	for _, f := range fields {
		mean := func(r *promql.Renderer) string {
			return r.GroupBy("avg", l.Mean(r, f, s, append(append([]string{}, group...), unit)), group...)
		}
		text := mean(r)
		if over != "" {
			var err error
			if text, err = byValue(r, over, func(some *promql.Renderer, value string) string { return mean(some) + " / " + value }); err != nil {
				return nil, err
			}
		}
		parts = append(parts, l.SetName(text, l.Metric(r.Table, f)))
	}
	return parts, nil
}

// TagMean implements promql.Language.
func (language) TagMean(r *promql.Renderer, tag, field string, s promql.Span, group []string) (string, error) {
	weighed, err := byValue(r, tag, func(some *promql.Renderer, value string) string {
		return apply(some, "count_over_time", field, s) + " * " + value
	})
	count, err1 := byValue(r, tag, func(some *promql.Renderer, _ string) string { return apply(some, "count_over_time", field, s) })
	return r.GroupBy("sum", weighed, group...) + " / " + r.GroupBy("sum", count, group...), errors.Join(err, err1)
}

// Exists implements promql.Language.
func (language) Exists(r *promql.Renderer, fields []string, s promql.Span, by []string) string {
	if !single(r, s) {
		return r.GroupBy("group", "last_over_time("+r.Samples(fields, s)+")", by...)
	}
	var parts []string
	for _, f := range fields {
		parts = append(parts, singleSample(r, f, s))
	}
	return r.GroupBy("group", strings.Join(parts, " or "), by...)
}

// Rises implements promql.Language: changes without resets.
func (language) Rises(subquery string) string {
	return fmt.Sprintf("changes(%s) - resets(%[1]s)", subquery)
}

// Last implements promql.Language: the last sample of each series, if its time is the latest in its
// group. A selector that looks back to the beginning of the window finds it. If selectors do not look back
// that far, last_over_time finds the sample, and a subquery finds its time: the subquery's step is at most
// the time that selectors look back.
func (l language) Last(p *metric.Plan, r *promql.Renderer, q query.Last, s promql.Span) error {
	if r.Query.Filter != nil {
		return metric.UnsupportedError("a selector finds the last sample of a series, and not the last one above a threshold")
	}
	labels, witnesses := r.Tags(), r.Witnesses(q.Fields)
	sure := witnesses == nil // the first sure field of q.Fields has a sample in each row
	if sure {
		for _, f := range q.Fields {
			if r.Sure(f) {
				witnesses = []string{f}
				break
			}
		}
	}
	reached := l.back == 0 || s.Length <= l.back
	if !reached && s.Length/l.back > maxPoints {
		return metric.UnsupportedError("selectors look back %v, and a subquery of such steps would have more than %d", time.Duration(l.back)*time.Millisecond, maxPoints)
	}
	newestOf := func(r *promql.Renderer, fields ...string) string {
		if reached {
			return r.Selector(fields)
		}
		return "last_over_time(" + s.AppendRange(l, r.Selector(fields), "") + ")"
	}
	timeOf := func(r *promql.Renderer, field string) string {
		newest := "timestamp(" + r.Selector([]string{field}) + ")"
		if reached {
			return newest
		}
		return fmt.Sprintf("(%s or max_over_time(%s))", newest, s.AppendRange(l, newest, ":"+l.Duration(l.back)))
	}
	newestTimes := timeOf(r, witnesses[0])
	if len(witnesses) > 1 {
		var parts []string
		for _, f := range witnesses {
			parts = append(parts, l.SetName(timeOf(r, f), f))
		}
		newestTimes = strings.Join(parts, " or ")
	}
	newest := fmt.Sprintf("== on (%s) group_left () (%s >= %s)", l.Ident(q.By), r.GroupBy("max", newestTimes, q.By), seconds(r.To-s.Length+1))
	valueOf := func(r *promql.Renderer, field string) string {
		return l.Filter(newestOf(r, field), labels, timeOf(r, field)+" "+newest)
	}
	condition := ""
	if having := q.Having; having != nil {
		compared := valueOf(r, having.Field)
		if having.Over != "" {
			var err error
			compared, err = byValue(r, having.Over, func(some *promql.Renderer, value string) string {
				return promql.Parenthesize(valueOf(some, having.Field)) + " / " + value
			})
			if err != nil {
				return err
			}
		}
		condition = fmt.Sprintf("%s %s %s", promql.Parenthesize(compared), having.Compare, promql.Number(having.Value))
	}
	having := func(expression string) string {
		if condition == "" {
			return expression
		}
		return l.Filter(promql.Parenthesize(expression), labels, condition)
	}
	var parts []string
	if allSure(r, q.Fields) { // their last samples have equal times
		parts = append(parts, having(l.Filter(newestOf(r, q.Fields...), labels, timeOf(r, witnesses[0])+" "+newest)))
	} else {
		for _, f := range q.Fields {
			parts = append(parts, l.SetName(having(valueOf(r, f)), l.Metric(r.Table, f)))
		}
	}
	times := fmt.Sprintf("%s %s", r.GroupBy("max", newestTimes, labels...), newest)
	p.Expression = l.Union(append(parts, l.SetName(having(times), metric.TimeName))...)
	if reached {
		p.Lookback = s.Length
	}
	return nil
}

func allSure(r *promql.Renderer, fields []string) bool {
	for _, f := range fields {
		if !r.Sure(f) {
			return false
		}
	}
	return true
}

// shortenRanges returns an expression for Prometheus 2, whose ranges contain both of their ends: each is a
// millisecond shorter. A range of a single millisecond stays: it is only used for rows at multiples of
// an interval.
func shortenRanges(expression string) string {
	var b strings.Builder
	rest := expression
	for {
		at := strings.IndexAny(rest, `"[`)
		if at < 0 {
			return b.String() + rest
		}
		b.WriteString(rest[:at+1])
		c := rest[at]
		rest = rest[at+1:]
		if c == '[' {
			end := strings.IndexAny(rest, ":]")
			b.WriteString(shorter(rest[:end]))
			rest = rest[end:]
			continue
		}
		for i := 0; ; i++ { // skips a quoted text
			if rest[i] == '\\' {
				i++
			} else if rest[i] == '"' {
				b.WriteString(rest[:i+1])
				rest = rest[i+1:]
				break
			}
		}
	}
}

// shorter subtracts a millisecond from a duration in the format of Duration.
func shorter(duration string) string {
	whole, fraction, ok := strings.Cut(duration, ".")
	if ok {
		fraction = fraction[:3]
	} else if whole, fraction, _ = strings.Cut(duration, "s"); strings.HasSuffix(whole, "m") {
		whole, fraction = "", duration
	}
	s, _ := strconv.ParseInt(whole, 10, 64)
	ms, _ := strconv.ParseInt(strings.TrimSuffix(fraction, "ms"), 10, 64)
	if ms += 1000 * s; ms > 1 {
		ms--
	}
	return units(ms)
}
