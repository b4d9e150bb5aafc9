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

// The opcodes of Cassandra's native protocol that matter here.
const (
	cqlResult  = 0x08
	cqlPrepare = 0x09
	cqlExecute = 0x0a
	cqlBatch   = 0x0d
)

// cqlHeader is the length of a frame's header: version, flags, two bytes of the stream,
// opcode, four bytes of the body's length.
const cqlHeader = 9

// cqlTalk is a connection that speaks version 4 of Cassandra's native protocol, in which
// answers come in any order, each with the number of its request's stream.
type cqlTalk struct {
	*proxy

	mu      sync.Mutex          // guards what follows
	streams map[[2]byte]cqlSent // requests that are not answered yet
}

// cqlSent is a request: a statement that is prepared, or one that is executed.
type cqlSent struct {
	text     string
	prepares bool
}

// isCQL reports whether a client begins as one of Cassandra does: with OPTIONS or
// STARTUP.
func isCQL(begin []byte) bool {
	return len(begin) >= cqlHeader && begin[0] == 4 && (begin[4] == 1 || begin[4] == 5)
}

// cql passes what a client and a server say on until one of them ends.
func (p *proxy) cql(client *sniffed, server net.Conn) error {
	t := &cqlTalk{proxy: p, streams: map[[2]byte]cqlSent{}}
	go func() {
		_ = t.passed(client, server, t.request) // the other side notices that the connection has ended
		_ = server.Close()
	}()
	return t.passed(server, client, t.response)
}

// passed passes frames on as change makes them.
func (t *cqlTalk) passed(from io.Reader, to io.Writer, change func(frame []byte) []byte) error {
	for {
		frame := make([]byte, cqlHeader)
		if _, err := io.ReadFull(from, frame); err != nil {
			return err
		}
		size := binary.BigEndian.Uint32(frame[5:])
		if size > 1<<28 {
			return errors.New("a frame is longer than the protocol has them")
		}
		frame = append(frame, make([]byte, size)...)
		if _, err := io.ReadFull(from, frame[cqlHeader:]); err != nil {
			return err
		}
		frame = change(frame)
		binary.BigEndian.PutUint32(frame[5:], uint32(len(frame)-cqlHeader))
		if _, err := to.Write(frame); err != nil {
			return err
		}
	}
}

// request notes what a request asks for, and changes the rows that it writes.
func (t *cqlTalk) request(frame []byte) []byte {
	r := cqlReader{rest: frame[cqlHeader:]}
	sent := cqlSent{}
	switch frame[4] {
	case cqlPrepare:
		sent = cqlSent{string(r.take(int(r.uint32()))), true}
	case cqlExecute:
		sent.text = t.statement(r.take(int(r.uint16())))
	case cqlBatch:
		return t.batch(frame)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams[[2]byte(frame[2:4])] = sent
	return frame
}

// statement is the text of a statement that some connection has prepared.
func (p *proxy) statement(id []byte) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.prepared[string(id)]
}

var cqlInserts = regexp.MustCompile(`^INSERT INTO (?:\w+\.)?(\w+) `)

// cqlRow is a statement of a batch: the bytes before its values, and the values.
type cqlRow struct {
	head   []byte
	values [][]byte // each with its length
}

