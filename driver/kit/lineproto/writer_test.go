package lineproto_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// loading is a writer, and the loader that made it.
type loading struct {
	driver.LineWriter
	*lineproto.Loader
}

// writer returns a writer to a sender, and a batch of five rows.
func writer(t *testing.T, to lineproto.Sender, err error) (loading, *series.Batch) {
	t.Helper()
	l := &lineproto.Loader{System: "Stub", Open: func(context.Context) (lineproto.Sender, error) { return to, err }}
	if _, err := l.NewWriter(t.Context(), 0); err == nil {
		t.Error("a writer of an unknown encoding")
	}
	table := conformance.Table("usage")
	b := new(series.Batch)
	conformance.Fill(b.Add(table), 5, 0, 3)
	s := &series.Schema{Tables: []*series.Table{table}, Series: 3}
	l.Prepare(encode.NewLineProtocol(s), s)
	w, err := l.NewWriter(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return loading{w.(driver.LineWriter), l}, b
}

func explain(status int, body []byte) error {
	err := errors.New(httpwire.OneLine(string(body)))
	switch {
	case status == 400:
		return &lineproto.BadLine{Number: 2, Err: err}
	case status == 500:
		return &driver.Temporary{Err: err}
	}
	return err
}

func TestWriteFails(t *testing.T) {
	stub.WriteFails(t, map[string]stub.Write{
		"a bad line":       {Answer: stub.Saying(400, "", "no such\nfield"), Says: `writing to Stub: the server answered 400 Bad Request: line 2 of the batch, "cpu,hostname=host_1,region=eu usage=1i 1000": no such field`},
		"it is overloaded": {Answer: stub.Saying(500, "", "wait"), Says: "500 Internal Server Error: wait", Want: &driver.Temporary{}},
		"a redirect":       {Answer: stub.Saying(302, "", ""), Says: "302 Found"},
	}, func(t *testing.T, host, port, timeout string) (driver.Writer, *series.Batch) {
		limit, err := time.ParseDuration(cmp.Or(timeout, "1m"))
		if err != nil {
			t.Fatal(err)
		}
		to, err := lineproto.Endpoint{Wire: &httpwire.Config{Host: host, Port: port, Timeout: limit}, Path: "/write", Explain: explain}.Open(t.Context())
		return writer(t, to, err)
	})
}

// TestWrite checks that the server receives the rows unchanged, compressed or not, and that the receipt
// counts the rows and the uncompressed bytes.
func TestWrite(t *testing.T) {
	for _, compress := range []lineproto.Compression{lineproto.Uncompressed, lineproto.Gzip, lineproto.Snappy} {
		var got []string
		host, port := stub.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Content-Encoding") != string(compress) {
				t.Errorf("its encoding is %q, want %q", r.Header.Get("Content-Encoding"), compress)
			}
			text, err := unpack(r.Body, compress)
			if err != nil {
				t.Error(err)
			}
			got = append(got, r.URL.RequestURI()+" "+string(text))
			w.WriteHeader(http.StatusNoContent)
		})
		to, err := lineproto.Endpoint{
			Wire: &httpwire.Config{Host: host, Port: port, Timeout: time.Minute}, Path: "/write", Parameters: map[string][]string{"db": {"x y"}}, Compress: compress, Explain: explain,
		}.Open(t.Context())
		w, b := writer(t, to, err)
		before := time.Now()
		receipt, err := w.Write(t.Context(), b)
		if err != nil || receipt.Rows != 5 || receipt.Sent.Before(before) || receipt.Acked.Before(receipt.Sent) {
			t.Fatalf("%+v, %v", receipt, err)
		}
		if text := strings.TrimPrefix(got[0], "/write?db=x+y "); int64(len(text)) != receipt.WireBytes || strings.Count(text, "\n") != 5 {
			t.Errorf("%d bytes: %q", receipt.WireBytes, got[0])
		}
		if receipt, err := w.WriteLines(t.Context(), [][]byte{[]byte("a b"), []byte("=1 2\n")}, 1); err != nil || receipt.Rows != 1 || receipt.WireBytes != 8 || got[1] != "/write?db=x+y a b=1 2\n" {
			t.Errorf("%+v, %q, %v", receipt, got, err)
		}
		if receipt, err := w.WriteLines(t.Context(), nil, 0); err != nil || receipt != (driver.Receipt{}) || len(got) != 2 {
			t.Errorf("no rows: %+v, %d requests, %v", receipt, len(got), err)
		}
		if w.SentRows() != 0 {
			t.Errorf("%d rows are not acknowledged", w.SentRows())
		}
	}
}

