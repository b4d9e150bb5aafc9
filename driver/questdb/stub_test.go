package questdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/series"
)

// stub is a server that answers by the function, and the options that lead to
// it.
func stub(t *testing.T, answer http.HandlerFunc) map[string]string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	host, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{connection.Host: host, connection.Port: port, optionRead: readREST}
}

// settingsOf resolves options.
func settingsOf(t *testing.T, given map[string]string) *settings {
	t.Helper()
	kind := Kind()
	options, err := kind.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSettings(options, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dataset is what the stub's server was prepared for.
func dataset(t *testing.T, s *settings) (*database, *series.Batch) {
	t.Helper()
	table := conformance.Table("usage")
	l, err := newLayout(&series.Schema{Tables: []*series.Table{table}, Series: 3}, &s.tables)
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	conformance.Fill(b.Add(table), 5, 0, 3)
	return &database{settings: s, admin: newExec(s), layout: l}, &b
}

// one says what an error must say and must not.
func one(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %q has several lines, or a secret", err)
	}
}

func TestOpenFails(t *testing.T) {
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, free, _ := net.SplitHostPort(refused.Addr().String())
	refused.Close()
	for name, test := range map[string]struct {
		options     map[string]string
		says        string
		unreachable bool
	}{
		"nobody listens": {map[string]string{connection.Port: free}, "start the server, or give the right host and port", true},
		"wrong password": {
			with(stub(t, func(w http.ResponseWriter, r *http.Request) {
				if user, password, _ := r.BasicAuth(); user != "joe" || password != "s3cret" {
					t.Errorf("user %q, password %q", user, password)
				}
				w.WriteHeader(http.StatusUnauthorized)
			}), connection.User, "joe", connection.Password, "s3cret"),
			"it does not take these credentials; give the options user and password, or token", false,
		},
		"a token": {
			with(stub(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer s3cret" {
					t.Errorf("authorization %q", got)
				}
				w.WriteHeader(http.StatusForbidden)
			}), optionToken, "s3cret"),
			"credentials", false,
		},
		"another server": {
			stub(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }),
			"is this QuestDB's HTTP port", false,
		},
		"another database": {
			stub(t, func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `{"columns":[{"name":"x","type":"STRING"}],"dataset":[["MyDB 1"]],"count":1}`)
			}),
			"what answers there is not QuestDB", true,
		},
		"a page": {
			stub(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }),
			"invalid character", false,
		},
		"a redirect": {
			with(stub(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
			}), connection.User, "joe", connection.Password, "s3cret"),
			"Found", false,
		},
		"silence": {
			with(stub(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), connection.Timeout, "20ms"),
			"it accepted the connection and did not answer within 20ms", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			kind := Kind()
			options, err := kind.Resolve(test.options)
			if err != nil {
				t.Fatal(err)
			}
			_, err = open(t.Context(), driver.Env{}, options)
			one(t, err, test.says)
			if errors.Is(err, driver.ErrUnreachable) != test.unreachable {
				t.Errorf("error %v: unreachable %v, want %v", err, !test.unreachable, test.unreachable)
			}
		})
	}
}

// A certificate that nobody vouches for is taken only where that was asked for.
func TestCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"columns":[{"type":"STRING"}],"dataset":[["QuestDB 9"]],"count":1}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	kind := Kind()
	for mode, want := range map[string]string{connection.On: "its TLS certificate is not to be trusted", connection.Insecure: ""} {
		options, err := kind.Resolve(map[string]string{connection.Port: port, connection.TLS: mode})
		if err != nil {
			t.Fatal(err)
		}
		db, err := open(t.Context(), driver.Env{}, options)
		if want == "" && err == nil {
			conformance.Close(t, db)
			continue
		}
		one(t, err, want)
	}
}

