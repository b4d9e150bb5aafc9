package httpwire_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// client is one of a stub that answers by the function.
func client(t *testing.T, timeout time.Duration, answer http.HandlerFunc) *httpwire.Client {
	t.Helper()
	host, port := stub.HTTP(t, answer)
	c := httpwire.New(&httpwire.Config{Host: host, Port: port, Timeout: timeout, Authorize: func(r *http.Request) { r.SetBasicAuth("joe", stub.Secret) }})
	t.Cleanup(c.Close)
	return c
}

// A body arrives as it was given, on one connection, and is the caller's again.
func TestPost(t *testing.T) {
	var got []string
	connections := map[string]bool{}
	c := client(t, time.Minute, func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if user, password, _ := r.BasicAuth(); err != nil || user != "joe" || password != stub.Secret || r.ContentLength != int64(len(body)) {
			t.Errorf("%v, user %s, %d bytes announced, %d came", err, user, r.ContentLength, len(body))
		}
		got = append(got, r.URL.RequestURI()+" "+r.Header.Get("X")+" "+string(body))
		connections[r.RemoteAddr] = true
	})
	text := [][]byte{[]byte("a"), nil, []byte("bc")}
	for range 2 {
		before := time.Now()
		response, sent, err := c.Post(t.Context(), "/write", map[string][]string{"db": {"x y"}}, http.Header{"X": {"1"}}, text)
		if err != nil || sent.Before(before) || sent.After(time.Now()) {
			t.Fatal(sent, err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		text[0][0]++
	}
	if want := "/write?db=x+y 1 abc|/write?db=x+y 1 bbc"; strings.Join(got, "|") != want || len(connections) != 1 {
		t.Errorf("%q by %d connections", got, len(connections))
	}
}

func TestFailures(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx       context.Context
		answer    http.HandlerFunc
		says      string
		temporary bool
	}{
		"silence":  {t.Context(), stub.Silent, "cannot be reached: it accepted the connection and did not answer within 30ms", true},
		"cut off":  {t.Context(), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached: EOF; start the server", true},
		"given up": {ended, stub.Silent, "context canceled", false},
		"elsewhere": {t.Context(), func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			timeout := time.Minute
			if name == "silence" {
				timeout = 30 * time.Millisecond
			}
			c := client(t, timeout, test.answer)
			ctx, cancel := c.WithTimeout(test.ctx)
			defer cancel()
			response, _, err := c.Post(ctx, "/write", nil, nil, [][]byte{[]byte(stub.Secret)})
			if test.says == "" {
				if err != nil || response.StatusCode != http.StatusFound {
					t.Fatal(err) // else credentials would follow
				}
				response.Body.Close()
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), stub.Secret) {
				t.Errorf("error %v", err)
			}
			if got := driver.AsTemporary(err) != nil; got != test.temporary || got != errors.Is(err, driver.ErrUnreachable) {
				t.Errorf("temporary %v, error %v", got, err)
			}
		})
	}
}

// Where nobody listens the error has the address once, and nothing was stored.
func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	host, port, _ := net.SplitHostPort(address)
	c := httpwire.New(&httpwire.Config{Host: host, Port: port, Timeout: time.Minute})
	defer c.Close()
	_, _, err = c.Post(t.Context(), "/write", nil, nil, nil)
	want := address + " cannot be reached: connect: connection refused; start the server, or give the right host and port"
	var temporary *driver.Temporary
	if !errors.As(err, &temporary) || err.Error() != want || !temporary.Refused {
		t.Errorf("%v (temporary %+v)\nwant %s", err, temporary, want)
	}
}

func TestNewConfigTLS(t *testing.T) {
	for _, test := range []struct {
		mode, host   string
		on, insecure bool
	}{
		{"", "localhost", false, false}, {"", "127.0.0.9", false, false}, {"", "::1", false, false}, {"", "db.example", true, false},
		{"on", "localhost", true, false}, {"off", "db.example", false, false}, {"insecure", "db.example", true, true},
	} {
		config, err := httpwire.NewConfig(connection.Settings{Host: test.host, TLS: test.mode}, "")
		if err != nil {
			t.Fatal(err)
		}
		c := config.TLS
		if (c != nil) != test.on || c != nil && (c.InsecureSkipVerify != test.insecure || c.ServerName != test.host) {
			t.Errorf("%+v: %+v", test, c)
		}
	}
}

func TestNewConfigCredentials(t *testing.T) {
	for _, test := range []struct{ user, password, token, want string }{
		{"", "", "", ""}, {"joe", "p", "", "Basic am9lOnA="}, {"joe", "", "", "Basic am9lOg=="}, {"", "", "t", "Bearer t"},
		{"", "p", "", "give the option user as well"}, {"joe", "p", "t", "give either a token or a user"},
	} {
		config, err := httpwire.NewConfig(connection.Settings{User: test.user, Password: test.password}, test.token)
		if err != nil {
			stub.Says(t, err, test.want)
			continue
		}
		r := &http.Request{Header: http.Header{}}
		if config.Authorize != nil {
			config.Authorize(r)
		}
		if got := r.Header.Get("Authorization"); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\n b\t": "a b", " ": "it gave no reason", strings.Repeat("é", 300): strings.Repeat("é", 300),
		"reason " + strings.Repeat("query ", 1000) + "advice": ("reason " + strings.Repeat("query ", 400))[:2048] + "…" + (strings.Repeat("query ", 400) + "advice")[2400+6-2048:],
		"a" + strings.Repeat("é", 3000) + "advice":            "a" + strings.Repeat("é", 1023) + "…" + strings.Repeat("é", 1021) + "advice",
	} {
		if got := httpwire.OneLine(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