// unpack decompresses data.
func unpack(from io.Reader, encoding lineproto.Compression) ([]byte, error) {
	switch encoding {
	case lineproto.Gzip:
		r, err := gzip.NewReader(from)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	text, err := io.ReadAll(from)
	if err == nil && encoding == lineproto.Snappy {
		return snappy.Decode(nil, text)
	}
	return text, err
}

// A batch of a table that the database was not prepared for is not sent.
func TestUnpreparedTable(t *testing.T) {
	host, port := stub.Nobody(t)
	to, err := lineproto.Endpoint{Wire: &httpwire.Config{Host: host, Port: port, Timeout: time.Minute}}.Open(t.Context())
	w, b := writer(t, to, err)
	b.Runs[0].Table = conformance.Table("usage")
	_, err = w.Write(t.Context(), b)
	stub.Says(t, err, "table cpu is not of the schema")
}

// dial connects to a server of TCP.
func dial(t *testing.T, timeout time.Duration, serve func(net.Conn)) (loading, *series.Batch) {
	t.Helper()
	host, port := stub.TCP(t, serve)
	to, err := lineproto.DialTCP(t.Context(), &httpwire.Config{Host: host, Timeout: timeout}, port)
	return writer(t, to, err)
}

// TestTCPBrokenOff checks that a TCP connection that the server closes early is an error, when it is
// closed at the latest.
func TestTCPBrokenOff(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"reset":  func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); _ = c.(*net.TCPConn).SetLinger(0); c.Close() },
		"silent": func(net.Conn) { <-t.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			w, batch := dial(t, 500*time.Millisecond, serve)
			var failed error
			for range 200_000 { // more than the buffers between take
				if _, failed = w.Write(t.Context(), batch); failed != nil {
					break
				}
			}
			stub.Says(t, failed, "writing to Stub", "cannot be reached")
			if driver.AsTemporary(failed) == nil {
				t.Errorf("%v is not temporary", failed)
			}
			conformance.Close(t, w)
		})
	}
	reset := make(chan struct{})
	w, batch := dial(t, time.Minute, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
		close(reset)
	})
	write(t, w, batch)
	<-reset
	stub.Says(t, w.Close(), "closing a connection to Stub", "its log says why")
}

// write writes a batch, the last one.
func write(t *testing.T, w driver.Writer, batch *series.Batch) {
	t.Helper()
	if _, err := w.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Closing waits for a server that reads slowly, no longer than the timeout, and not where
// the load was given up.
func TestTCPReadsLate(t *testing.T) {
	const late = 200 * time.Millisecond
	closing := make(chan struct{})
	reads := func(c net.Conn) {
		select {
		case <-closing:
		case <-t.Context().Done():
		}
		time.Sleep(late)
		_, _ = io.Copy(io.Discard, c)
	}
	never := func(net.Conn) { <-t.Context().Done() }

	w, batch := dial(t, time.Minute, reads)
	write(t, w, batch)
	begin := time.Now()
	close(closing)
	conformance.Close(t, w)
	if waited := time.Since(begin); waited < late {
		t.Errorf("closed after %v, before the server had read anything", waited)
	}

	w, batch = dial(t, late, never)
	write(t, w, batch)
	stub.Says(t, w.Close(), "closing a connection to Stub", "did not read all within 200ms")

	w, batch = dial(t, time.Minute, never)
	if _, err := w.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	begin = time.Now()
	conformance.Close(t, w)
	if waited := time.Since(begin); waited > 10*time.Second {
		t.Errorf("a load that was given up waits %v for the server", waited)
	}
}

// TestTCPReceipt checks that a receipt has no time of acknowledgement if the protocol has no
// acknowledgements, and that rows are counted.
func TestTCPReceipt(t *testing.T) {
	got := make(chan string, 1)
	w, batch := dial(t, time.Minute, func(c net.Conn) {
		text, _ := io.ReadAll(c)
		got <- string(text)
	})
	receipt, err := w.Write(t.Context(), batch)
	if err != nil || !receipt.Acked.IsZero() || receipt.Sent.IsZero() || receipt.Rows != 5 || w.SentRows() != 5 {
		t.Errorf("%+v, %v, %d sent", receipt, err, w.SentRows())
	}
	conformance.Close(t, w)
	if text := <-got; int64(len(text)) != receipt.WireBytes || strings.Count(text, "\n") != 5 {
		t.Errorf("%d bytes: %q", receipt.WireBytes, text)
	}
}

// What a server says of a line is an error, at the latest when the connection is closed.
func TestTCPRefused(t *testing.T) {
	refuse := func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		_, _ = io.WriteString(c, "put: no\nput: further\n")
		_, _ = io.Copy(io.Discard, c)
	}
	w, batch := dial(t, time.Minute, refuse)
	write(t, w, batch)
	stub.Says(t, w.Close(), "closing a connection to Stub", "it refused the rows: put: no")
	w, batch = dial(t, time.Minute, refuse)
	var failed error
	for range 200_000 {
		if _, failed = w.Write(t.Context(), batch); failed != nil {
			break
		}
	}
	stub.Says(t, failed, "writing to Stub", "it refused the rows: put: no")
}

// TestTCPContext checks that the context ends a write in progress, and that its error needs no secret
// or host.
func TestTCPContext(t *testing.T) {
	w, batch := dial(t, time.Minute, func(net.Conn) { <-t.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var failed error
	for range 200_000 {
		if _, failed = w.Write(ctx, batch); failed != nil {
			break
		}
	}
	if !errors.Is(failed, context.DeadlineExceeded) {
		t.Error(failed)
	}
}

func TestNobodyListens(t *testing.T) {
	host, port := stub.Nobody(t)
	_, err := lineproto.DialTCP(t.Context(), &httpwire.Config{Host: host, Timeout: time.Minute}, port)
	stub.Says(t, err, "start the server")
	if !errors.Is(err, driver.ErrUnreachable) {
		t.Error(err)
	}
}
