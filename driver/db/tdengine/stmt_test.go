package tdengine

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/byseries"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// rowsOfAll is a run with a field of each type, one of free texts, and rows with all values
// and with none.
func rowsOfAll() (*series.Schema, *series.Batch) {
	table := &series.Table{Name: "all"}
	for i, kind := range series.Types() {
		table.Fields = append(table.Fields, series.Field{Name: string(rune('a' + i)), Type: kind, Length: 5})
	}
	table.Fields = append(table.Fields, series.Field{Name: "note", Type: series.Text, Longest: 40})
	var batch series.Batch
	run := batch.Add(table)
	run.Grow(9)
	for row := range run.Times {
		run.Times[row], run.Series[row] = int64(row)*1e6, 0
		for f := range run.Columns {
			if c := &run.Columns[f]; table.Fields[f].Free() {
				c.SetText(row, []byte(strings.Repeat("'\x00\\é", row)))
			} else if table.Fields[f].Type.UsesInts() {
				c.Ints[row] = int64(row % 2)
			} else {
				c.Floats[row] = float64(row) / 4
			}
			if row%3 == 2 {
				run.SetNull(f, row)
			}
		}
	}
	return &series.Schema{Tables: []*series.Table{table}, Series: 1}, &batch
}

// Blocks that are bound read back as blocks of answers do.
func TestEncodeBlock(t *testing.T) {
	for _, precision := range []string{"ms", "ns"} {
		schema, batch := rowsOfAll()
		o, err := resolve()
		if err != nil {
			t.Fatal(err)
		}
		o[optionPrecision] = precision
		d := &database{name: "tsmark", design: newDesign(o)}
		b := d.bindBy(nil, schema)
		table := b.tables[schema.Tables[0]]
		if err := b.gather(batch); err != nil {
			t.Fatal(err)
		}
		var places []byseries.Place
		var want [][]query.Value
		run := &batch.Runs[0]
		for row := range run.Times {
			places = append(places, byseries.Place{Row: int32(row)})
			values := []any{query.Value{Kind: query.Time, Int: run.Times[row]}}
			for f, field := range schema.Tables[0].Fields {
				c := &run.Columns[f]
				switch {
				case run.Lacks(f, row):
					values = append(values, nil)
				case field.Type.Textual():
					values = append(values, string(c.AppendText(nil, row, field.Length)))
				case field.Type == series.Timestamp && precision == "ns":
					values = append(values, query.Value{Kind: query.Time, Int: c.Ints[row]})
				case field.Type == series.Bool:
					values = append(values, query.Value{Kind: query.Bool, Int: c.Ints[row]})
				case field.Type.UsesInts():
					values = append(values, c.Ints[row])
				default:
					values = append(values, c.Floats[row])
				}
			}
			want = append(want, conformance.Row(values...))
		}
		l := &stmtConn{}
		for range 2 { // memory that is used again
			if err := b.encode(l, table, places); err != nil {
				t.Fatal(err)
			}
		}
		var answer query.Answer
		read := block{unit: int64(d.design.unit)}
		if _, err := read.read(l.block[bindHead-blockAt:], 1+len(schema.Tables[0].Fields), &answer); err != nil {
			t.Fatal(err)
		}
		conformance.CheckRows(t, answer.Rows, want...)
	}
}

// BenchmarkBind measures the client's work on a batch, without sending and waiting.
func BenchmarkBind(b *testing.B) {
	schema, batch := conformance.CPURows(b)
	o, err := resolve()
	if err != nil {
		b.Fatal(err)
	}
	w, l := (&database{name: "tsmark", design: newDesign(o)}).bindBy(nil, schema), &stmtConn{}
	encode := func() {
		err := w.gather(batch)
		for _, t := range w.active {
			if err == nil {
				err = w.sorter.Sort(t.runs)
			}
			for _, g := range w.sorter.Groups {
				if err == nil {
					err = w.encode(l, t, w.sorter.Places[g.First:g.Last])
				}
			}
			t.runs = t.runs[:0]
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	encode()
	b.ReportAllocs()
	for b.Loop() {
		encode()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Rows()), "ns/row")
}
