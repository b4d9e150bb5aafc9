package live

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/internal/listen"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/report/live/page"
	"github.com/tsmark/tsmark/run/record"
)

const testToken = "a-token-of-tests-0123"

func start(t *testing.T, run *Run, o Options) *Server {
	t.Helper()
	s, err := Start(run, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// request is a request of a test.
type request struct {
	method, path, host, bearer, accept, form string
}

// send returns the answer without following redirects.
func send(t *testing.T, client *http.Client, base string, r request) (*http.Response, string) {
	t.Helper()
	if r.method == "" {
		r.method = http.MethodGet
	}
	var body io.Reader
	if r.form != "" {
		body = strings.NewReader(r.form)
	}
	req, err := http.NewRequestWithContext(t.Context(), r.method, strings.TrimSuffix(base, "/")+r.path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = r.host
	if r.form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if r.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+r.bearer)
	}
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func plainClient(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Without the token every request is refused.
func TestToken(t *testing.T) {
	run := NewRun()
	run.Begin(record.Beginning{ID: "secret-run"})
	s := start(t, run, Options{Address: "127.0.0.1:0", Token: testToken})
	client := plainClient(t)
	for name, r := range map[string]request{
		"none":            {path: "/"},
		"none, a browser": {path: "/", accept: "text/html"},
		"events":          {path: "/events"},
		"elsewhere":       {path: "/elsewhere"},
		"a wrong one":     {path: "/", bearer: testToken + "x"},
		"its beginning":   {path: "/", bearer: testToken[:len(testToken)-1]},
		"a wrong address": {path: "/?token=wrong", accept: "text/html"},
		"a wrong form":    {method: http.MethodPost, path: "/login", form: "token=wrong", accept: "text/html"},
		"an empty form":   {method: http.MethodPost, path: "/login", form: "x=y"},
		"a huge form":     {method: http.MethodPost, path: "/login", form: "token=" + strings.Repeat("x", 2*mostForm)},
		"another cookie":  {path: "/"},
	} {
		answer, text := send(t, client, s.URL, r)
		if answer.StatusCode != http.StatusUnauthorized || strings.Contains(text, "secret-run") || len(answer.Cookies()) > 0 {
			t.Errorf("%s: %s, %d cookies: %.300s", name, answer.Status, len(answer.Cookies()), text)
		}
		if form := strings.Contains(text, "<form"); form != (r.accept != "") {
			t.Errorf("%s: a form: %v", name, form)
		}
	}
	if answer, _ := send(t, client, s.URL, request{path: "/metrics"}); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("metrics: %s", answer.Status)
	}
	if answer, text := send(t, client, s.URL, request{path: "/", bearer: testToken}); answer.StatusCode != http.StatusOK || !strings.Contains(text, "secret-run") {
		t.Errorf("with the token: %s", answer.Status)
	}
}

// A browser gives the token once. It does not stay in the address, nor go into links.
func TestTokenBecomesCookie(t *testing.T) {
	s := start(t, NewRun(), Options{Address: "127.0.0.1:0", Token: testToken})
	for name, r := range map[string]request{
		"in the address":       {path: "/?token=" + testToken},
		"in another's address": {path: "//elsewhere.example/?token=" + testToken},
		"in the form":          {method: http.MethodPost, path: "/login", form: "token=" + url.QueryEscape(" "+testToken+"\n")},
	} {
		client := plainClient(t)
		answer, _ := send(t, client, s.URL, r)
		if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/" || answer.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %s to %q", name, answer.Status, answer.Header.Get("Location"))
			continue
		}
		cookies := answer.Cookies()
		if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || strings.Contains(cookies[0].String(), testToken) {
			t.Errorf("%s: cookies %v", name, cookies)
			continue
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		jar.SetCookies(at, cookies)
		client.Jar = jar
		if answer, _ := send(t, client, s.URL, request{path: "/"}); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: with the cookie %s", name, answer.Status)
		}
		cookies[0].Value = "x" + cookies[0].Value[1:]
		jar.SetCookies(at, cookies)
		if answer, _ := send(t, client, s.URL, request{path: "/"}); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: with another cookie %s", name, answer.Status)
		}
	}
}

