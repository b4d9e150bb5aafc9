package encode

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// NewTimescaleDB returns the encoder of the format that TSBS writes for
// timescaledb and clickhouse: a header that names tags and fields, then two
// lines a row, one of tags and one of values. A tag or field without a value
// leaves its place empty.
func NewTimescaleDB(s *series.Schema) Encoder {
	return &timescaleDB{
		schema: s,
		ints:   newIntText(","),
		tables: newTables(s, func(t *series.Table) seriesText {
			return newSeriesText(s.Series, func(dst []byte, series uint32) []byte {
				dst = append(dst, "tags"...)
				for i := range t.Tags {
					dst = append(append(append(dst, ','), t.Tags[i].Key...), '=')
					dst, _ = t.Tags[i].Values.Append(dst, series)
				}
				return append(append(append(dst, '\n'), t.Name...), ',')
			})
		}),
	}
}

type timescaleDB struct {
	schema *series.Schema
	ints   *intText
	tables tables[seriesText]
}

// AppendHeader implements Encoder. TSBS names the Go type of tag values.
func (e *timescaleDB) AppendHeader(dst []byte) []byte {
	dst = append(dst, "tags"...)
	for _, tag := range e.schema.Tables[0].Tags {
		dst = append(append(append(dst, ','), tag.Key...), " string"...)
	}
	dst = append(dst, '\n')
	sorted := slices.SortedFunc(slices.Values(e.schema.Tables), func(a, b *series.Table) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, t := range sorted {
		dst = append(dst, t.Name...)
		for _, f := range t.Fields {
			dst = append(append(dst, ','), f.Name...)
		}
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// Append implements Encoder.
func (e *timescaleDB) Append(dst []byte, b *series.Batch) []byte {
	var times timeText
	for i := range b.Runs {
		run := &b.Runs[i]
		text := e.tables.of(run.Table)
		for row := range run.Times {
			dst = text.append(dst, run.Series[row])
			dst = append(times.append(dst, run.Times[row]), ',')
			for f := range run.Columns {
				c := &run.Columns[f]
				switch {
				case c.Nulls.Has(row):
					dst = append(dst, ',')
				case run.Table.Fields[f].Type == series.Int:
					dst = room(dst, intRoom)
					n := len(dst)
					dst = dst[:n+e.ints.put(dst[n:n+intRoom], c.Ints[row])]
				default:
					dst = append(appendFloat(dst, c.Floats[row]), ',')
				}
			}
			dst[len(dst)-1] = '\n'
		}
	}
	return dst
}
