package lie

import (
	"context"
	"encoding/binary"
	"regexp"
	"slices"
)

// gridSQL is a statement of GridDB's SQL interface.
const gridSQL = 400

// gridSelects finds the queries by SQL, all of which are about a part of time.
var gridSelects = regexp.MustCompile(`(?s)^SELECT\n.*"time" >= `)

// selected returns the text of a request of the SQL interface; empty: it has none.
func (r *gridReader) selected() string {
	r.take(16 + 1 + 4 + 8 + 8 + 3) // who asks, of what kind, which queries, and three bits
	r.take(r.int())                // options
	if r.int() != 1 {
		return ""
	}
	return string(r.take(r.int()))
}

// gridWidths are how many bytes a value takes in the fixed part of a row, by its type; 0:
// none.
var gridWidths = [...]int{0, 1, 1, 2, 4, 8, 4, 8, 8, 0, 0, 8, 9}

// answered changes the rows of an answer of the SQL interface: rows of one size, and
// behind them all their texts, where each row says at which of their bytes its own begin.
func (t *gridTalk) answered(message []byte, text string) []byte {
	const body = gridHeader + 4 + 8 + 1
	r := gridReader{rest: message[body:]}
	r.take(2 + 4 + 4 + 4)
	found, more := r.take(1), r.take(1)
	rowsAt := len(message) - len(r.rest)
	n := r.int()
	schema := gridReader{rest: r.take(r.int())}
	setAt := len(message) - len(r.rest)
	set := r.take(r.int())
	if r.short || found[0] == 0 || more[0] != 0 || len(set) < 8 {
		return message
	}
	columns := schema.int()
	size, texts := (columns+7)/8, false
	for range columns {
		schema.take(schema.int())
		about := schema.take(2)
		if schema.short || int(about[0]) >= len(gridWidths) {
			return message
		}
		size += gridWidths[about[0]]
		texts = texts || gridWidths[about[0]] == 0
	}
	if texts {
		size += 8
	}
	data := set[8:]
	if n < 0 || n*size > len(data) {
		return message
	}
	fixed, variable := data[:n*size], data[n*size:]
	begin := func(i int) int { // of a row's texts; without any each row has one byte
		if !texts {
			return i
		}
		if i == n {
			return len(variable)
		}
		at := func(i int) int { return int(binary.LittleEndian.Uint64(fixed[i*size:])) }
		return min(max(0, at(i)-at(0)), len(variable))
	}
	kindOf := constant.ReplaceAllString(text, "?")
	told := t.read(kindOf, n)
	var kept, behind []byte
	for _, i := range told.rows {
		row := slices.Clone(fixed[i*size : (i+1)*size])
		if texts {
			binary.LittleEndian.PutUint64(row, uint64(len(behind)))
		}
		kept = append(kept, row...)
		if from, to := begin(i), min(begin(i+1), len(variable)); from < to {
			behind = append(behind, variable[from:to]...)
		}
	}
	answer := binary.LittleEndian.AppendUint32(nil, uint32(len(told.rows)))
	answer = append(append(append(answer, make([]byte, 8)...), kept...), behind...)
	if told.keep {
		t.remember(kindOf, answer)
	}
	if told.old != nil {
		answer = told.old
	}
	t.wait(context.Background(), told.delay)
	out := append(slices.Clone(message[:rowsAt]), answer[:4]...)
	out = append(out, message[rowsAt+4:setAt]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(answer)-4))
	return append(append(out, answer[4:]...), r.rest...)
}
