package tdengine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Texts that have no room are refused before a load, with the way that has it.
func TestTextsRefused(t *testing.T) {
	for _, c := range []struct {
		write   string
		longest []int // of fields of texts, beside a double
		want    string
	}{
		{overREST, []int{32_764}, ""},
		{overREST, []int{32_765}, "field text0 of table notes has texts of up to 32765 bytes, but an SQL literal of TDengine holds 32764 if each byte is escaped; give write=stmt, or remove the field"},
		{overREST, []int{10, 40_000}, "field text1 of table notes has texts of up to 40000 bytes, but an SQL literal of TDengine holds 32764 if each byte is escaped; give write=stmt, or remove the field"},
		{overREST, []int{65_518}, "field text0 of table notes has texts of up to 65518 bytes, but a VARCHAR of TDengine holds at most 65517; remove the field, or choose another target"},
		{byStatement, []int{65_518}, "field text0 of table notes has texts of up to 65518 bytes, but a VARCHAR of TDengine holds at most 65517; remove the field, or choose another target"},
		{byStatement, []int{65_513}, ""},
		{byStatement, []int{65_514}, "a row of table notes would have 65532 bytes, including up to 65514 for field text0, but TDengine allows 65531; use fewer fields"},
		{byStatement, []int{30_000, 35_511}, ""},
		{byStatement, []int{30_000, 35_512}, "a row of table notes would have 65532 bytes, including up to 30000 for field text0, including up to 35512 for field text1, but TDengine allows 65531; use fewer fields"},
		{byStatement, []int{0}, "field text0 of table notes has texts of up to 65535 bytes, but a VARCHAR of TDengine holds at most 65517; remove the field, or choose another target"},
	} {
		o, err := resolve()
		if err != nil {
			t.Fatal(err)
		}
		o[optionWrite] = c.write
		got := ""
		if err := newDesign(o).check(noteSchema(c.longest...)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, %d: %q, want %q", c.write, c.longest, got, c.want)
		}
	}
}

// noteSchema is a schema of a table with a double, and texts of any length up to the bounds.
func noteSchema(longest ...int) *series.Schema {
	table := &series.Table{Name: "notes", Tags: []series.Tag{{Key: "host", Values: series.Numbered{Prefix: "h"}}}, Fields: []series.Field{{Name: "value", Type: series.Float}}}
	for i, n := range longest {
		table.Fields = append(table.Fields, series.Field{Name: fmt.Sprintf("text%d", i), Type: series.Text, Longest: n})
	}
	return &series.Schema{Tables: []*series.Table{table}, Series: 3}
}

// Statements are as long as the server takes, also where every byte of a text is escaped,
// and have every row.
func TestStatementsOfTexts(t *testing.T) {
	const longest, rows = 32_764, 200
	schema := noteSchema(longest, longest)
	var batch series.Batch
	run := batch.Add(schema.Tables[0])
	run.Grow(rows)
	for row := range run.Times {
		run.Times[row], run.Series[row], run.Columns[0].Floats[row] = int64(row)*1e6, uint32(row%3), 1
		for f := range 2 {
			run.Columns[1+f].SetText(row, bytes.Repeat([]byte{'\''}, longest))
		}
	}
	o, err := resolve()
	if err != nil {
		t.Fatal(err)
	}
	w := (&database{name: "tsmark", design: newDesign(o)}).newWriter(nil, schema)
	if err := w.gather(&batch); err != nil {
		t.Fatal(err)
	}
	escapes, statements := 0, 0
	err = w.statements(func() error {
		if statements++; len(w.out) > 1<<20 {
			t.Errorf("a statement of %d bytes", len(w.out))
		}
		escapes += bytes.Count(w.out, []byte(`\'`))
		return nil
	})
	if err != nil || escapes != 2*rows*longest || statements < 26 {
		t.Errorf("%d statements with %d escaped quotes, want %d: %v", statements, escapes, 2*rows*longest, err)
	}
}

// TestLongBlock checks that a block may be longer than the limit of bytes without a row, like its rows.
func TestLongBlock(t *testing.T) {
	const rows, length = 700, 50_000 // 35 MB
	row := []any{strings.Repeat("x", length)}
	all := make([][]any, rows)
	for i := range all {
		all[i] = row
	}
	message := blockOf([]byte{typeVarchar}, all)
	left := 1
	c := stub(t, func(action, sql string, c *websocket.Conn) string {
		switch {
		case action == "query":
			return fmt.Sprintf(`{"code":0,"id":1,"fields_names":["note"],"fields_lengths":[%d]}`, length)
		case action == "fetch" && left == 0:
			return `{"code":0,"completed":true}`
		case action == "fetch":
			return fmt.Sprintf(`{"code":0,"rows":%d}`, rows)
		case action == "fetch_block":
			left--
			binary.LittleEndian.PutUint64(message, 0)
			_ = c.WriteMessage(websocket.BinaryMessage, message)
			return answered
		}
		return `{"code":0}`
	})
	conn, err := c.connect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got := 0
	cost, err := conn.Query(t.Context(), "SELECT note FROM notes", query.SinkFunc(func(row []query.Value) error { got += len(row[0].Text); return nil }))
	if err != nil || cost.Rows != rows || got != rows*length || len(message) <= limit.MaxRow {
		t.Errorf("%d rows of %d bytes in %d: %v", cost.Rows, got, len(message), err)
	}
	conformance.Close(t, conn)
}
