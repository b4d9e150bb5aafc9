package questdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/series"
)

// serve returns the options that lead to a server that answers by the function.
func serve(t *testing.T, answer http.HandlerFunc) map[string]string {
	t.Helper()
	host, port := stub.HTTP(t, answer)
	return map[string]string{connection.Host: host, connection.Port: port, optionRead: readREST}
}

// settingsOf resolves options.
func settingsOf(t *testing.T, set map[string]string) *settings {
	t.Helper()
	d := Driver()
	options, err := d.Resolve(set)
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
	var b series.Batch
	conformance.Fill(b.Add(table), 5, 0, 3)
	d, schema := newDatabase(s), &series.Schema{Tables: []*series.Table{table}, Series: 3}
	d.Prepare(lines().New(schema), schema)
	return d, &b
}

func TestOpenFails(t *testing.T) {
	_, free := stub.Nobody(t)
	for name, test := range map[string]struct {
		options     map[string]string
		says        string
		unreachable bool
	}{
		"nobody listens": {map[string]string{connection.Port: free}, "start the server, or give the right host and port", true},
		"wrong password": {
			setOptions(serve(t, func(w http.ResponseWriter, r *http.Request) {
				if user, password, _ := r.BasicAuth(); user != "joe" || password != stub.Secret {
					t.Errorf("user %q, password %q", user, password)
				}
				w.WriteHeader(http.StatusUnauthorized)
			}), connection.User, "joe", connection.Password, stub.Secret),
			"it does not take these credentials; give the options user and password, or token", false,
		},
		"a token": {
			setOptions(serve(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer s3cret" {
					t.Errorf("authorization %q", got)
				}
				w.WriteHeader(http.StatusForbidden)
			}), optionToken, stub.Secret),
			"credentials", false,
		},
		"another server": {
			serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }),
			"is this QuestDB's HTTP port", false,
		},
		"another database": {
			serve(t, func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `{"columns":[{"name":"x","type":"STRING"}],"dataset":[["MyDB 1"]],"count":1}`)
			}),
			"what answers there is not QuestDB", true,
		},
		"a page": {
			serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }),
			"invalid character", false,
		},
		"a redirect": {
			setOptions(serve(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
			}), connection.User, "joe", connection.Password, stub.Secret),
			"Found", false,
		},
		"silence": {
			setOptions(serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), connection.Timeout, "20ms"),
			"it accepted the connection and did not answer within 20ms", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := Driver()
			options, err := d.Resolve(test.options)
			if err != nil {
				t.Fatal(err)
			}
			_, err = open(t.Context(), driver.Env{Create: true}, options)
			stub.Says(t, err, test.says)
			if errors.Is(err, driver.ErrUnreachable) != test.unreachable {
				t.Errorf("error %v: unreachable %v, want %v", err, !test.unreachable, test.unreachable)
			}
		})
	}
}

// TestCertificate checks that an untrusted certificate is accepted only if an option says so.
func TestCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"columns":[{"type":"STRING"}],"dataset":[["QuestDB 9"]],"count":1}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	d := Driver()
	for mode, want := range map[string]string{connection.On: "its TLS certificate is not to be trusted", connection.Insecure: ""} {
		options, err := d.Resolve(map[string]string{connection.Port: port, connection.TLS: mode})
		if err != nil {
			t.Fatal(err)
		}
		db, err := open(t.Context(), driver.Env{Create: true}, options)
		if want == "" && err == nil {
			conformance.Close(t, db)
			continue
		}
		stub.Says(t, err, want)
	}
}

