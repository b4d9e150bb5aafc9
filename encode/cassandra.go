package encode

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/series"
)

// NewCassandra returns the encoder of the format that TSBS writes for cassandra: one line per value
// with its table by type, the series with its tags, the field, the day, nanoseconds and the value.
// Missing values have no line. Numeric tags cannot be written. Types that TSBS's workloads do not
// have go into the table that TSBS creates for them: a Bool as true or false, a Float32, a Text or
// Blob as a blob literal such as 0x6f6b; an Int32, a Timestamp (its nanoseconds) and a Date (its
// days) as bigints.
func NewCassandra(s *series.Schema) (Encoder, error) {
	if err := textTagsOnly(s); err != nil {
		return nil, err
	}
	return &cassandra{
		ints: newIntText("\n"),
		tables: newTables(s, func(t *series.Table) seriesText {
			return newSeriesText(s, t, func(dst []byte, series uint32) []byte {
				dst = append(dst, t.Name...)
				for i := range t.Tags {
					dst = LineProtocol{}.appendTag(dst, &t.Tags[i], t.Tags[i].Key+"=", series, ",", "")
				}
				return append(dst, ',')
			})
		}),
	}, nil
}

// cassandraTable is TSBS's table of values of a type, and a comma.
func cassandraTable(t series.Type) string {
	switch t {
	case series.Float:
		return "series_double,"
	case series.Float32:
		return "series_float,"
	case series.Bool:
		return "series_boolean,"
	case series.Text, series.Blob:
		return "series_blob,"
	}
	return "series_bigint,"
}

// textTagsOnly returns an error for a schema with numeric tags.
func textTagsOnly(s *series.Schema) error {
	for _, t := range s.Tables {
		for i := range t.Tags {
			if t.Tags[i].Numeric() {
				return fmt.Errorf("it has no numeric tags, and table %s has %s; choose another format", t.Name, t.Tags[i].Key)
			}
		}
	}
	return nil
}

type cassandra struct {
	ints   *intText
	tables tables[seriesText]
}

// AppendHeader implements Encoder.
func (e *cassandra) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *cassandra) Append(dst []byte, b *series.Batch) []byte {
	var times timeText
	var dayOf int64
	var day []byte   // of dayOf, between commas
	var bytes []byte // of a value
	for i := range b.Runs {
		run := &b.Runs[i]
		text := e.tables.lookUp(run.Table)
		for row, t := range run.Times {
			if day == nil || t != dayOf {
				dayOf, day = t, time.Unix(0, t).UTC().AppendFormat(append(day[:0], ','), "2006-01-02,")
			}
			for f := range run.Table.Width(run.Series[row]) {
				c := &run.Columns[f]
				if c.Nulls.Has(row) {
					continue
				}
				field := &run.Table.Fields[f]
				dst = text.append(append(dst, cassandraTable(field.Type)...), run.Series[row])
				dst = append(append(dst, field.Name...), day...)
				dst = append(times.append(dst, t), ',')
				switch field.Type {
				case series.Float:
					dst = append(appendFloat(dst, c.Floats[row]), '\n')
				case series.Float32:
					dst = append(appendSingle(dst, c.Floats[row]), '\n')
				case series.Bool:
					dst = append(strconv.AppendBool(dst, c.Ints[row] != 0), '\n')
				case series.Text, series.Blob:
					bytes = c.AppendText(bytes[:0], row, field.Length)
					dst = append(hex.AppendEncode(append(dst, "0x"...), bytes), '\n')
				default:
					dst = room(dst, intRoom)
					n := len(dst)
					dst = dst[:n+e.ints.put(dst[n:n+intRoom], c.Ints[row])]
				}
			}
		}
	}
	return dst
}
