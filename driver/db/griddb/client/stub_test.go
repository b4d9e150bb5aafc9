package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"
)

// stub is a server that answers as a function says.
type stub struct {
	t        *testing.T
	listener net.Listener
	conns    sync.WaitGroup
}

// request is a message as the stub has read it.
type request struct {
	statement statement
	partition int
	id        uint64
	reader
}

// serve starts a server. The function returns the answers of a request, which may be
// several or none; it is called by one goroutine at a time for a connection.
func serve(t *testing.T, answer func(r *request) [][]byte) *stub {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stub{t: t, listener: l}
	s.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Go(func() { s.talk(c, answer) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.conns.Wait()
	})
	return s
}

func (s *stub) talk(c net.Conn, answer func(r *request) [][]byte) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for {
		head := make([]byte, headerSize)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(head[16:]))
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		r := &request{reader: reader{b: body}}
		r.statement, r.partition = statement(r.int()), int(r.int())
		if r.statement == stmtConnect {
			r.id = uint64(r.int())
		} else {
			r.id = uint64(r.long())
		}
		for _, m := range answer(r) {
			if _, err := c.Write(m); err != nil {
				return
			}
		}
	}
}

func (s *stub) address() string { return s.listener.Addr().String() }

// reply is an answer to a request.
func (r *request) reply(result byte, body ...[]byte) []byte {
	m := binary.LittleEndian.AppendUint32(nil, magic)
	m = append(m, make([]byte, headerSize-4)...)
	m = binary.LittleEndian.AppendUint32(m, uint32(r.statement))
	if r.statement == stmtConnect {
		m = binary.LittleEndian.AppendUint32(m, uint32(r.id))
	} else {
		m = binary.LittleEndian.AppendUint64(m, r.id)
	}
	m = append(m, result)
	for _, b := range body {
		m = append(m, b...)
	}
	binary.LittleEndian.PutUint32(m[16:], uint32(len(m)-headerSize))
	return m
}

func ints(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func longs(values ...uint64) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func texts(values ...string) (b []byte) {
	for _, v := range values {
		b = appendString(b, v)
	}
	return b
}

// says is an error as a server says it.
func says(code uint32, message string) []byte {
	return append(ints(1, code), append(texts(message, "UserException", "file", "function"), ints(7)...)...)
}

// address is how a server tells one.
func addressOf(t *testing.T, address string) []byte {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return append(append([]byte{}, net.ParseIP(host).To4()...), ints(uint32(n))...)
}

// welcome answers the requests at the start of a session as a cluster of one node with the given number
// of partitions. The function rest answers other requests.
func welcome(t *testing.T, self func() string, partitions int, rest func(r *request) [][]byte) func(r *request) [][]byte {
	return func(r *request) [][]byte {
		switch r.statement {
		case stmtConnect:
			return [][]byte{r.reply(0, []byte{authNone}, ints(protocolVersion), []byte{0}, ints(2), []byte{1, 0})}
		case stmtLogin:
			return [][]byte{r.reply(0, []byte{authNone}, longs(0), ints(7))}
		case stmtDisconnect:
			return nil
		case stmtPartitionAddress:
			r.int()
			at := addressOf(t, self())
			if len(r.b) > 0 { // a request for the master
				return [][]byte{r.reply(0, ints(uint32(partitions)), []byte{0, 0, 1, 0}, at)}
			}
			return [][]byte{r.reply(0, ints(uint32(partitions)), []byte{1}, at, []byte{0})}
		}
		return rest(r)
	}
}

// session opens one with a stub.
func session(t *testing.T, partitions int, rest func(r *request) [][]byte) *Session {
	t.Helper()
	var s *stub
	s = serve(t, welcome(t, func() string { return s.address() }, partitions, rest))
	c, err := Open(t.Context(), Config{Members: []string{s.address()}, User: "admin", Password: "secret", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if c.Partitions() != partitions || c.Nodes() != 1 {
		t.Fatalf("%d partitions at %d nodes", c.Partitions(), c.Nodes())
	}
	opened, err := c.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}
