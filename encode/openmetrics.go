package encode

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// NewOpenMetrics returns the encoder of OpenMetrics text with timestamps, as promtool reads it to create
// blocks of Prometheus:
// https://prometheus.io/docs/specs/om/open_metrics_spec/.
//
// All families are described before the first sample, and samples follow in the order of the rows,
// so that a file of any size can be written and read in one pass. The specification wants all samples of a
// family next to each other, which promtool does not. Rows with NULL are left out: the text has
// neither staleness markers nor native histograms.
func NewOpenMetrics(s *series.Schema) (Encoder, error) {
	e := &openMetrics{}
	if err := numbersOnly(s); err != nil {
		return nil, err
	}
	var families []string
	for _, t := range s.Tables {
		if err := floatsOnly(t); err != nil {
			return nil, err
		}
		for _, name := range t.ColumnNames() {
			if !plainName.MatchString(t.Name) || !plainName.MatchString(name) {
				return nil, fmt.Errorf("a name of table %q, such as %q, has characters that names of metrics do not have; %s", t.Name, name, otherFormat)
			}
		}
		if t.Metric != nil && slices.Contains(families, t.Metric.Family) {
			continue
		}
		if t.Metric != nil {
			families = append(families, t.Metric.Family)
		}
		e.header = AppendFamily(e.header, t, true)
	}
	e.tables = newTables(s, func(t *series.Table) exposedTable {
		var et exposedTable
		for _, field := range metricFields(t, "") {
			et.names = append(et.names, plainMetric(t, field))
		}
		et.labels = newSeriesText(s, t, ExposedLabels(t))
		return et
	})
	return e, nil
}

// plainName matches the names of metrics and labels in every format.
var plainName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// floatsOnly returns an error for a table of native histograms.
func floatsOnly(t *series.Table) error {
	if t.Metric != nil && t.Metric.Native != nil {
		return fmt.Errorf("it has no native histograms, as %s is; leave them out, as by metrics.histograms=classic, or choose another format", t.Name)
	}
	return nil
}

// openMetrics implements Encoder and Footed.
type openMetrics struct {
	header []byte
	tables tables[exposedTable]
}

type exposedTable struct {
	names  []string
	labels seriesText
}

// AppendHeader implements Encoder.
func (e *openMetrics) AppendHeader(dst []byte) []byte { return append(dst, e.header...) }

// AppendFooter implements Footed.
func (e *openMetrics) AppendFooter(dst []byte) []byte { return append(dst, "# EOF\n"...) }

// Append implements Encoder.
func (e *openMetrics) Append(dst []byte, b *series.Batch) []byte {
	for i := range b.Runs {
		run := &b.Runs[i]
		t := e.tables.lookUp(run.Table)
		for row, of := range run.Series {
			var labels []byte // of the series, after they were written once
			for f, name := range t.names {
				if run.Lacks(f, row) {
					continue
				}
				dst = append(dst, name...)
				if labels == nil {
					start := len(dst)
					dst = t.labels.append(dst, of)
					labels = dst[start:]
				} else {
					dst = append(dst, labels...)
				}
				dst = AppendExposed(append(dst, ' '), sampleOf(run.Table.Fields[f].Type, &run.Columns[f], row))
				dst = append(appendSeconds(append(dst, ' '), run.Times[row]), '\n')
			}
		}
	}
	return dst
}

// appendSeconds appends a time as seconds, with milliseconds where it has them.
func appendSeconds(dst []byte, at int64) []byte {
	ms := at / 1e6
	dst = strconv.AppendInt(dst, ms/1000, 10)
	if ms %= 1000; ms != 0 {
		dst = append(dst, '.', '0'+byte(ms/100), '0'+byte(ms/10%10), '0'+byte(ms%10))
	}
	return dst
}

// AppendExposed appends a value as OpenMetrics and Prometheus's text format have it.
func AppendExposed(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "+Inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-Inf"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// ExposedLabels returns a function that appends the labels of a series in braces, without some of them;
// nothing if it has no others.
func ExposedLabels(t *series.Table, without ...string) func(dst []byte, of uint32) []byte {
	tags := slices.DeleteFunc(slices.Clone(t.Tags), func(tag series.Tag) bool { return slices.Contains(without, tag.Key) })
	return func(dst []byte, of uint32) []byte {
		start := len(dst)
		for i := range tags {
			before := len(dst)
			dst = append(append(append(dst, ','), tags[i].Key...), '=', '"')
			value := len(dst)
			var ok bool
			if dst, ok = tags[i].Values.Append(dst, of); !ok {
				dst = dst[:before]
				continue
			}
			dst = append(escapeLabel(dst, value), '"')
		}
		if len(dst) == start {
			return dst
		}
		dst[start] = '{'
		return append(dst, '}')
	}
}

// escapeLabel escapes a label's value, which is dst from start on.
func escapeLabel(dst []byte, start int) []byte {
	for i := start; i < len(dst); i++ {
		switch dst[i] {
		case '\n', '"', '\\':
			dst = append(dst, 0)
			copy(dst[i+1:], dst[i:])
			if dst[i] = '\\'; dst[i+1] == '\n' {
				dst[i+1] = 'n'
			}
			i++
		}
	}
	return dst
}

// AppendFamily appends the lines that describe the metric of a table: those of OpenMetrics or, unless
// open is set, those of Prometheus's text format. Other tables are described as a gauge for each of
// their fields.
func AppendFamily(dst []byte, t *series.Table, open bool) []byte {
	m := t.Metric
	if m == nil {
		for _, f := range t.Fields {
			dst = fmt.Appendf(dst, "# TYPE %s_%s gauge\n", t.Name, f.Name)
		}
		return dst
	}
	name, kind := t.Name, m.Kind.String()
	ending := map[series.MetricKind]string{series.Counter: "_total", series.Info: "_info"}[m.Kind]
	switch {
	case m.Kind == 0 && !open:
		kind = "untyped"
	case m.Kind == series.Histogram:
		name = m.Family
	case !open && (m.Kind == series.Info || m.Kind == series.StateSet), m.Kind == series.StateSet && t.Tag(m.Family) == nil:
		kind = "gauge"
	case open && name == m.Family+ending:
		name = m.Family
	case open && ending != "": // which the specification requires
		kind = "unknown"
	}
	dst = fmt.Appendf(dst, "# TYPE %s %s\n", name, kind)
	if open && m.Unit != "" && strings.HasSuffix(name, "_"+m.Unit) && kind != "info" && kind != "stateset" {
		dst = fmt.Appendf(dst, "# UNIT %s %s\n", name, m.Unit)
	}
	if m.Help != "" {
		escaped := strings.NewReplacer("\\", `\\`, "\n", `\n`).Replace(m.Help)
		dst = fmt.Appendf(dst, "# HELP %s %s\n", name, escaped)
	}
	return dst
}
