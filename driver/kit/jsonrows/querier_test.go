package jsonrows_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
)

// querier returns a querier of a stub that returns arrays of rows with a text and a number.
func querier(t *testing.T, timeout time.Duration, answer http.HandlerFunc) *jsonrows.Querier {
	t.Helper()
	host, port := stub.HTTP(t, answer)
	q := &jsonrows.Querier{
		Reader:  jsonrows.Reader{System: "Stub"},
		Client:  httpwire.New(&httpwire.Config{Host: host, Port: port, Timeout: timeout}),
		Explain: func(_ int, body []byte) error { return errors.New(string(body)) },
	}
	q.Request = func(ctx context.Context, statement string) (*http.Request, error) {
		return q.Client.Request(ctx, http.MethodGet, "/", url.Values{"q": {statement}}, nil)
	}
	q.Answer = func() error {
		q.Columns = append(q.Columns, jsonrows.Text, jsonrows.Number)
		return q.Array(q.Row)
	}
	t.Cleanup(func() { conformance.Close(t, q) })
	return q
}

// Statements of tsmark's own give their rows, whatever stands for a text.
func TestConsole(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		switch r.FormValue("q") {
		case "SHOW":
			_, _ = io.WriteString(w, `[["a\"b",1],[1.50,2],[true,true],[false,false],[null,null]]`)
		case "WRONG (a)\nb":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "no such thing")
		case "HALF":
			_, _ = io.WriteString(w, "[[1,1]")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	c := jsonrows.Console{Querier: querier(t, time.Minute, answer)}
	rows, err := c.Query(t.Context(), "SHOW")
	if err != nil {
		t.Fatal(err)
	}
	conformance.CheckRows(t, rows, conformance.Row(`a"b`, 1), conformance.Row("1.50", 2), conformance.Row("true", 1), conformance.Row("false", 0), conformance.Row(nil, nil))
	if err := c.Exec(t.Context(), "WRONG (a)\nb", "SHOW"); err == nil || err.Error() != "WRONG: no such thing" {
		t.Error(err)
	}
	short := jsonrows.Console{Querier: querier(t, 100*time.Millisecond, answer)}
	err = short.Exec(t.Context(), "HALF")
	if stub.Says(t, err, "HALF: ", "did not answer within 100ms"); !errors.Is(err, driver.ErrUnreachable) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Exec(ctx, "HALF"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrUnreachable) {
		t.Error(err)
	}
}

func TestQuerierNamesTheSystem(t *testing.T) {
	_, err := querier(t, time.Minute, stub.Saying(500, "", "it is broken")).Do(t.Context(), driver.Request{Text: "x"}, nil)
	stub.Says(t, err, "querying Stub: it is broken")
}
