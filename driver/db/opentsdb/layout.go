package opentsdb

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/series"
)

// The values of optionMetric.
const (
	metricTableField = "table-field"
	metricTable      = "table"
	metricField      = "field"
)

// The tags of points whose metric does not name the field, or the table.
const (
	fieldTag = metric.Own + "field"
	tableTag = metric.Own + "table"
)

// layout is a value of optionMetric: what a metric is named after.
type layout string

// metricOf returns the metric of a table's field.
func (l layout) metricOf(table *series.Table, field string) string {
	switch l {
	case metricTable:
		return name(table.Name)
	case metricField:
		return name(field)
	}
	return name(metric.Name(table, field))
}

// tagOf returns the tag that tells a field's points from others of its metric. Without a key there are
// no others.
func (l layout) tagOf(table, field string) (key, value string) {
	switch l {
	case metricTable:
		return fieldTag, name(field)
	case metricField:
		return tableTag, name(table)
	}
	return "", ""
}

// columnOf returns the name of a field's column in plans: what results call the field.
func (l layout) columnOf(table *series.Table, field string) string {
	if l == metricTable {
		return name(field)
	}
	return l.metricOf(table, field)
}

// objects lists the metrics of a schema.
func (l layout) objects(s *series.Schema) []driver.Object {
	objects := metric.Objects(s, l.metricOf)
	seen := map[string]bool{}
	return slices.DeleteFunc(objects, func(o driver.Object) bool {
		again := seen[o.Name]
		seen[o.Name] = true
		return again
	})
}

// subQuery returns a sub-query for a field of a table.
func (l layout) subQuery(table *series.Table, field, aggregator, downsample string, filters []filter) subQuery {
	if key, value := l.tagOf(table.Name, field); key != "" {
		filters = append(slices.Clip(filters), filter{"literal_or", key, value, false})
	}
	return subQuery{Metric: l.metricOf(table, field), Aggregator: aggregator, Downsample: downsample, Filters: filters}
}

// subQueries returns sub-queries for the fields of a table, one for all of them where they share a metric:
// the server reads all points of a metric for each sub-query.
func (l layout) subQueries(table *series.Table, fields []string, aggregator, downsample string) []subQuery {
	var list []subQuery
	var names []string
	for _, f := range fields {
		list, names = append(list, l.subQuery(table, f, aggregator, downsample, nil)), append(names, name(f))
	}
	if l == metricTable {
		list = list[:1]
		list[0].Filters = []filter{{"literal_or", fieldTag, strings.Join(names, "|"), true}}
	}
	return list
}