// A name that was made to lead here reads nothing (DNS rebinding), and writing is impossible.
func TestHost(t *testing.T) {
	s := start(t, NewRun(), Options{Address: "127.0.0.1:0"})
	client := plainClient(t)
	for host, want := range map[string]int{
		"":                       http.StatusOK, // the address itself
		"localhost":              http.StatusOK,
		"LOCALHOST:9999":         http.StatusOK, // a tunnel's port
		"[::1]:80":               http.StatusOK,
		"127.0.0.1":              http.StatusOK,
		"attacker.example":       http.StatusMisdirectedRequest,
		"attacker.example:80":    http.StatusMisdirectedRequest,
		"localhost.attacker.net": http.StatusMisdirectedRequest,
		"127.0.0.1.nip.io":       http.StatusMisdirectedRequest,
		"10.1.2.3":               http.StatusMisdirectedRequest,
	} {
		for _, path := range []string{"/", "/nothing"} {
			expected := want
			if path == "/nothing" && want == http.StatusOK {
				expected = http.StatusNotFound
			}
			if answer, _ := send(t, client, s.URL, request{path: path, host: host}); answer.StatusCode != expected {
				t.Errorf("host %q, %s: %s", host, path, answer.Status)
			}
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		for _, path := range []string{"/", "/login", "/events"} {
			if answer, _ := send(t, client, s.URL, request{method: method, path: path}); answer.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %s", method, path, answer.Status)
			}
		}
	}
	a := newAccess(listen.Address{Host: "bench.example.org", Port: 80}, &Options{Token: testToken}, "80")
	for host, want := range map[string]bool{"bench.example.org": true, "Bench.Example.Org:80": true, "10.1.2.3:80": true, "other.example.org": false, "": false} {
		if got := a.knows(host); got != want {
			t.Errorf("bench.example.org knows %q: %v", host, got)
		}
	}
}

// Impossible options are refused in one line that says how to fix them.
func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"nothing":          {Options{}, ""},
		"loopback":         {Options{Address: "[::1]:9464"}, ""},
		"localhost":        {Options{Address: "localhost:0"}, ""},
		"all, with token":  {Options{Address: ":8080", Token: testToken}, ""},
		"all":              {Options{Address: ":8080"}, "(--token)"},
		"another machine":  {Options{Address: "10.0.0.1:9464"}, "(--token)"},
		"a name":           {Options{Address: "localhost.example.org:80"}, "(--token)"},
		"no port":          {Options{Address: "127.0.0.1"}, "is not an address; write HOST:PORT"},
		"a URL":            {Options{Address: "http://127.0.0.1:80"}, "is not an address; write HOST:PORT"},
		"a port too large": {Options{Address: "127.0.0.1:65536"}, "is not an address; write HOST:PORT"},
		"a short token":    {Options{Address: "127.0.0.1:0", Token: "short"}, "16 characters or more"},
		"a token for none": {Options{Token: testToken}, "a token needs an address"},
		"TLS for none":     {Options{Certificate: new(tls.Certificate)}, "a certificate needs an address"},
		"TLS, no token":    {Options{Address: ":8080", Certificate: new(tls.Certificate)}, "(--token)"},
	} {
		err := c.options.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && c.options.Token != "" && strings.Contains(err.Error(), c.options.Token) && c.options.Token == testToken {
			t.Errorf("%s: the token is in the error", name)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := Start(NewRun(), Options{Address: taken.Addr().String()}); err == nil || !strings.Contains(err.Error(), "choose another port") {
		t.Errorf("a port that is taken: %v", err)
	}
}

// Over TLS page, metrics and events are as without, and the cookie goes over TLS alone.
func TestTLS(t *testing.T) {
	certificate, key := stub.Certificate(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, NewRun(), Options{Address: "127.0.0.1:0", Token: testToken, Certificate: &pair})
	client := plainClient(t)
	trusted := x509.NewCertPool()
	trusted.AddCert(pair.Leaf)
	client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: trusted}
	if !strings.HasPrefix(s.URL, "https://127.0.0.1:") {
		t.Errorf("it is at %s", s.URL)
	}
	if answer, _ := send(t, client, s.URL, request{path: "/"}); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: status %d", answer.StatusCode)
	}
	answer, _ := send(t, client, s.URL, request{path: "/?token=" + testToken})
	if cookies := answer.Cookies(); answer.StatusCode != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].Secure {
		t.Errorf("with the token: status %d, cookies %v", answer.StatusCode, answer.Cookies())
	}
	if answer, text := send(t, client, "http://"+strings.TrimPrefix(s.URL, "https://"), request{path: "/", bearer: testToken}); answer.StatusCode == http.StatusOK || strings.Contains(text, "html") {
		t.Errorf("without TLS: status %d, %s", answer.StatusCode, text)
	}
	if answer, text := send(t, client, s.URL, request{path: "/", bearer: testToken}); answer.StatusCode != http.StatusOK || !strings.Contains(text, "<html") {
		t.Errorf("the page: status %d\n%s", answer.StatusCode, text)
	}
	if answer, text := send(t, client, s.URL, request{path: "/metrics", bearer: testToken}); answer.StatusCode != http.StatusOK || !strings.Contains(text, "tsmark_run_over") {
		t.Errorf("metrics: status %d\n%s", answer.StatusCode, text)
	}
}

