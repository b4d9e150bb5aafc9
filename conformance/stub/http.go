package stub

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// HTTP is a server that answers by the function. It ends with the test.
func HTTP(t testing.TB, answer http.HandlerFunc) (host, port string) {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return split(t, s.Listener.Addr())
}

// Saying answers with a status and a text.
func Saying(status int, retryAfter, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
}

// Paths answers with the text that a path of the server has, and 404 to others.
func Paths(of map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, known := of[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}
}

// Silent takes a request and does not answer.
func Silent(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client is gone
	<-r.Context().Done()
}

// Hanging answers with a status and the beginning of a text, and then says
// nothing.
func Hanging(status int, begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begins(w, r, status, begin)
		<-r.Context().Done()
	}
}

// Cut answers with a status and the beginning of a text, and cuts the connection
// then.
func Cut(status int, begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begins(w, r, status, begin)
		panic(http.ErrAbortHandler)
	}
}

func begins(w http.ResponseWriter, r *http.Request, status int, begin string) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(status)
	fmt.Fprint(w, begin)
	w.(http.Flusher).Flush()
}

// A Write is an answer to a batch, and its effect.
type Write struct {
	Answer http.HandlerFunc
	Says   string
	Want   *driver.Temporary // nil: an error that stays; else its After and Refused
}

// Writes are the answers to a batch after which every writer over HTTP does the
// same.
func Writes() map[string]Write {
	const unended = "acknowledged a batch and did not end its answer"
	return map[string]Write{
		"busy":      {Saying(429, "7", "too\nmany"), "429 Too Many Requests: too many", &driver.Temporary{After: 7 * time.Second, Refused: true}},
		"restarts":  {Saying(503, "", ""), "it gave no reason", &driver.Temporary{Refused: true}},
		"a proxy's": {Saying(502, "", "<html>\nbad"), "<html> bad", &driver.Temporary{}},
		"cut off":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached", &driver.Temporary{}},

		"silence":                     {Silent, "did not answer within", &driver.Temporary{}},
		"silence after its status":    {Hanging(200, " "), unended, &driver.Temporary{}},
		"cut off after its status":    {Cut(200, " "), unended, &driver.Temporary{}},
		"silence after a busy status": {Hanging(503, " "), "503 Service Unavailable", &driver.Temporary{Refused: true}},
	}
}

// WriteFails has writers of one worker write a batch to servers that answer it
// badly: with Writes, and with more answers. Writer connects to a server, with a
// time-out if it is not empty.
func WriteFails(t *testing.T, more map[string]Write, writer func(t *testing.T, host, port, timeout string) (driver.Writer, *series.Batch)) {
	check := func(name string, test Write) {
		t.Run(name, func(t *testing.T) {
			timeout := ""
			switch {
			case name == "silence":
				timeout = "150ms"
			case strings.HasPrefix(name, "silence "): // after a beginning, which must arrive in time
				timeout = "1s"
			}
			host, port := HTTP(t, test.Answer)
			w, batch := writer(t, host, port, timeout)
			defer w.Close()
			receipt, err := w.Write(t.Context(), batch)
			Says(t, err, test.Says)
			got := driver.AsTemporary(err)
			if (got == nil) != (test.Want == nil) || got != nil && (got.After != test.Want.After || got.Refused != test.Want.Refused) {
				t.Errorf("temporary %+v, want %+v", got, test.Want)
			}
			if receipt != (driver.Receipt{}) {
				t.Errorf("receipt %+v", receipt)
			}
		})
	}
	for name, test := range Writes() {
		check(name, test)
	}
	for name, test := range more {
		check(name, test)
	}
}
