package replay

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// recorder is a proxy between clients and the ports of a server that keeps the messages of
// both sides.
type recorder struct {
	framing   Framing
	listeners []net.Listener
	ended     sync.WaitGroup

	mu            sync.Mutex
	conns         map[net.Conn]bool
	conversations []*conversation // in the order in which they began
}

// listen starts a recorder before addresses.
func listen(f Framing, to []string) (*recorder, error) {
	r := &recorder{framing: f, conns: make(map[net.Conn]bool)}
	for port, address := range to {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			_ = r.finish()
			return nil, err
		}
		r.listeners = append(r.listeners, l)
		r.ended.Go(func() {
			for {
				client, err := l.Accept()
				if err != nil {
					return
				}
				r.ended.Go(func() { r.forward(client, port, address) })
			}
		})
	}
	return r, nil
}

func (r *recorder) addresses() []net.Addr { return addresses(r.listeners) }

func addresses(all []net.Listener) []net.Addr {
	var found []net.Addr
	for _, l := range all {
		found = append(found, l.Addr())
	}
	return found
}

// forward forwards the messages of a client and the server, until one of them ends.
func (r *recorder) forward(client net.Conn, port int, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		_ = client.Close()
		return
	}
	c := &conversation{port: port}
	r.mu.Lock()
	r.conversations = append(r.conversations, c)
	r.conns[client], r.conns[server] = true, true
	r.mu.Unlock()
	framing := r.framing.Connection()
	both := func() { _, _ = client.Close(), server.Close() }
	var done sync.WaitGroup
	done.Go(func() { r.hand(c, framing, Server, server, client); both() })
	r.hand(c, framing, Client, client, server)
	both()
	done.Wait()
	r.mu.Lock()
	delete(r.conns, client)
	delete(r.conns, server)
	r.mu.Unlock()
}

// hand keeps each message before it forwards it, in order of arrival, so that an answer
// never precedes its request.
func (r *recorder) hand(c *conversation, framing Connection, from Side, in, out net.Conn) {
	came := &copied{from: in}
	stream := bufio.NewReader(came)
	for {
		payload, err := framing.Read(from, stream)
		if err != nil {
			return
		}
		r.mu.Lock()
		c.messages = append(c.messages, newMessage(from, framing.Mask(from, payload)))
		r.mu.Unlock()
		whole := len(came.bytes) - stream.Buffered()
		if _, err := out.Write(came.bytes[:whole]); err != nil {
			return
		}
		came.bytes = append(came.bytes[:0], came.bytes[whole:]...)
	}
}

// copied keeps the bytes read from a connection.
type copied struct {
	from  net.Conn
	bytes []byte
}

// Read implements io.Reader.
func (c *copied) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.bytes = append(c.bytes, b[:n]...)
	return n, err
}

// finish waits for last messages on connections that end, ends the others and returns the
// conversations.
func (r *recorder) finish() []conversation {
	for _, l := range r.listeners {
		_ = l.Close()
	}
	done := make(chan struct{})
	go func() { r.ended.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		r.mu.Lock()
		for c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		<-done
	}
	var all []conversation
	for _, c := range r.conversations {
		if len(c.messages) > 0 {
			all = append(all, *c)
		}
	}
	return all
}
