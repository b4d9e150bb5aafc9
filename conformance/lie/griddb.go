package lie

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"regexp"
	"slices"
	"sync"
)

// The statements of GridDB's protocol that matter here, and how it begins.
const (
	gridMagic  = 65021048
	gridQuery  = 121
	gridPut    = 149
	gridHeader = 20 // of a message; the last four bytes are the length of what follows
	gridBody   = gridHeader + 16
)

// gridTalk is a connection that speaks GridDB's NoSQL protocol, in which answers come in
// any order, each with the number of its request.
type gridTalk struct {
	*proxy

	mu      sync.Mutex
	queries map[uint64]string // that are not answered yet
}

// asked notes a query that is lied about.
func (t *gridTalk) asked(message []byte, text string, lied *regexp.Regexp) {
	if !t.answersLie() || !lied.MatchString(text) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queries[binary.LittleEndian.Uint64(message[gridHeader+8:])] = text
}

// isGrid reports whether a client begins as one of GridDB does.
func isGrid(begin []byte) bool {
	return len(begin) >= 4 && binary.LittleEndian.Uint32(begin) == gridMagic
}

// grid passes what a client and a server say on until one of them ends.
func (p *proxy) grid(client *sniffed, server net.Conn) error {
	t := &gridTalk{proxy: p, queries: map[uint64]string{}}
	go func() {
		_ = t.passed(client, server, t.request) // the other side notices that the connection has ended
		_ = server.Close()
	}()
	return t.passed(server, client, t.response)
}

// passed passes messages on as change makes them.
func (t *gridTalk) passed(from io.Reader, to io.Writer, change func(message []byte) []byte) error {
	for {
		message := make([]byte, gridHeader)
		if _, err := io.ReadFull(from, message); err != nil {
			return err
		}
		size := binary.LittleEndian.Uint32(message[gridHeader-4:])
		if size > 1<<28 {
			return errors.New("a message is longer than the protocol has them")
		}
		message = append(message, make([]byte, size)...)
		if _, err := io.ReadFull(from, message[gridHeader:]); err != nil {
			return err
		}
		if len(message) >= gridBody {
			message = change(message)
		}
		binary.LittleEndian.PutUint32(message[gridHeader-4:], uint32(len(message)-gridHeader))
		if _, err := to.Write(message); err != nil {
			return err
		}
	}
}

// gridReads finds the statements by which queries read rows: tsmark counts and lists
// without a bound of time.
var gridReads = regexp.MustCompile(`^SELECT \* WHERE "time" >= `)

// request notes what a request asks for, and changes the rows that it writes.
func (t *gridTalk) request(message []byte) []byte {
	switch r := (gridReader{rest: message[gridBody:]}); binary.LittleEndian.Uint32(message[gridHeader:]) {
	case gridPut:
		return t.put(message)
	case gridQuery:
		r.take(8 + 8 + 16 + 4 + 2)
		r.take(r.int())                 // options
		r.take(8 + 8 + 1 + 4)           // how many rows, and in what parts
		text := string(r.take(r.int())) // the rest
		if !r.short {
			t.asked(message, text, gridReads)
		}
	case gridSQL:
		t.asked(message, r.selected(), gridSelects)
	}
	return message
}

