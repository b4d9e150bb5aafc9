package metrics

import (
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// queryType is a query type and the random draws of its queries.
type queryType struct {
	name, help string
	core       bool
	compliance bool
	// instant says that queries are evaluated once, as rules are, and not at the steps of a graph.
	instant bool
	// metrics are the names in the expression.
	metrics []string
	// expressions are those of a compliance type.
	expressions []string
	expression  func(*draw) query.PromQL
}

// graphs are the windows of queries of dashboards, and their steps: 240 to 360 points of a graph.
var graphs = []struct{ window, step time.Duration }{
	{time.Hour, 15 * time.Second},
	{3 * time.Hour, 30 * time.Second},
	{6 * time.Hour, time.Minute},
	{12 * time.Hour, 2 * time.Minute},
	{24 * time.Hour, 5 * time.Minute},
}

// ruleRange is the time range of rates in rules.
const ruleRange = 5 * time.Minute

// draw draws the parameters of a query.
type draw struct {
	random splitmix.Stream
	id     int // of the query, from 0
	schema *series.Schema
	// interval is the dataset's scrape interval, and step the query's; 0: an instant query.
	interval, step time.Duration
}

// rateRange returns the range of rates: as Grafana's $__rate_interval, four scrapes at least and a
// step, and in rules five minutes.
func (d *draw) rateRange() time.Duration {
	if d.step == 0 {
		return max(ruleRange, 4*d.interval)
	}
	return max(d.step+d.interval, 4*d.interval)
}

// rateText returns rateRange as PromQL writes it.
func (d *draw) rateText() string { return query.PromDuration(d.rateRange()) }

// value returns the value of a label of any series of a metric. All series of the metric have the
// label.
func (d *draw) value(metric, label string) string {
	table := d.schema.Table(metric)
	span := d.schema.Range(table)
	text, _ := table.Tag(label).Values.Append(nil, span.First+uint32(d.random.Draw(uint64(span.End-span.First))))
	return string(text)
}

// one returns one of several values.
func one[T any](d *draw, values ...T) T { return values[d.random.Draw(uint64(len(values)))] }

// equal returns the matcher of a drawn value.
func (d *draw) equal(metric, label string) []query.Matcher {
	return []query.Matcher{{Label: label, Op: "=", Value: d.value(metric, label)}}
}

// queryTypes lists the types in the order in which they run.
func queryTypes() []queryType {
	types := panels()
	for _, t := range panels() {
		t.name, t.help, t.core, t.instant = t.name+instantSuffix, t.help+"; at one time", false, true
		types = append(types, t)
	}
	for _, t := range rules() {
		t.instant = true
		types = append(types, t)
	}
	return append(types, complianceTypes()...)
}

// QueryTypes implements workload.Workload.
func (useCase) QueryTypes() []workload.QueryType {
	types := queryTypes()
	listed := make([]workload.QueryType, len(types))
	for i, t := range types {
		listed[i] = workload.QueryType{Name: t.name, Help: t.help, Core: t.core, Compliance: t.compliance}
	}
	return listed
}

// Queries implements workload.Workload.
func (useCase) Queries(s workload.Spec, queryType string, n int) (iter.Seq[query.Query], error) {
	if _, err := s.ResolveQueries(nil); err != nil {
		return nil, err
	}
	types := queryTypes()
	for i := range types {
		if types[i].name == queryType {
			return types[i].draw(s, n)
		}
	}
	return nil, workload.UnknownType(useCase{}, queryType)
}

// draw draws the first n queries, each type from a stream of its own.
func (t *queryType) draw(s workload.Spec, n int) (iter.Seq[query.Query], error) {
	d, err := newDataset(s)
	if err != nil {
		return nil, err
	}
	schema := d.Schema()
	for _, name := range t.metrics {
		if schema.Table(name) == nil {
			return nil, &workload.SpecError{Setting: Name + ".classes", Absent: true,
				Problem: fmt.Sprintf("the metric %s, which %s is about, has no series; set metrics.classes, metrics.histograms or scale so that there are some, or leave the type out", name, t.name)}
		}
	}
	seed := splitmix.Mix(uint64(s.DrawingSeed()) + splitmix.MixText(t.name))
	return func(yield func(query.Query) bool) {
		d := draw{random: splitmix.Stream(seed), schema: schema, interval: s.Interval}
		var q query.Query // one variable for all queries, since it escapes to the heap
		for d.id = range n {
			q = query.Query{Type: t.name, ID: d.id}
			window := t.window(&d, s)
			// Queries at one time look back too.
			span := s.End.Sub(s.Start)
			before := max(window, min(span/2, time.Hour))
			q.End = s.Start.Add(before + time.Duration(d.random.Draw(uint64(span-before)+1)))
			// Dashboards and rulers evaluate at multiples of the step.
			q.End = q.End.Truncate(max(d.step, time.Second))
			shape := t.expression(&d)
			if shape.Step = d.step; d.step > 0 {
				q.Start = q.End.Add(-window)
			}
			if shape.Over != nil {
				q.Table = shape.Over.Metric
			}
			if q.Shape = shape; !yield(q) {
				return
			}
		}
	}, nil
}

// window returns the length of a query's window, and sets the step. Windows that are longer than the
// dataset are not drawn; if all are, the window is the dataset's span.
func (t *queryType) window(d *draw, s workload.Spec) time.Duration {
	span := s.End.Sub(s.Start)
	if d.step = 0; t.instant {
		return 0
	}
	window, step := complianceWindow, complianceStep
	if !t.compliance {
		fitting := 1
		for fitting < len(graphs) && graphs[fitting].window <= span {
			fitting++
		}
		g := graphs[d.random.Draw(uint64(fitting))]
		window, step = g.window, max(g.step, s.Interval)
	}
	d.step = step
	return min(window, span).Truncate(step)
}

// plural counts expressions.
func plural(n int) string {
	if n == 1 {
		return "1 query"
	}
	return strconv.Itoa(n) + " queries"
}
