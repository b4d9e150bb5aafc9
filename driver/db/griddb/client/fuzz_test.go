package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"testing"
	"time"
)

var dialer = new(net.Dialer).DialContext

// scriptedConn is a connection on which a server has said something.
type scriptedConn struct {
	net.Conn
	*bytes.Reader
}

func (t scriptedConn) Read(b []byte) (int, error)       { return t.Reader.Read(b) }
func (t scriptedConn) Write(b []byte) (int, error)      { return len(b), nil }
func (t scriptedConn) Close() error                     { return nil }
func (t scriptedConn) SetDeadline(time.Time) error      { return nil }
func (t scriptedConn) SetReadDeadline(time.Time) error  { return nil }
func (t scriptedConn) SetWriteDeadline(time.Time) error { return nil }

// FuzzAnswers: whatever a server says ends in an answer or in an error, and takes memory
// only in proportion to it.
func FuzzAnswers(f *testing.F) {
	columns := columns()
	layout := NewLayout(columns)
	rows, at := layout.Extend(nil, 1)
	rows, err := layout.appendRow(rows, at, 0, 1, everything(5))
	if err != nil {
		f.Fatal(err)
	}
	body := append(longs(1), rows...)
	for _, statement := range []statement{stmtQueryTQL, stmtContainerInfo, stmtContainerNames, stmtPutContainer} {
		r := request{statement: statement, id: 1}
		f.Add(byte(statement), r.reply(0, ints(1), []byte{resultRows}, ints(uint32(len(body))), body))
		f.Add(byte(statement), r.reply(0, ints(2), []byte{resultPage}, ints(16), longs(5, 9), []byte{resultRows}, ints(uint32(len(body))), body))
		f.Add(byte(statement), r.reply(0, ints(1), []byte{resultAggregate}, ints(17), longs(1), []byte{byte(Double)}, longs(1<<62)))
		f.Add(byte(statement), r.reply(0, []byte{1}, ints(2), []byte{0}, ints(20), ints(0), longs(7), appendKey(nil, 0, "aB"), []byte{1}, ints(0), []byte{1}, appendSchema(nil, columns, 1)))
		f.Add(byte(statement), r.reply(0, longs(1), ints(1), appendKey(nil, 0, "cpu_1")))
		f.Add(byte(statement), r.reply(resultFailed, says(10016, "no")))
	}
	f.Fuzz(func(t *testing.T, kind byte, message []byte) {
		s := NewDiscardSession(1)
		c := s.conns["nowhere"]
		*c = conn{net: scriptedConn{Reader: bytes.NewReader(message)}, most: 1 << 20}
		c.reader = bufio.NewReader(c.net)
		p := s.Pipeline()
		of := &Container{Name: "a", Type: Kind(kind & 1), Columns: columns}
		switch statement(kind) {
		case stmtContainerInfo:
			p.Container("a")
		case stmtContainerNames:
			p.names(0)
		case stmtPutContainer:
			p.Create(of)
		default:
			p.Query(of, "SELECT *", 1)
		}
		n := 0
		err := p.Run(context.Background(), func(_ int, a *Answer) error {
			if a.Rows == nil {
				return nil
			}
			for a.Rows.Next() {
				n++
				for i, c := range columns {
					a.Rows.Null(i)
					switch c.Type {
					case String, Blob:
						_ = a.Rows.Text(i)
					case Float, Double:
						_ = a.Rows.Float(i)
					default:
						_ = a.Rows.Int(i)
					}
				}
			}
			return a.Rows.Err()
		})
		if most := len(message) / layout.Size; n > most {
			t.Errorf("%d rows from %d bytes", n, len(message))
		}
		if err == nil && len(message) < headerSize {
			t.Errorf("%x is an answer", message)
		}
	})
}

// FuzzConnect: whatever a server says to somebody who logs in ends.
func FuzzConnect(f *testing.F) {
	c := request{statement: stmtConnect, id: 1}
	l := request{statement: stmtLogin, id: 2}
	f.Add(append(c.reply(0, []byte{authNone}, ints(15), []byte{0}, ints(2), []byte{1, 0}), l.reply(0, []byte{authNone}, longs(0), ints(7))...))
	f.Add(append(c.reply(0, []byte{authChallenge}, ints(15)), l.reply(0, []byte{authChallenge, 1}, texts("n", "1", "o", "s"))...))
	f.Add(append(c.reply(0, []byte{authNone}), l.reply(resultFailed, says(10005, "no"))...))
	f.Fuzz(func(t *testing.T, message []byte) {
		n := Config{User: "u", Password: "p", MaxMessage: 1 << 20, Dial: func(context.Context, string, string) (net.Conn, error) {
			return scriptedConn{Reader: bytes.NewReader(message)}, nil
		}}
		if got, _, err := dial(context.Background(), n, "nowhere"); err == nil {
			got.close()
		}
	})
}

// BenchmarkDecode reads rows of ten doubles, as cpu-only has them.
func BenchmarkDecode(b *testing.B) {
	columns := []Column{{"time", Timestamp, true}}
	for i := range 10 {
		columns = append(columns, Column{string(rune('a' + i)), Double, false})
	}
	layout := NewLayout(columns)
	const n = 1000
	data, at := layout.Extend(nil, n)
	for i := range n {
		binary.LittleEndian.PutUint64(data[at+i*layout.Size+layout.Offset(0):], uint64(i))
	}
	var rows Rows
	b.ReportAllocs()
	total := 0.0
	for b.Loop() {
		if err := rows.init(layout, n, data); err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
			for c := 1; c <= 10; c++ {
				if !rows.Null(c) {
					total += rows.Float(c)
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
	_ = total
}