// put does to rows what their fates are: to those of time series, whose first column is the
// time, and of tables, where the number of the series stands before it. Their values have
// fixed sizes.
func (t *gridTalk) put(message []byte) []byte {
	if t.lie.Store == nil {
		return message
	}
	r := gridReader{rest: message[gridBody:]}
	r.take(16)
	r.take(r.int()) // options
	var heads []int // bytes before the values, of each schema: which are NULL, and the keys; 0: no such rows
	for range r.int() {
		kind := r.take(1)
		columns := r.int()
		var types []byte
		for range columns {
			r.take(r.int())
			if about := r.take(2); about != nil {
				types = append(types, about[0])
			}
		}
		for range r.short16() {
			r.short16()
		}
		if r.short {
			return message
		}
		head := (columns+7)/8 + 8
		const integer, timestamp = 4, 8
		switch {
		case kind[0] == 1:
		case len(types) > 1 && types[0] == integer && types[1] == timestamp:
			head += 4
		default:
			head = 0
		}
		heads = append(heads, head)
	}
	countAt := len(message) - len(r.rest)
	containers := r.int()
	left := containers
	out := slices.Clone(message[:len(message)-len(r.rest)])
	for range containers {
		head := r.take(8 + 8 + 8 + 2)
		options := r.take(4)
		schema := r.int()
		rows := r.take(r.int())
		if r.short || schema >= len(heads) || len(rows) < 8 {
			return message
		}
		if heads[schema] > 0 {
			rows = t.lied(rows, heads[schema])
		}
		if binary.LittleEndian.Uint64(rows) == 0 { // the server takes no container without rows
			left--
			continue
		}
		out = append(append(out, head...), options...)
		out = binary.LittleEndian.AppendUint32(out, uint32(schema))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(rows)))
		out = append(out, rows...)
	}
	binary.LittleEndian.PutUint32(out[countAt:], uint32(left))
	return out
}

// lied is what becomes of rows, behind their number.
func (t *gridTalk) lied(data []byte, head int) []byte {
	n := int(binary.LittleEndian.Uint64(data))
	data = slices.Clone(data[8:])
	size := len(data) / max(1, n)
	values := func(i int) []byte { return data[i*size+head : (i+1)*size] }
	var out []byte
	stored := 0
	fates := t.fates(n)
	for i := range n {
		switch fates[i] {
		case Zero:
			clear(values(i))
		case Swap:
			if i > 0 {
				a, b := values(i-1), values(i)
				for k := range a {
					a[k], b[k] = b[k], a[k]
				}
			}
		}
	}
	for i := range n {
		for range fates[i].copies() {
			out = append(out, data[i*size:(i+1)*size]...)
			stored++
		}
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(stored)), out...)
}

// response changes the rows of an answer that has nothing but rows.
func (t *gridTalk) response(message []byte) []byte {
	const body = gridHeader + 4 + 8 + 1 // behind the statement, the number and the result
	id := binary.LittleEndian.Uint64(message[gridHeader+4:])
	t.mu.Lock()
	text, ours := t.queries[id]
	delete(t.queries, id)
	t.mu.Unlock()
	if ours && binary.LittleEndian.Uint32(message[gridHeader:]) == gridSQL {
		return t.answered(message, text)
	}
	r := gridReader{rest: message[min(body, len(message)):]}
	const onlyRows = 0
	if parts, kind := r.int(), r.take(1); !ours || r.short || parts != 1 || kind[0] != onlyRows {
		return message
	}
	data := r.take(r.int())
	if r.short || len(data) < 8 {
		return message
	}
	n := int(binary.LittleEndian.Uint64(data))
	rows := data[8:]
	size := len(rows) / max(1, n)
	kindOf := constant.ReplaceAllString(text, "?")
	told := t.read(kindOf, n)
	answer := binary.LittleEndian.AppendUint64(nil, uint64(len(told.rows)))
	for _, i := range told.rows {
		answer = append(answer, rows[i*size:(i+1)*size]...)
	}
	if told.keep {
		t.remember(kindOf, answer)
	}
	if told.old != nil {
		answer = told.old
	}
	t.wait(context.Background(), told.delay)
	out := append(slices.Clone(message[:body]), 1, 0, 0, 0, onlyRows)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(answer))), answer...)
}

// gridReader reads a body until it is short.
type gridReader struct {
	rest  []byte
	short bool
}

func (r *gridReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	part := r.rest[:n:n]
	r.rest = r.rest[n:]
	return part
}

func (r *gridReader) int() int {
	if b := r.take(4); b != nil {
		return int(int32(binary.LittleEndian.Uint32(b)))
	}
	return 0
}

func (r *gridReader) short16() int {
	if b := r.take(2); b != nil {
		return int(binary.LittleEndian.Uint16(b))
	}
	return 0
}
