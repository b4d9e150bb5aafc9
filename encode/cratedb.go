package encode

import "github.com/tsmark/tsmark/series"

// NewCrateDB returns the encoder of the format that TSBS writes for cratedb: its header, then one
// line per row with the table, tags as a JSON object of strings, time and values, separated by
// tabs. A missing tag is the empty string, a missing field an empty column.
func NewCrateDB(s *series.Schema) Encoder {
	return &crateDB{
		schema: s,
		ints:   newIntText("\t"),
		tables: newTables(s, func(t *series.Table) seriesText {
			return newSeriesText(s, t, func(dst []byte, series uint32) []byte {
				dst = append(append(dst, t.Name...), "\t{"...)
				for i := range t.Tags {
					value, _ := t.Tags[i].Values.Append(nil, series)
					dst = appendJSONPair(dst, i > 0, t.Tags[i].Key, string(value))
				}
				return append(dst, "}\t"...)
			})
		}),
	}
}

type crateDB struct {
	schema *series.Schema
	ints   *intText
	tables tables[seriesText]
}

// AppendHeader implements Encoder.
func (e *crateDB) AppendHeader(dst []byte) []byte { return appendHeader(dst, e.schema) }

// Append implements Encoder.
func (e *crateDB) Append(dst []byte, b *series.Batch) []byte {
	var times timeText
	for i := range b.Runs {
		run := &b.Runs[i]
		text := e.tables.lookUp(run.Table)
		for row := range run.Times {
			dst = append(times.append(text.append(dst, run.Series[row]), run.Times[row]), '\t')
			dst = appendValues(dst, run, row, e.ints, '\t')
		}
	}
	return dst
}
