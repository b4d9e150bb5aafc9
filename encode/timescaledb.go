package encode

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// NewTimescaleDB returns the encoder of the format that TSBS writes for timescaledb and clickhouse:
// a header that names tags and fields, then two lines per row, one with tags and one with values. A
// missing tag or field is an empty column.
func NewTimescaleDB(s *series.Schema) Encoder {
	return &timescaleDB{
		schema: s,
		ints:   newIntText(","),
		tables: newTables(s, func(t *series.Table) seriesText {
			return newSeriesText(s, t, func(dst []byte, series uint32) []byte {
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

// NewTimestream returns the encoder of the format that TSBS writes for
// timestream: that of timescaledb without the header.
func NewTimestream(s *series.Schema) Encoder {
	e := NewTimescaleDB(s).(*timescaleDB)
	e.headless = true
	return e
}

type timescaleDB struct {
	headless bool
	schema   *series.Schema
	ints     *intText
	tables   tables[seriesText]
}

// AppendHeader implements Encoder.
func (e *timescaleDB) AppendHeader(dst []byte) []byte {
	if e.headless {
		return dst
	}
	return appendHeader(dst, e.schema)
}

// Append implements Encoder.
func (e *timescaleDB) Append(dst []byte, b *series.Batch) []byte {
	var times timeText
	for i := range b.Runs {
		run := &b.Runs[i]
		text := e.tables.lookUp(run.Table)
		for row := range run.Times {
			dst = text.append(dst, run.Series[row])
			dst = append(times.append(dst, run.Times[row]), ',')
			dst = appendValues(dst, run, row, e.ints, ',')
		}
	}
	return dst
}

// appendHeader appends TSBS's header: the tags that all tables share with the Go
// types of their values, a line of fields a table, and an empty line.
func appendHeader(dst []byte, s *series.Schema) []byte {
	dst = append(dst, "tags"...)
	for _, tag := range commonTags(s) {
		goType := " string"
		if tag.Numeric() {
			goType = " float32"
		}
		dst = append(append(append(dst, ','), tag.Key...), goType...)
	}
	dst = append(dst, '\n')
	sorted := slices.SortedFunc(slices.Values(s.Tables), func(a, b *series.Table) int {
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

// commonTags returns the tags that all tables begin with.
func commonTags(s *series.Schema) []series.Tag {
	common := s.Tables[0].Tags
	for _, t := range s.Tables {
		for len(common) > len(t.Tags) || len(common) > 0 && t.Tags[len(common)-1].Key != common[len(common)-1].Key {
			common = common[:len(common)-1]
		}
	}
	return common
}