// batch does to the rows of a batch what their fates are. The first values are those of
// the primary key: the series, the span of its partition, the time.
func (t *cqlTalk) batch(frame []byte) []byte {
	const first = 3
	r := cqlReader{rest: frame[cqlHeader:]}
	kind := r.take(1)
	rows := make([]cqlRow, r.uint16())
	var of []int // those of the table
	for i := range rows {
		begin := r.rest
		if prepared := r.take(1); r.short || prepared[0] != 1 {
			return frame
		}
		id := r.take(int(r.uint16()))
		n := int(r.uint16())
		rows[i].head = begin[:len(begin)-len(r.rest)]
		for range n {
			rows[i].values = append(rows[i].values, r.value())
		}
		if into := cqlInserts.FindStringSubmatch(t.statement(id)); into != nil && into[1] == t.table {
			of = append(of, i)
		}
	}
	if r.short || t.lie.Store == nil {
		return frame
	}
	out := append(slices.Clone(frame[:cqlHeader]), kind...)
	fates := t.fates(len(of))
	times := slices.Repeat([]int{1}, len(rows))
	for k, i := range of {
		values := rows[i].values
		switch fates[k] {
		case Drop:
			times[i] = 0
		case Twice:
			times[i] = 2
		case Swap:
			if k > 0 {
				before := rows[of[k-1]].values
				for c := first; c < len(values); c++ {
					before[c], values[c] = values[c], before[c]
				}
			}
		case Zero:
			for c := first; c < len(values); c++ {
				clear(values[c][4:])
			}
		}
	}
	stored := 0
	for _, n := range times {
		stored += n
	}
	out = binary.BigEndian.AppendUint16(out, uint16(stored))
	for i, row := range rows {
		for range times[i] {
			out = append(out, row.head...)
			for _, v := range row.values {
				out = append(out, v...)
			}
		}
	}
	return append(out, r.rest...)
}

// response notes what was prepared, and changes the rows of answers.
func (t *cqlTalk) response(frame []byte) []byte {
	stream := [2]byte(frame[2:4])
	t.mu.Lock()
	sent := t.streams[stream]
	delete(t.streams, stream)
	t.mu.Unlock()
	const plain, rows, prepared = 0, 2, 4
	if frame[4] != cqlResult || frame[1] != plain || len(frame) < cqlHeader+4 {
		return frame
	}
	r := cqlReader{rest: frame[cqlHeader:]}
	switch kindOf := r.uint32(); {
	case kindOf == prepared && sent.prepares:
		id := string(r.take(int(r.uint16())))
		t.proxy.mu.Lock()
		defer t.proxy.mu.Unlock()
		if t.prepared == nil {
			t.prepared = map[string]string{}
		}
		t.prepared[id] = sent.text
	case kindOf == rows && !sent.prepares:
		return t.rowsOf(sent.text, frame, &r)
	}
	return frame
}

// cqlSelects finds the statements by which queries read rows, and their table: tsmark
// counts and lists without a partition.
var cqlSelects = regexp.MustCompile(`\bFROM (?:\w+\.)?(\w+) WHERE tags_id = \?`)

// rowsOf changes the rows of an answer, whose columns the client knows already.
func (t *cqlTalk) rowsOf(text string, frame []byte, r *cqlReader) []byte {
	const more, without = 2, 4 // flags: further pages follow, columns are not described
	flags, columns := r.uint32(), int(r.uint32())
	if flags&more != 0 {
		r.value()
	}
	if from := cqlSelects.FindStringSubmatch(text); !t.answersLie() || flags&without == 0 || from == nil || from[1] != t.table {
		return frame
	}
	head := frame[:len(frame)-len(r.rest)]
	rows := make([][]byte, r.uint32())
	for i := range rows {
		begin := r.rest
		for range columns {
			r.value()
		}
		rows[i] = begin[:len(begin)-len(r.rest)]
	}
	if r.short {
		return frame
	}
	told := t.read(text, len(rows))
	answer := binary.BigEndian.AppendUint32(nil, uint32(len(told.rows)))
	for _, i := range told.rows {
		answer = append(answer, rows[i]...)
	}
	if told.keep {
		t.remember(text, answer)
	}
	if told.old != nil {
		answer = told.old
	}
	t.wait(context.Background(), told.delay)
	return append(slices.Clone(head), answer...)
}

// cqlReader reads a body until it is short.
type cqlReader struct {
	rest  []byte
	short bool
}

func (r *cqlReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	part := r.rest[:n:n]
	r.rest = r.rest[n:]
	return part
}

func (r *cqlReader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *cqlReader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// value takes a value with its length, which is negative where there is none.
func (r *cqlReader) value() []byte {
	begin := r.rest
	if n := int32(r.uint32()); n > 0 {
		r.take(int(n))
	}
	if r.short {
		return nil
	}
	return begin[: len(begin)-len(r.rest) : len(begin)-len(r.rest)]
}
