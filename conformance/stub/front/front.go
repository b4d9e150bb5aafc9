// Package front is a TLS front for a GridDB server in tests. It speaks TLS like the
// Enterprise Edition, as far as its Java client shows: the first request and its
// answer are plain, and announce that the rest is encrypted.
package front

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/conformance/stub"
)

// Front is such a server.
type Front struct {
	Certificate string // file that a client must trust
	listener    net.Listener
	backend     string
	config      *tls.Config
	running     sync.WaitGroup
	encrypted   atomic.Int64
}

// Serve starts one before a server, until the test ends.
func Serve(t testing.TB, backend string) *Front {
	t.Helper()
	certificate, key := stub.Certificate(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Front{Certificate: certificate, listener: l, backend: backend, config: &tls.Config{Certificates: []tls.Certificate{pair}}}
	f.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.running.Go(func() {
				defer func() { _ = c.Close() }()
				_ = f.forward(c) // the client reports the error
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		f.running.Wait()
	})
	return f
}

// Address returns the address on which it listens.
func (f *Front) Address() string { return f.listener.Addr().String() }

// EncryptedCount returns the number of encrypted connections.
func (f *Front) EncryptedCount() int64 { return f.encrypted.Load() }

// headSize is the size of the head of each message; its last field is the message's size.
const headSize = 20

// message reads one.
func message(from io.Reader) ([]byte, error) {
	head := make([]byte, headSize)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[headSize-4:])
	if n < 8 || n > 1<<16 {
		return nil, fmt.Errorf("a first message of %d bytes", n)
	}
	all := append(head, make([]byte, n)...)
	_, err := io.ReadFull(from, all[headSize:])
	return all, err
}

// forward forwards the first request and its answer. It changes the last two bytes of the
// answer: whether plain and encrypted connections are accepted.
func (f *Front) forward(client net.Conn) error {
	server, err := net.Dial("tcp", f.backend)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	request, err := message(client)
	if err != nil {
		return err
	}
	secure := request[len(request)-1] == 1
	request[len(request)-2], request[len(request)-1] = 1, 0
	if _, err := server.Write(request); err != nil {
		return err
	}
	answered := bufio.NewReader(server)
	answer, err := message(answered)
	if err != nil {
		return err
	}
	answer[len(answer)-2], answer[len(answer)-1] = 0, 1
	if _, err := client.Write(answer); err != nil || !secure {
		return err
	}
	encrypted := tls.Server(client, f.config)
	if err := encrypted.Handshake(); err != nil {
		return err
	}
	f.encrypted.Add(1)
	f.running.Go(func() {
		_, _ = io.Copy(server, encrypted)
		_ = server.Close()
	})
	_, err = io.Copy(encrypted, answered)
	return err
}
