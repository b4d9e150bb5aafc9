package encode

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// NewPrometheus returns the encoder of the file format that TSBS writes for
// prometheus: the version 1, then for every value its length and a TimeSeries
// message of Prometheus's remote write protocol with one sample. The metric
// is named after the field alone, as TSBS drops the table's name, unless the table is a metric: then
// it has the table's name, and NULL is a staleness marker. Native histograms cannot be written, nor
// numeric tags and texts. A Bool is 0 or 1; a Timestamp or Date is its
// seconds since 1970, as Prometheus has times in samples.
func NewPrometheus(s *series.Schema) (Encoder, error) {
	if err := textTagsOnly(s); err != nil {
		return nil, err
	}
	if err := numbersOnly(s, series.Timestamp); err != nil {
		return nil, err
	}
	for _, t := range s.Tables {
		if err := floatsOnly(t); err != nil {
			return nil, err
		}
	}
	return &prometheus{tables: newTables(s, func(t *series.Table) metricTable {
		var mt metricTable
		for _, f := range t.Fields {
			name := f.Name
			if t.Metric != nil {
				name = t.Name
			}
			mt.names = append(mt.names, appendLabel(nil, metricName, name))
		}
		before, after := sortedTags(t)
		mt.before = newSeriesText(s, t, labels(before))
		mt.after = newSeriesText(s, t, labels(after))
		return mt
	})}, nil
}

const metricName = "__name__"

// sortedTags returns the tags in order of their keys, those before and after
// the name of the metric.
func sortedTags(t *series.Table) (before, after []series.Tag) {
	tags := slices.SortedFunc(slices.Values(t.Tags), func(a, b series.Tag) int { return strings.Compare(a.Key, b.Key) })
	n := 0
	for n < len(tags) && tags[n].Key < metricName {
		n++
	}
	return tags[:n], tags[n:]
}

// labels returns a function that appends the tags of a series as labels.
func labels(tags []series.Tag) func([]byte, uint32) []byte {
	l := newProtoLabels(tags, 0x0a, false)
	return l.append
}

// appendLabel appends a label as field 1 of a TimeSeries: its name is field 1
// and its value field 2, left out if empty.
func appendLabel(dst []byte, name, value string) []byte {
	text := func(dst []byte, tag byte, s string) []byte {
		if s == "" {
			return dst
		}
		dst = binary.AppendUvarint(append(dst, tag), uint64(len(s)))
		return append(dst, s...)
	}
	label := text(text(nil, 0x0a, name), 0x12, value)
	return append(binary.AppendUvarint(append(dst, 0x0a), uint64(len(label))), label...)
}

type prometheus struct {
	tables tables[metricTable]
}

type metricTable struct {
	names         [][]byte // per field, its label
	before, after seriesText
}

// sampleOf converts a value to that of a sample.
func sampleOf(t series.Type, c *series.Column, row int) float64 {
	switch t {
	case series.Float, series.Float32:
		return c.Floats[row]
	case series.Timestamp:
		return float64(c.Ints[row]/1e9) + float64(c.Ints[row]%1e9)/1e9 // a double does not hold the nanoseconds
	case series.Date:
		return float64(c.Ints[row]) * 24 * 60 * 60
	}
	return float64(c.Ints[row])
}

// AppendHeader implements Encoder.
func (e *prometheus) AppendHeader(dst []byte) []byte { return append(dst, 1) }

// Append implements Encoder.
func (e *prometheus) Append(dst []byte, b *series.Batch) []byte {
	var sample [2 + 1 + 8 + 1 + binary.MaxVarintLen64]byte
	var before, after []byte // of the row's series
	for i := range b.Runs {
		run := &b.Runs[i]
		table := e.tables.lookUp(run.Table)
		for row, t := range run.Times {
			before = table.before.append(before[:0], run.Series[row])
			after = table.after.append(after[:0], run.Series[row])
			for f := range run.Table.Width(run.Series[row]) {
				c := &run.Columns[f]
				null := c.Nulls.Has(row)
				if null && run.Table.Metric == nil {
					continue
				}
				v := math.Float64frombits(staleNaN)
				if !null {
					v = sampleOf(run.Table.Fields[f].Type, c, row)
				}
				// Field 2 of a TimeSeries: the value is field 1, milliseconds
				// are field 2; zeros are left out.
				s := append(sample[:0], 0x12, 0)
				if v != 0 {
					s = binary.LittleEndian.AppendUint64(append(s, 0x09), math.Float64bits(v))
				}
				if ms := t / 1e6; ms != 0 {
					s = binary.AppendUvarint(append(s, 0x10), uint64(ms))
				}
				s[1] = byte(len(s) - 2)
				dst = binary.AppendUvarint(dst, uint64(len(before)+len(table.names[f])+len(after)+len(s)))
				dst = append(append(append(append(dst, before...), table.names[f]...), after...), s...)
			}
		}
	}
	return dst
}
