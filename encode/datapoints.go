package encode

import (
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/series"
)

// DataPoints describes the body that a system expects in KairosDB's requests to /api/v1/datapoints:
// https://kairosdb.github.io/docs/restapi/AddDataPoints.html.
//
// A batch is an array that contains each metric of each series once, with its points in the order
// of the rows. Integers are longs, other numbers doubles; a Bool is 0 or 1, a Date its days since
// 1970. A Timestamp or a text cannot be written. A numeric tag is written like the others. Times
// are milliseconds.
type DataPoints struct {
	// Metric returns the name of a field's metric.
	Metric func(t *series.Table, field string) string
	// Null is the field that has a point in rows without any value.
	Null string
	// Untagged is the key and the value of the tag of series that have no other.
	Untagged [2]string
}

// New returns an encoder of the schema's rows. It keeps the tags of each series ready,
// up to a limit.
func (d DataPoints) New(s *series.Schema) Encoder {
	e := &dataPoints{tables: newTables(s, func(t *series.Table) pointTable {
		var pt pointTable
		for _, f := range append(slices.Clone(t.Fields), series.Field{Name: d.Null, Type: series.Int}) {
			kind := `","type":"double`
			if f.Type.UsesInts() {
				kind = `","type":"long`
			}
			name := appendJSON([]byte(`{"name":`), d.Metric(t, f.Name))
			pt.names = append(pt.names, append(name[:len(name)-1], kind+`","tags":{`...))
		}
		pt.tags = newSeriesText(s, t, d.tags(t))
		return pt
	})}
	e.scratch.New = func() any {
		return &pointed{grouping: newGrouping(e.tables.keys)}
	}
	return e
}

// tags returns a function that appends the tags of a series and the text between them and the
// points.
func (d DataPoints) tags(t *series.Table) func([]byte, uint32) []byte {
	return func(dst []byte, of uint32) []byte {
		start := len(dst)
		for i := range t.Tags {
			if value, ok := t.Tags[i].Values.Append(nil, of); ok {
				dst = appendJSONPair(dst, len(dst) > start, t.Tags[i].Key, string(value))
			}
		}
		if len(dst) == start {
			dst = appendJSONPair(dst, false, d.Untagged[0], d.Untagged[1])
		}
		return append(dst, `},"datapoints":[`...)
	}
}

// appendJSON appends a text as JSON has it.
func appendJSON(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // its error is of bytes that are no UTF-8, which it replaces
	return dst
}

func appendJSONPair(dst []byte, further bool, key, value string) []byte {
	if further {
		dst = append(dst, ',')
	}
	return appendJSON(append(appendJSON(dst, key), ':'), value)
}

// dataPoints implements Encoder.
type dataPoints struct {
	tables  tables[pointTable]
	scratch sync.Pool // of *pointed
}

// pointTable is common to the series of a table. The last metric is that of rows without a value.
type pointTable struct {
	names [][]byte // per field, the text before the tags
	tags  seriesText
}

// pointed is the memory of one batch's encoding.
type pointed struct {
	grouping
	tags []byte // of the group at hand
	time timeText
}

// AppendHeader implements Encoder.
func (e *dataPoints) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *dataPoints) Append(dst []byte, b *series.Batch) []byte {
	p := e.scratch.Get().(*pointed)
	defer e.scratch.Put(p)
	p.time.unit = 1e6
	p.gather(b)
	dst = append(dst, '[')
	first := len(dst)
	for i := range p.groups {
		g := &p.groups[i]
		t := &e.tables.values[g.table]
		p.tags = t.tags.append(p.tags[:0], g.series)
		for f := range t.names {
			start := len(dst)
			if start > first {
				dst = append(dst, ',')
			}
			dst = append(append(dst, t.names[f]...), p.tags...)
			end := len(dst)
			if dst = p.appendPoints(dst, b, g, f); len(dst) == end { // it has no point of this metric
				dst = dst[:start]
				continue
			}
			dst = append(dst, "]}"...)
		}
	}
	return append(dst, ']')
}

// appendPoints appends the points of a field of a group's rows.
func (p *pointed) appendPoints(dst []byte, b *series.Batch, g *group, f int) []byte {
	start := len(dst)
	for _, at := range p.rowsOf(g) {
		run := &b.Runs[at.run]
		if !hasSample(run, f, at.row) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(p.time.append(append(dst, '['), run.Times[at.row]), ',')
		switch {
		case f == len(run.Columns):
			dst = append(dst, '1')
		case run.Table.Fields[f].Type.UsesInts():
			dst = strconv.AppendInt(dst, run.Columns[f].Ints[at.row], 10)
		default:
			dst = strconv.AppendFloat(dst, run.Columns[f].Floats[at.row], 'g', -1, 64)
		}
		dst = append(dst, ']')
	}
	return dst
}
