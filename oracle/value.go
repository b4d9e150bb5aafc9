package oracle

import (
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// value is the value of a field in a row of an answer. A text stands in e.texts
// until the next row.
func (e *evaluator) value(run *series.Run, field, row int) query.Value {
	c, of := &run.Columns[field], &run.Table.Fields[field]
	switch kind := query.KindOf(of.Type); {
	case run.Lacks(field, row):
		return query.Value{}
	case kind == query.Text:
		at := len(e.texts)
		e.texts = series.AppendText(e.texts, c.Ints[row], of.Length)
		return query.Value{Kind: kind, Text: e.texts[at:]}
	case of.Type.Whole():
		return query.Value{Kind: kind, Int: c.Ints[row]}
	default:
		return query.Value{Kind: kind, Float: c.Floats[row]}
	}
}

// ownTexts gives the texts among values, which lie in memory that is used again,
// a place in other memory, which it returns.
func ownTexts(values []query.Value, memory []byte) []byte {
	memory = memory[:0]
	for i := range values {
		if v := &values[i]; v.Kind == query.Text {
			at := len(memory)
			memory = append(memory, v.Text...)
			v.Text = memory[at:]
		}
	}
	return memory
}
