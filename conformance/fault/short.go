package fault

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// shortener is a proxy that shortens answers and ends them properly: HTTP bodies have a matching
// length, and PostgreSQL's protocol goes on after the last row. Connections that speak anything
// else, such as WebSocket, pass unchanged.
type shortener struct {
	listener net.Listener
	to       string
	web      *http.Server
	requests chan net.Conn // connections that speak HTTP
	done     chan struct{} // closed with the proxy
	*shortening
}

// shortening is the state that the shorteners of a server share.
type shortening struct {
	percent atomic.Int64 // of the body of an HTTP answer that is passed on; 100: all
	rows    atomic.Int64 // of a PostgreSQL answer that are passed on; below 0: all
	cut     atomic.Bool  // something was not passed on
}

// shorten puts a proxy before each port of the server, and returns the options that lead
// through them.
func (f *faults) shorten(s *shortening) (options map[string]string, end func(), err error) {
	options = make(map[string]string)
	var proxies []*shortener
	end = func() {
		for _, p := range proxies {
			close(p.done)
			_ = p.listener.Close()
			_ = p.web.Close()
		}
	}
	for option, distance := range f.ports() {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			end()
			return nil, nil, err
		}
		p := &shortener{listener: listener, to: f.address(distance), requests: make(chan net.Conn), done: make(chan struct{}), shortening: s}
		p.web = &http.Server{Handler: &httputil.ReverseProxy{
			Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: p.to}) },
			Transport:      &http.Transport{DisableCompression: true},
			ModifyResponse: p.shortenBody,
		}}
		proxies = append(proxies, p)
		options[option] = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
		go func() { _ = p.web.Serve(&handedOver{listener, p}) }()
		go p.serve()
	}
	return options, end, nil
}

// handedOver gives an HTTP server the connections that speak HTTP.
type handedOver struct {
	net.Listener
	from *shortener
}

// Accept implements net.Listener.
func (h *handedOver) Accept() (net.Conn, error) {
	select {
	case c := <-h.from.requests:
		return c, nil
	case <-h.from.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. The shortener closes the listener itself.
func (h *handedOver) Close() error { return nil }

func (p *shortener) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.take(&peekedConn{client, bufio.NewReader(client)})
	}
}

// silence is the time after which a silent client is taken to wait for the server's first message.
const silence = 200 * time.Millisecond

// take forwards a connection by its protocol, which its first bytes show.
func (p *shortener) take(client *peekedConn) {
	_ = client.SetReadDeadline(time.Now().Add(silence))
	begin, _ := client.from.Peek(8)
	_ = client.SetReadDeadline(time.Time{})
	if !isHTTP(begin) {
		p.pass(client, isPostgres(begin))
		return
	}
	select {
	case p.requests <- client:
	case <-p.done:
		_ = client.Close()
	}
}

// isHTTP reports whether a connection that begins so speaks HTTP/1.
func isHTTP(begin []byte) bool {
	method, _, _ := strings.Cut(string(begin), " ")
	return slices.Contains([]string{"GET", "POST", "PUT", "DELETE", "HEAD"}, method)
}

// The codes of PostgreSQL's first messages.
const (
	protocol3  = 3 << 16
	sslRequest = 80877103
)

// isPostgres reports whether a connection that begins so speaks PostgreSQL's protocol.
func isPostgres(begin []byte) bool {
	return len(begin) == 8 && slices.Contains([]uint32{protocol3, sslRequest}, binary.BigEndian.Uint32(begin[4:]))
}

// peekedConn is a connection whose first bytes were looked at.
type peekedConn struct {
	net.Conn
	from *bufio.Reader
}

func (c *peekedConn) Read(b []byte) (int, error) { return c.from.Read(b) }

// shortenBody shortens the body of an HTTP answer. The connection of a WebSocket passes unchanged: its
// frames are not a body.
func (p *shortener) shortenBody(r *http.Response) error {
	if r.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_ = r.Body.Close() // it was read to its end
	if percent := p.percent.Load(); percent < 100 {
		body = body[:int64(len(body))*percent/100]
		p.cut.Store(true)
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// pass forwards the messages of a client and the server, without some of the rows if they use
// PostgreSQL's protocol.
func (p *shortener) pass(client *peekedConn, postgres bool) {
	defer client.Close()
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	if postgres {
		if err := answerSSLRequest(client); err != nil {
			return
		}
	}
	go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
	if !postgres {
		_, _ = io.Copy(client, server)
		return
	}
	_ = p.passMessages(client, bufio.NewReader(server)) // the client notices that the connection has ended
}

// answerSSLRequest refuses TLS to a client that requests it, so that all further messages have the
// same form.
func answerSSLRequest(client *peekedConn) error {
	begin, err := client.from.Peek(8)
	if err != nil || binary.BigEndian.Uint32(begin[4:]) != sslRequest {
		return err
	}
	if _, err := client.from.Discard(8); err != nil {
		return err
	}
	_, err = client.Write([]byte{'N'})
	return err
}

// passMessages passes on the server's messages. Each has a type, a length and a body.
func (p *shortener) passMessages(client io.Writer, server *bufio.Reader) error {
	for {
		head, err := server.Peek(5)
		if err != nil {
			return err
		}
		size := 1 + int64(binary.BigEndian.Uint32(head[1:]))
		to := client
		if head[0] == 'D' && p.rows.Load() >= 0 && p.rows.Add(-1) < 0 {
			p.rows.Store(0)
			p.cut.Store(true)
			to = io.Discard
		}
		if _, err := io.CopyN(to, server, size); err != nil {
			return err
		}
	}
}

// cutShort: an answer that ends early, and ends properly, has fewer rows or is an error. It is never
// taken for the whole answer, whether rows are read or only counted.
func (f *faults) cutShort(ctx context.Context, r driver.Request, whole int64) error {
	s := new(shortening)
	s.percent.Store(100)
	s.rows.Store(-1)
	through, end, err := f.shorten(s)
	if err != nil {
		return err
	}
	defer end()
	db, err := f.open(ctx, through)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, share := range []int64{0, 50, 95} {
		for _, sink := range []*rowsOnly{nil, new(rowsOnly)} {
			if err := f.readShort(ctx, db, r, s, sink, share, whole); err != nil {
				return err
			}
		}
	}
	if !s.cut.Load() {
		f.log("n/a: only answers of HTTP and PostgreSQL's protocol can be shortened")
	}
	return nil
}

// readShort runs a query whose answer is shortened to a share, in percent.
func (f *faults) readShort(ctx context.Context, db driver.DB, r driver.Request, s *shortening, sink *rowsOnly, share, whole int64) error {
	q, err := db.NewQuerier(ctx, 0)
	if err != nil {
		return err
	}
	defer q.Close()
	if cost, err := q.Do(ctx, r, nil); err != nil || cost.Rows != whole { // the first query may prepare a statement
		return errors.Join(fmt.Errorf("%d rows, %d before", cost.Rows, whole), err)
	}
	s.percent.Store(share)
	s.rows.Store(whole * share / 100)
	var rows int64
	if sink == nil {
		cost, doErr := q.Do(ctx, r, nil)
		rows, err = cost.Rows, doErr
	} else {
		_, err = q.Do(ctx, r, sink)
		rows = int64(*sink)
	}
	s.percent.Store(100)
	s.rows.Store(-1)
	switch {
	case err != nil:
		return f.clear(err, nil)
	case s.cut.Load() && rows >= whole:
		return fmt.Errorf("an answer of %d rows ended after %d %% of it, and was taken for %d rows", whole, share, rows)
	}
	return nil
}
