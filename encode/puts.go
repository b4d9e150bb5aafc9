package encode

import (
	"slices"
	"strconv"
	"sync"

	"github.com/tsmark/tsmark/series"
)

// Puts describes the body that a system expects in OpenTSDB's requests to /api/put,
// http://opentsdb.net/docs/build/html/api_http/put.html.
//
// A batch is an array of points, each with its metric and its tags, in the order of the rows.
// Values are written as in DataPoints; times are milliseconds.
type Puts struct {
	// Metric returns the name of a field's metric.
	Metric func(t *series.Table, field string) string
	// Tag returns a further tag of a field's points, encoded for the system; nil or an empty key: no further tag.
	Tag func(table, field string) (key, value string)
	// Name makes a name of a tag, or a tag's value, one that the system can have.
	Name func(string) string
	// Null is the field that has a point in rows without any value.
	Null string
	// Untagged is the key and the value of the tag of series that have no other.
	Untagged [2]string
}

// New returns an encoder of the schema's rows. It keeps the tags of each series ready,
// up to a limit.
func (p Puts) New(s *series.Schema) Encoder {
	e := &puts{}
	e.tables = newTables(s, func(t *series.Table) putTable {
		var pt putTable
		for _, f := range append(slices.Clone(t.Fields), series.Field{Name: p.Null}) {
			name := p.Metric(t, f.Name)
			pt.names = append(pt.names, append(appendJSON([]byte(`{"metric":`), name), `,"timestamp":`...))
			pt.ends = append(pt.ends, p.end(t.Name, f.Name))
		}
		pt.tags = newSeriesText(s, t, p.tags(t))
		return pt
	})
	e.scratch.New = func() any { return &putting{time: timeText{unit: 1e6}} }
	return e
}

// end returns the end of a field's points, behind the tags of the series.
func (p Puts) end(table, field string) []byte {
	var end []byte
	if p.Tag != nil {
		if key, value := p.Tag(table, field); key != "" {
			end = appendJSONPair(end, true, key, value)
		}
	}
	return append(end, "}}"...)
}

// tags returns a function that appends the tags of a series.
func (p Puts) tags(t *series.Table) func([]byte, uint32) []byte {
	return func(dst []byte, of uint32) []byte {
		dst = append(dst, `,"tags":{`...)
		start := len(dst)
		for i := range t.Tags {
			if value, ok := t.Tags[i].Values.Append(nil, of); ok {
				dst = appendJSONPair(dst, len(dst) > start, p.Name(t.Tags[i].Key), p.Name(string(value)))
			}
		}
		if len(dst) == start {
			dst = appendJSONPair(dst, false, p.Untagged[0], p.Untagged[1])
		}
		return dst
	}
}

// puts implements Encoder.
type puts struct {
	tables  tables[putTable]
	scratch sync.Pool // of *putting
}

// putTable is common to the points of a table. The last metric is that of rows without a value.
type putTable struct {
	names [][]byte // per field, the text before the time
	ends  [][]byte // per field, the text behind the tags
	tags  seriesText
}

// putting is the memory of one batch's encoding.
type putting struct {
	tags []byte // of the row at hand
	time timeText
}

// AppendHeader implements Encoder.
func (e *puts) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *puts) Append(dst []byte, b *series.Batch) []byte {
	p := e.scratch.Get().(*putting)
	defer e.scratch.Put(p)
	dst = append(dst, '[')
	first := len(dst)
	for i := range b.Runs {
		run := &b.Runs[i]
		t := e.tables.lookUp(run.Table)
		for row := range run.Rows() {
			p.tags = t.tags.append(p.tags[:0], run.Series[row])
			begin := len(dst)
			for f := range run.Columns {
				if run.Lacks(f, row) {
					continue
				}
				dst = appendPutName(dst, p, first, t.names[f], run.Times[row])
				if run.Table.Fields[f].Type.UsesInts() {
					dst = strconv.AppendInt(dst, run.Columns[f].Ints[row], 10)
				} else {
					dst = strconv.AppendFloat(dst, run.Columns[f].Floats[row], 'g', -1, 64)
				}
				dst = append(append(dst, p.tags...), t.ends[f]...)
			}
			if len(dst) == begin {
				dst = appendPutName(dst, p, first, t.names[len(run.Columns)], run.Times[row])
				dst = append(append(append(dst, '1'), p.tags...), t.ends[len(run.Columns)]...)
			}
		}
	}
	return append(dst, ']')
}

// appendPutName appends the text before the value of a point.
func appendPutName(dst []byte, p *putting, first int, name []byte, time int64) []byte {
	if len(dst) > first {
		dst = append(dst, ',')
	}
	return append(p.time.append(append(dst, name...), time), `,"value":`...)
}
