package cli

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/internal/chromium"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// output collects the output of a running program.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// relay passes connections on from a port of its own, so that they can be cut.
type relay struct {
	at, to string

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

// start listens, on the same port as before.
func (r *relay) start(t *testing.T) {
	t.Helper()
	if r.at == "" {
		r.at = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", r.at)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener, r.at = l, l.Addr().String()
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", r.to)
			if err != nil {
				from.Close()
				continue
			}
			r.mu.Lock()
			r.open = append(r.open, from, to)
			r.mu.Unlock()
			go func() { _, _ = io.Copy(to, from); to.Close() }()
			go func() { _, _ = io.Copy(from, to); from.Close() }()
		}
	}()
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener.Close()
	for _, c := range r.open {
		c.Close()
	}
	r.open = nil
}

// wait waits until something is so. With the race detector, and beside other tests, a run
// prepares its queries for longer than a minute.
func wait(t *testing.T, what string, so func() bool) {
	t.Helper()
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		if so() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// A run is shown over TLS to who trusts the certificate; one that does not fit its key
// is refused before anything is loaded, in one line that says what to do.
func TestLiveOverTLS(t *testing.T) {
	certificate, key := stub.Certificate(t)
	other, _ := stub.Certificate(t)
	dir := t.TempDir()
	var out output
	tsmark := exec.Command("tsmark", "run", "--target", "sqlite", "--scale", "10", "--log-interval", "1m", "--query-type", "lastpoint", "--queries", "20000", "--rate", "100/s", "--repeats", "1", "--time-box", "10m",
		"--verify", "2", "--results", filepath.Join(dir, "results"), "--web", "--web-cert", certificate+","+key)
	tsmark.Stdout, tsmark.Stderr = &out, &out
	if err := tsmark.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tsmark.Process.Kill(); _ = tsmark.Wait() })
	said := regexp.MustCompile(`(?m)^live page: (https://127\.0\.0\.1:[0-9]+/\S*)$`)
	wait(t, "the address", func() bool { return said.MatchString(out.String()) })
	pem, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(pem)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableKeepAlives: true}}
	for path, want := range map[string]string{"": "<html lang", "metrics": "tsmark_run_over"} {
		answer, err := client.Get(said.FindStringSubmatch(out.String())[1] + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("status %d, error %v, no %q in it:\n%s", answer.StatusCode, err, want, text)
		}
	}
	for name, c := range map[string]struct {
		certificate, key, want string
	}{
		"no pair":        {other, key, "tsmark: --web-cert: " + other + " and " + key + " do not match (tls: private key does not match public key); give a certificate in PEM and its key"},
		"no certificate": {key, key, "do not match ("},
		"no key":         {certificate, certificate, "do not match ("},
		"not there":      {certificate, filepath.Join(dir, "none.pem"), "none.pem: no such file or directory; name a file that this user can read"},
	} {
		var stdout, stderr bytes.Buffer
		args := []string{"tsmark", "load", "sqlite", "--results", filepath.Join(dir, "refused"), "--web", "--web-cert", c.certificate + "," + c.key}
		if code := execute(t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{sqlite.Driver()})); code != app.ExitUsage || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit status %d, want %d and %q:\n%s", name, code, app.ExitUsage, c.want, &stderr)
		}
	}
}

// A run is watched in a browser: the reader sends the token, sees figures that change and are
// not verified, loses the connection, reconnects, and sees the end.
func TestLivePageInBrowser(t *testing.T) {
	ctx, _ := chromium.Open(t)
	dir := t.TempDir()
	const token = "0123456789abcdef-of-tests"
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out output
	tsmark := exec.Command("tsmark", "run", "--target", "one=sqlite", "--target", "two=sqlite", "--scale", "10", "--log-interval", "1m", "--query-type", "lastpoint,single-groupby-1-1-1",
		"--queries", "20000", "--rate", "100/s", "--repeats", "2", "--time-box", "10m", "--verify", "2", "--results", filepath.Join(dir, "results"), "--web", "--token", "@"+filepath.Join(dir, "token"))
	tsmark.Stdout, tsmark.Stderr = &out, &out
	if err := tsmark.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- tsmark.Wait() }()
	t.Cleanup(func() { _ = tsmark.Process.Kill() })
	address := regexp.MustCompile(`live page: http://(\S+)/\n`)
	wait(t, "the page's address", func() bool { return address.MatchString(out.String()) })
	r := relay{to: address.FindStringSubmatch(out.String())[1]}
	r.start(t)
	t.Cleanup(r.cut)

	truth := func(expression string) bool {
		t.Helper()
		return chromium.Evaluate[bool](t, ctx, expression)
	}
	shows := func(what, expression string) {
		t.Helper()
		wait(t, what, func() bool { return truth(expression) })
	}
	chromium.Do(t, ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate("http://"+r.at+"/"))
	shows("a form", "!!document.querySelector('form input[type=password]')")
	chromium.Readable(t, ctx)
	truth("document.getElementById('token').value = 'another-token-than-that', document.forms[0].submit(), true")
	shows("that the token was wrong", "!!document.querySelector('.alert') && !!document.querySelector('form')")
	truth("document.getElementById('token').value = '" + token + "', document.forms[0].submit(), true")
	shows("the page", "!!document.getElementById('now')")
	if at := chromium.Evaluate[string](t, ctx, "location.href + document.cookie"); at != "http://"+r.at+"/" {
		t.Errorf("the address and cookies that scripts see are %s", at)
	}

	shows("the measurements", "!!document.querySelector('#measured td') && document.querySelectorAll('#charts svg[role=img]').length > 1")
	shows("queries", "/lastpoint/.test(document.getElementById('measured').innerText)")
	if !truth("/Measured so far, not yet verified/.test(document.getElementById('measured').innerText) && /Nothing on this page is verified yet/.test(document.body.innerText)") {
		t.Error("figures are not marked as not verified")
	}
	chromium.Readable(t, ctx)
	before := chromium.Evaluate[string](t, ctx, "document.querySelector('main').innerText")
	shows("a change", "document.getElementById('connection').innerText === 'Live'")
	wait(t, "a change", func() bool {
		return chromium.Evaluate[string](t, ctx, "document.querySelector('main').innerText") != before
	})

	r.cut()
	shows("that the connection is lost", "/^No connection to tsmark since/.test(document.getElementById('connection').innerText)")
	r.start(t)
	shows("that it is there again", "document.getElementById('connection').innerText === 'Live'")

	if err := tsmark.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	shows("the end", "/^ended /.test(document.title) && document.querySelector('.badge').innerText === 'ended' && /interrupted; finished work is stored/.test(document.body.innerText)")
	if err := <-ended; tsmark.ProcessState.ExitCode() != app.ExitInterrupted {
		t.Fatalf("%v\n%s", err, out.String())
	}
	page := regexp.MustCompile(`Page: (\S+)`).FindStringSubmatch(out.String())
	if page == nil || !strings.Contains(chromium.Evaluate[string](t, ctx, "document.querySelector('main').innerText"), page[1]) {
		t.Errorf("the page does not name the report, %v", page)
	}
	time.Sleep(3 * time.Second) // longer than a browser waits to connect again
	if !truth("document.querySelector('.badge').innerText === 'ended' && document.getElementById('connection').innerText === ''") {
		t.Error("the page does not stay as it was at the end")
	}
	if strings.Contains(out.String(), token) {
		t.Error("the token was printed")
	}
}
