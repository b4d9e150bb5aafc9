package httpwire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// server answers with the sum of a request's body.
func server(t testing.TB) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		if _, err := io.Copy(sum, r.Body); err != nil {
			t.Error(err)
		}
		_, _ = w.Write(sum.Sum(nil))
	}))
	t.Cleanup(s.Close)
	host, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := New(&Config{Host: host, Port: port, Timeout: time.Minute})
	t.Cleanup(c.Close)
	return c
}

// texts are some that do not fit into the connection's buffer, but for the first.
func texts() [][]byte {
	var all [][]byte
	for i, n := range []int{3, writeBuffer - 1, 0, 5 * writeBuffer, 1, 1 << 20} {
		all = append(all, bytes.Repeat([]byte{byte('a' + i)}, n))
	}
	return all
}

// TestPostLong checks that a body longer than the connection's buffer arrives unchanged.
func TestPostLong(t *testing.T) {
	c := server(t)
	for n := range len(texts()) + 1 {
		text := texts()[:n]
		response, sent, err := c.Post(t.Context(), "/", nil, nil, text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if want := sha256.Sum256(bytes.Join(text, nil)); err != nil || !bytes.Equal(got, want[:]) {
			t.Errorf("of %d texts others came: %v", n, err)
		}
		if n > 0 && sent.IsZero() {
			t.Errorf("nobody knows when %d texts were sent", n)
		}
		response.Body.Close()
	}
}

// watched counts the bytes that net/http passes to the connection as a body, and the bytes that it
// writes itself.
type watched struct {
	conn
	taken, written *int64
}

func (w watched) ReadFrom(r io.Reader) (int64, error) {
	n, err := w.conn.ReadFrom(r)
	if limited, ok := r.(*io.LimitedReader); ok {
		if _, ok = limited.R.(*body); ok {
			*w.taken += n
		}
	}
	return n, err
}

func (w watched) Write(p []byte) (int, error) {
	*w.written += int64(len(p))
	return w.conn.Write(p)
}

// net/http has the connection take a body, but for what its buffer takes.
func TestPostTakesMemory(t *testing.T) {
	c := server(t)
	var taken, written int64
	transport := c.http.Transport.(*http.Transport)
	connect := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		inner, err := connect(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return watched{inner.(conn), &taken, &written}, nil
	}
	response, _, err := c.Post(t.Context(), "/", nil, nil, texts())
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if whole := int64(len(bytes.Join(texts(), nil))); written > writeBuffer || taken < whole-writeBuffer {
		t.Errorf("of %d bytes %d were taken, and %d written by way of a buffer", whole, taken, written)
	}
}

// BenchmarkPost is a batch of 10,000 rows of cpu-only as line protocol.
func BenchmarkPost(b *testing.B) {
	c := server(b)
	text := [][]byte{make([]byte, 3_440_000)}
	b.SetBytes(int64(len(text[0])))
	for b.Loop() {
		response, _, err := c.Post(b.Context(), "/", nil, nil, text)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
}