// A question that is given up ends with its context, whatever the server does.
func TestContextEndsAQuestion(t *testing.T) {
	s := settingsOf(t, stub(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"columns":[{"type":"LONG"}],"dataset":[[1]`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := newExec(s).Do(ctx, driver.Request{Text: "SELECT 1"}, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// endless answers 200, and then stands still or cuts the connection.
func endless(still bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusOK)
		fmt.Fprint(w, " ")
		w.(http.Flusher).Flush()
		if !still {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	}
}

func TestWriteFails(t *testing.T) {
	status := func(code int, header, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		says   []string
		want   *driver.Temporary
	}{
		"a bad line": {
			status(400, "", `{"code":"invalid","message":"failed to parse line protocol:errors encountered on line(s):\nerror in line 2: table: cpu, column: usage; cast error from protocol type: INTEGER to column type: SYMBOL\nerror in line 3: x","line":2,"errorId":"a-1"}`),
			[]string{`line 2 of the batch, "cpu,hostname=host_1,region=eu usage=1i 1000": table: cpu, column: usage; cast error from protocol type: INTEGER to column type: SYMBOL`}, nil,
		},
		"busy":      {status(429, "7", "too many"), []string{"429", "too many"}, &driver.Temporary{After: 7 * time.Second, Refused: true}},
		"restarts":  {status(503, "", ""), []string{"503", "gave no reason"}, &driver.Temporary{Refused: true}},
		"a proxy's": {status(502, "", "<html>\nbad\n</html>"), []string{"<html> bad </html>"}, &driver.Temporary{}},
		"credentials": {
			status(401, "", "s3cret"), []string{"does not take these credentials"}, nil,
		},
		"cut off": {
			func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
			[]string{"cannot be reached", "EOF"}, &driver.Temporary{},
		},
		"silence": {
			func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client is gone
				<-r.Context().Done()
			},
			[]string{"did not answer within 50ms"}, &driver.Temporary{},
		},
		"silence after its status": {endless(true), []string{"acknowledged a batch and did not end its answer"}, &driver.Temporary{}},
		"cut off after its status": {endless(false), []string{"acknowledged a batch and did not end its answer"}, &driver.Temporary{}},
	} {
		t.Run(name, func(t *testing.T) {
			d, batch := dataset(t, settingsOf(t, with(stub(t, test.answer), connection.Timeout, "50ms", connection.User, "joe", connection.Password, "s3cret")))
			w := conformance.Writer(t, d)
			defer conformance.Close(t, w)
			receipt, err := w.Write(t.Context(), batch)
			one(t, err, test.says...)
			got := driver.AsTemporary(err)
			if (got == nil) != (test.want == nil) || got != nil && (got.After != test.want.After || got.Refused != test.want.Refused) {
				t.Errorf("temporary %+v, want %+v", got, test.want)
			}
			if receipt != (driver.Receipt{}) {
				t.Errorf("receipt %+v", receipt)
			}
		})
	}
}

// settling is a server whose answers about logs come one after the other.
func settling(t *testing.T, logs ...string) *database {
	t.Helper()
	asked := 0
	options := stub(t, func(w http.ResponseWriter, r *http.Request) {
		text := r.FormValue("query")
		switch {
		case strings.Contains(text, "wal_tables"):
			fmt.Fprint(w, logs[min(asked, len(logs)-1)])
			asked++
		case strings.Contains(text, "tables()"):
			fmt.Fprint(w, `{"columns":[{"type":"STRING"},{"type":"INT"}],"dataset":[["cpu",1],["tsmark_mark",2]],"count":2}`)
		default:
			fmt.Fprint(w, `{"columns":[{"type":"VARCHAR"}],"dataset":[["{\"tables\":[\"cpu\"]}"]],"count":1}`)
		}
	})
	options[connection.Timeout] = "2s"
	s := settingsOf(t, options)
	return &database{settings: s, admin: newExec(s)}
}

func TestSettle(t *testing.T) {
	answer := func(row string) string {
		return `{"columns":[{"type":"STRING"},{"type":"BOOLEAN"},{"type":"LONG"},{"type":"LONG"},{"type":"STRING"},{"type":"STRING"}],"dataset":[` + row + `],"count":1}`
	}
	behind, applied := answer(`["cpu",false,4,7,"",""]`), answer(`["cpu",false,7,7,"",""]`)
	if err := settling(t, behind, behind, applied).Settle(t.Context()); err != nil {
		t.Error(err)
	}
	err := settling(t, behind, answer(`["cpu",true,4,7,"DISK FULL","no\nspace"]`)).Settle(t.Context())
	one(t, err, "QuestDB has suspended table cpu: DISK FULL no space; mend that and resume it by ALTER TABLE cpu RESUME WAL")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := settling(t, behind).Settle(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	never := settling(t, behind)
	never.settings.timeout = 20 * time.Millisecond
	patient, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	one(t, never.Settle(patient), "has applied nothing of its write-ahead log for 100ms: table cpu stands at transaction 4 of 7")
}

// Over TCP a connection that the server broke off is an error, at the latest
// when it is closed.
func TestTCPBrokenOff(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"reset":  func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); _ = c.(*net.TCPConn).SetLinger(0); c.Close() },
		"silent": func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				for {
					c, err := listener.Accept()
					if err != nil {
						return
					}
					serve(c)
				}
			}()
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			s := settingsOf(t, map[string]string{optionProtocol: protocolTCP, optionILPPort: port, connection.Timeout: "50ms"})
			d, batch := dataset(t, s)
			w := conformance.Writer(t, d)
			var failed error
			for range 200_000 { // more than the buffers between take
				if _, failed = w.Write(t.Context(), batch); failed != nil {
					break
				}
			}
			one(t, failed, "writing to QuestDB", "cannot be reached")
			if driver.AsTemporary(failed) == nil {
				t.Errorf("%v is not temporary", failed)
			}
			conformance.Close(t, w)
		})
	}
}

// An acknowledgement is none where the protocol has none, and rows are counted.
func TestTCPReceipt(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	got := make(chan string)
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		var text strings.Builder
		buffer := make([]byte, 1000)
		for {
			n, err := c.Read(buffer)
			text.Write(buffer[:n])
			if err != nil {
				got <- text.String()
				return
			}
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	d, batch := dataset(t, settingsOf(t, map[string]string{optionProtocol: protocolTCP, optionILPPort: port}))
	w := conformance.Writer(t, d)
	receipt, err := w.Write(t.Context(), batch)
	if err != nil || !receipt.Acked.IsZero() || receipt.Sent.IsZero() || receipt.Rows != 5 || d.sent.Load() != 5 {
		t.Errorf("%+v, %v, %d sent", receipt, err, d.sent.Load())
	}
	go conformance.Close(t, w)
	if text := <-got; int64(len(text)) != receipt.WireBytes || strings.Count(text, "\n") != 5 {
		t.Errorf("%d bytes: %q", receipt.WireBytes, text)
	}
}
