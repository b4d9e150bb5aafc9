package encode

import "github.com/tsmark/tsmark/series"

// NewLineProtocol returns the encoder of InfluxDB's line protocol as TSBS
// writes it for influx, questdb and victoriametrics: tags that a series lacks
// and fields without a value are left out, as is a row without any field;
// integers carry the suffix i; numeric tags become the first fields, without
// it; nothing is escaped.
func NewLineProtocol(s *series.Schema) Encoder {
	return &lineProtocol{
		ints: newIntText("i,"),
		tables: newTables(s, func(t *series.Table) lineTable {
			lt := lineTable{series: newSeriesText(s.Series, func(dst []byte, series uint32) []byte {
				dst = append(dst, t.Name...)
				for i := range t.Tags {
					if !t.Tags[i].Numeric() {
						dst = appendTag(dst, &t.Tags[i], series, ",", "")
					}
				}
				dst = append(dst, ' ')
				for i := range t.Tags {
					if t.Tags[i].Numeric() {
						dst = appendTag(dst, &t.Tags[i], series, "", ",")
					}
				}
				return dst
			})}
			for _, f := range t.Fields {
				key := fieldKey{text: f.Name + "="}
				copy(key.wide[:], key.text)
				lt.keys = append(lt.keys, key)
			}
			return lt
		}),
	}
}

// appendTag appends before, key=value and after; nothing where the series
// lacks the tag.
func appendTag(dst []byte, t *series.Tag, series uint32, before, after string) []byte {
	start := len(dst)
	dst = append(append(append(dst, before...), t.Key...), '=')
	dst, ok := t.Values.Append(dst, series)
	if !ok {
		return dst[:start]
	}
	return append(dst, after...)
}

type lineProtocol struct {
	ints   *intText
	tables tables[lineTable]
}

type lineTable struct {
	series seriesText
	keys   []fieldKey
}

// fieldKey is "name=". A short one is copied as a whole array, which takes the
// processor two instructions.
type fieldKey struct {
	text string
	wide [32]byte
}

// AppendHeader implements Encoder.
func (e *lineProtocol) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *lineProtocol) Append(dst []byte, b *series.Batch) []byte {
	var times timeText
	for i := range b.Runs {
		run := &b.Runs[i]
		table := e.tables.of(run.Table)
		for row := range run.Times {
			start := len(dst)
			dst = table.series.append(dst, run.Series[row])
			for f := range run.Table.Width(run.Series[row]) {
				c := &run.Columns[f]
				if c.Nulls.Has(row) {
					continue
				}
				key := &table.keys[f]
				dst = room(dst, len(key.wide)+len(key.text)+intRoom)
				n := len(dst)
				if len(key.text) <= len(key.wide) {
					*(*[len(key.wide)]byte)(dst[n : n+len(key.wide)]) = key.wide
				} else {
					copy(dst[n:cap(dst)], key.text)
				}
				n += len(key.text)
				if run.Table.Fields[f].Type == series.Int {
					n += e.ints.put(dst[n:n+intRoom], c.Ints[row])
					dst = dst[:n]
				} else {
					dst = append(appendFloat(dst[:n], c.Floats[row]), ',')
				}
			}
			if dst[len(dst)-1] == ' ' {
				dst = dst[:start] // without a field there is no row
				continue
			}
			dst[len(dst)-1] = ' '
			dst = append(times.append(dst, run.Times[row]), '\n')
		}
	}
	return dst
}