// The parts of a size are what the server reports of partitions, and the rest; a server that does
// not report partitions has none.
func TestFootprintParts(t *testing.T) {
	for name, c := range map[string]struct {
		partitions string
		want       []int64
	}{
		"partitions": {`{"columns":[{"type":"BOOLEAN"},{"type":"LONG"},{"type":"LONG"}],"dataset":[[true,700,1],[false,200,3]],"count":2}`, []int64{700, 200, 100}},
		"none":       {`{"columns":[{"type":"BOOLEAN"},{"type":"LONG"},{"type":"LONG"}],"dataset":[],"count":0}`, nil},
		"grown":      {`{"columns":[{"type":"BOOLEAN"},{"type":"LONG"},{"type":"LONG"}],"dataset":[[true,1700,1]],"count":1}`, nil},
		"refused":    {`{"error":"unknown function name: table_partitions"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := dataset(t, settingsOf(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.FormValue("query"), "table_partitions") {
					fmt.Fprint(w, c.partitions)
					return
				}
				fmt.Fprint(w, `{"columns":[{"type":"LONG"}],"dataset":[[1000]],"count":1}`)
			})))
			size, err := d.Footprint(t.Context())
			if err != nil || size.Bytes != 1000 {
				t.Fatal(size, err)
			}
			var got []int64
			for _, p := range size.Parts {
				got = append(got, p.Bytes)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v, want %v", size.Parts, c.want)
			}
		})
	}
}

// A canceled query ends with its context, whatever the server does.
func TestContextEndsAQuery(t *testing.T) {
	s := settingsOf(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
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

func TestWriteFails(t *testing.T) {
	stub.WriteFails(t, map[string]stub.Write{
		"a bad line": {
			Answer: stub.Saying(400, "", `{"code":"invalid","message":"failed to parse line protocol:errors encountered on line(s):\nerror in line 2: table: cpu, column: usage; cast error from protocol type: INTEGER to column type: SYMBOL\nerror in line 3: x","line":2,"errorId":"a-1"}`),
			Says:   `line 2 of the batch, "cpu,hostname=host_1,region=eu usage=1i 1000": table: cpu, column: usage; cast error from protocol type: INTEGER to column type: SYMBOL`,
		},
		"credentials": {Answer: stub.Saying(401, "", stub.Secret), Says: "does not take these credentials"},
	}, func(t *testing.T, host, port, timeout string) (driver.Writer, *series.Batch) {
		d, batch := dataset(t, settingsOf(t, map[string]string{connection.Host: host, connection.Port: port, connection.Timeout: cmp.Or(timeout, "60s"), connection.User: "joe", connection.Password: stub.Secret}))
		return conformance.Writer(t, d.db()), batch
	})
}

// settling is a server whose answers about logs come one after the other.
func settling(t *testing.T, logs ...string) *database {
	t.Helper()
	looks := 0
	options := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text := r.FormValue("query")
		switch {
		case strings.Contains(text, "wal_tables"):
			fmt.Fprint(w, logs[min(looks, len(logs)-1)])
			looks++
		case strings.Contains(text, "tables()"):
			fmt.Fprint(w, `{"columns":[{"type":"STRING"},{"type":"INT"}],"dataset":[["cpu",1],["tsmark_mark",2]],"count":2}`)
		default:
			fmt.Fprint(w, `{"columns":[{"type":"VARCHAR"}],"dataset":[["{\"tables\":[\"cpu\"]}"]],"count":1}`)
		}
	})
	options[connection.Timeout] = "2s"
	s := settingsOf(t, options)
	return newDatabase(s)
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
	stub.Says(t, err, "QuestDB has suspended table cpu: DISK FULL no space; fix that and resume it by ALTER TABLE cpu RESUME WAL")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := settling(t, behind).Settle(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	never := settling(t, behind)
	never.settings.wire.Timeout = 20 * time.Millisecond
	patient, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	stub.Says(t, never.Settle(patient), "has applied nothing of its write-ahead log for 100ms: table cpu is at transaction 4 of 7")
}

// TestTCPReceipt checks that a receipt has no time of acknowledgement if the protocol has no
// acknowledgements, and that rows are counted.
func TestTCPReceipt(t *testing.T) {
	_, port := stub.TCP(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	d, batch := dataset(t, settingsOf(t, map[string]string{optionProtocol: protocolTCP, optionILPPort: port}))
	w := conformance.Writer(t, d.db())
	receipt, err := w.Write(t.Context(), batch)
	if err != nil || !receipt.Acked.IsZero() || receipt.Sent.IsZero() || receipt.Rows != 5 || d.SentRows() != 5 {
		t.Errorf("%+v, %v, %d sent", receipt, err, d.SentRows())
	}
	conformance.Close(t, w)
}
