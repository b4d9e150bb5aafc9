package oracle

import (
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// put writes the value of a field of a kind to its place in a row of an answer that held only
// values of the same field before. A text is valid in e.texts until the next row. Only texts write
// pointers, which is the slow part.
func (e *evaluator) put(v *query.Value, kind query.Kind, run *series.Run, field, row int) {
	c := &run.Columns[field]
	switch {
	case run.Lacks(field, row):
		*v = query.Value{}
	case kind == query.Text:
		at := len(e.texts)
		e.texts = c.AppendText(e.texts, row, run.Table.Fields[field].Length)
		*v = query.Value{Kind: kind, Text: e.texts[at:]}
	case kind == query.Float:
		v.Kind, v.Float = kind, c.Floats[row]
	default:
		v.Kind, v.Int = kind, c.Ints[row]
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
