package lineproto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// Endpoint is where lines are posted.
type Endpoint struct {
	Wire       *httpwire.Config
	Path       string // /write
	Parameters url.Values
	Header     http.Header // in addition to the credentials; nil: the headers for lines
	Compress   Compression
	// Explain converts a response with an unsuccessful status to an error: a *BadLine if the server
	// names a line, a driver.Temporary if the same lines may be sent again and httpwire.WriteError does
	// not derive that from the status.
	Explain func(status int, body []byte) error
	// Stored returns the error in a successful response to a text that says that lines were not stored; nil:
	// such responses say nothing.
	Stored func(text [][]byte, header http.Header, body []byte) error
}

// BadLine is the error for a line that the server refuses.
type BadLine struct {
	Number int // of the line in the request, from 1
	Err    error
}

// Error implements error.
func (b *BadLine) Error() string { return b.Err.Error() }

// Unwrap returns the server's error.
func (b *BadLine) Unwrap() error { return b.Err }

// Open returns a sender, which connects when it sends.
func (e Endpoint) Open(context.Context) (Sender, error) {
	s := &httpSender{Endpoint: e, client: httpwire.New(e.Wire), header: e.Header.Clone()}
	if s.header == nil {
		s.header = http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	}
	if e.Compress != Uncompressed {
		s.header.Set("Content-Encoding", string(e.Compress))
	}
	var err error
	s.compress, err = e.Compress.compressor()
	return s, err
}

// httpSender posts lines.
type httpSender struct {
	Endpoint
	client   *httpwire.Client
	header   http.Header
	compress compressor
	said     bytes.Buffer // the last successful response
}

// Send implements Sender.
func (s *httpSender) Send(ctx context.Context, text [][]byte) (driver.Receipt, error) {
	body, err := s.compress(text)
	if err != nil {
		return driver.Receipt{}, err
	}
	ctx, cancel := s.client.WithTimeout(ctx)
	defer cancel()
	response, sent, err := s.client.Post(ctx, s.Path, s.Parameters, s.header, body)
	if err != nil {
		return driver.Receipt{}, err
	}
	defer response.Body.Close()
	if response.StatusCode/100 == 2 {
		s.said.Reset()
		err := s.client.DrainTo(ctx, response, &s.said)
		acked := time.Now()
		if err == nil && s.Stored != nil {
			err = s.Stored(text, response.Header, s.said.Bytes())
		}
		return driver.Receipt{Sent: sent, Acked: acked}, err
	}
	err = httpwire.ResponseError(response, s.Explain)
	if bad := (*BadLine)(nil); errors.As(err, &bad) {
		err = fmt.Errorf("line %d of the batch, %q: %w", bad.Number, lineOf(text, bad.Number), err)
	}
	return driver.Receipt{}, httpwire.WriteError(response, err)
}

// Close implements Sender.
func (s *httpSender) Close() error {
	s.Abandon()
	return nil
}

// Abandon implements Sender.
func (s *httpSender) Abandon() { s.client.Close() }

// lineOf returns the beginning of a line of the text. Lines are counted from 1.
func lineOf(text [][]byte, number int) string {
	const shown = 120
	var line []byte
	rest := bytes.Join(text, nil)
	for ; number > 0 && len(rest) > 0; number-- {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	switch {
	case number > 0: // the text has fewer lines
		return ""
	case len(line) <= shown:
		return string(line)
	}
	return strings.ToValidUTF8(string(line[:shown]), "") + "…"
}