// Without TLS, traffic to other machines is readable on the way.
func TestBare(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		want    bool
	}{
		"nothing":       {Options{}, false},
		"this machine":  {Options{Address: "[::1]:0", Token: testToken}, false},
		"all":           {Options{Address: ":0", Token: testToken}, true},
		"a machine":     {Options{Address: "10.0.0.1:0", Token: testToken}, true},
		"all, with TLS": {Options{Address: ":0", Token: testToken, Certificate: new(tls.Certificate)}, false},
	} {
		if got := c.options.Bare(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// state is the content of an event.
type state struct {
	Title, HTML string
	Over        bool
}

// events reads a stream.
type events struct {
	t    *testing.T
	body io.Closer
	in   *bufio.Scanner
}

func follow(t *testing.T, s *Server) *events {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := plainClient(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %s", answer.Status, answer.Header.Get("Content-Type"))
	}
	in := bufio.NewScanner(answer.Body)
	in.Buffer(nil, 16<<20)
	return &events{t, answer.Body, in}
}

// next returns the next event; ok is false at the end.
func (e *events) next() (now state, ok bool) {
	e.t.Helper()
	for e.in.Scan() {
		if data, found := strings.CutPrefix(e.in.Text(), "data: "); found {
			if err := json.Unmarshal([]byte(data), &now); err != nil {
				e.t.Fatal(err)
			}
			return now, true
		}
	}
	return now, false
}

// A reader that follows sees changes, and the end.
func TestEvents(t *testing.T) {
	run := NewRun()
	s := start(t, run, Options{Address: "127.0.0.1:0"})
	reader := follow(t, s)
	if now, ok := reader.next(); !ok || !strings.Contains(now.HTML, "No run has begun yet") {
		t.Fatalf("before a run: %+v", now)
	}
	run.Begin(record.Beginning{ID: "r1", Name: "<b>name</b>", Targets: []string{"one"}})
	run.Operations(time.Now(), oplog.Cell{Kind: oplog.Load, Target: "one"}, []oplog.Op{{Rows: 1234, Duration: time.Millisecond}})
	for found := false; !found; {
		now, ok := reader.next()
		if !ok {
			t.Fatal("the stream has ended")
		}
		if found = strings.Contains(now.HTML, "r1 &lt;b&gt;name&lt;/b&gt;"); found && !strings.Contains(now.HTML, "Measured so far, not yet verified") {
			t.Error("figures are not marked as not verified")
		}
	}
	go s.End(page.End{Text: "all is well", Page: "/x/report.html"})
	over := false
	for {
		now, ok := reader.next()
		if !ok {
			break
		}
		if over = now.Over; over && (!strings.Contains(now.HTML, "all is well") || !strings.Contains(now.HTML, "/x/report.html")) {
			t.Errorf("the end: %s", now.HTML)
		}
	}
	if !over {
		t.Error("the stream ended without an end")
	}
}

// A reader that does not read misses events, and delays nothing.
func TestStuckReader(t *testing.T) {
	var r readers
	stuck := r.join()
	for i := range 1000 {
		r.send(fmt.Append(nil, i), false)
	}
	if got := string(<-stuck); got != "999" {
		t.Errorf("event %s, want the newest", got)
	}
	r.send([]byte("last"), true)
	r.send([]byte("too late"), false)
	if got := string(<-stuck); got != "last" {
		t.Errorf("event %s, want the last", got)
	}
	if _, more := <-stuck; more || r.join() != nil {
		t.Error("the stream goes on behind its end")
	}
}

// The end does not wait either for a reader whose connection accepts nothing more, or for one
// that sends its request bit by bit.
func TestEndOfStuckReaders(t *testing.T) {
	run := NewRun()
	s := start(t, run, Options{Address: "127.0.0.1:0"})
	host := strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/")
	for _, text := range []string{"GET /events HTTP/1.1\r\nHost: " + host + "\r\n\r\n", "GET / HTTP/1.1\r\nHost:"} {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for !s.readers.any() {
		time.Sleep(time.Millisecond)
	}
	for range 4 { // more than a connection takes without a reader
		s.readers.send(make([]byte, 16<<20), false)
		time.Sleep(20 * time.Millisecond)
	}
	begin := time.Now()
	s.End(page.End{Text: "over"})
	if took := time.Since(begin); took > farewell+5*time.Second {
		t.Errorf("the end took %v", took)
	}
}

func TestMostReaders(t *testing.T) {
	s := start(t, NewRun(), Options{Address: "127.0.0.1:0"})
	var all []*events
	for range mostReaders {
		all = append(all, follow(t, s))
	}
	if answer, _ := send(t, plainClient(t), s.URL, request{path: "/events"}); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %s", answer.Status)
	}
	all[0].body.Close()
	for range 400 {
		s.readers.mu.Lock()
		left := len(s.readers.all)
		s.readers.mu.Unlock()
		if left < mostReaders {
			follow(t, s)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("who has gone still counts")
}

// Connections beyond the maximum of an address wait, and use up no files of the run.
func TestMostConnections(t *testing.T) {
	s := start(t, NewRun(), Options{Address: "127.0.0.1:0"})
	address := strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/")
	connect := func() (conn net.Conn, answer *bufio.Reader) {
		t.Helper()
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprintf(conn, "GET /nothing HTTP/1.1\r\nHost: %s\r\n\r\n", address); err != nil {
			t.Fatal(err)
		}
		return conn, bufio.NewReader(conn)
	}
	var first net.Conn
	for i := range mostConnections {
		conn, answer := connect()
		if i == 0 {
			first = conn
		}
		if _, err := answer.ReadString('\n'); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	further, answer := connect()
	// One that is taken has its answer in no time; no wait makes one that waits be answered.
	if err := further.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if line, err := answer.Peek(1); err == nil {
		t.Errorf("a connection beyond the limit is answered: %q", line)
	}
	if err := errors.Join(first.Close(), further.SetReadDeadline(time.Time{})); err != nil {
		t.Fatal(err)
	}
	if _, err := answer.ReadString('\n'); err != nil {
		t.Errorf("once another has ended: %v", err)
	}
}

// Runs, pages and metrics go on beside each other.
func TestBesideEachOther(t *testing.T) {
	run := NewRun()
	s := start(t, run, Options{Address: "127.0.0.1:0"})
	client := plainClient(t)
	var all sync.WaitGroup
	begin := time.Now()
	for _, kind := range []oplog.Kind{oplog.Load, oplog.Query} {
		all.Go(func() {
			for i := range 200 {
				run.Begin(record.Beginning{ID: fmt.Sprint("run ", i/100)})
				run.Operations(begin, oplog.Cell{Kind: kind, Target: "t", Repeat: i / 10}, make([]oplog.Op, 100))
				run.tick(time.Now())
			}
		})
	}
	for range 3 {
		all.Go(func() {
			for range 10 {
				for _, u := range []string{s.URL, s.URL + "metrics"} {
					answer, err := client.Get(u)
					if err != nil {
						t.Error(err)
						return
					}
					if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
						t.Errorf("%s: %s %v %.300s", u, answer.Status, err, text)
					}
					answer.Body.Close()
				}
			}
		})
	}
	all.Wait()
}
