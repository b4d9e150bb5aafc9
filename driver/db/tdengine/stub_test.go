package tdengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// stub is a taosAdapter that answers each request by its action and SQL: with JSON, whose
// req_id it fills in, or by what the function does to the connection: it returns answered
// where that is the answer, and nothing where the connection is to end.
func stub(t *testing.T, answer func(action, sql string, c *websocket.Conn) string) *config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for {
			var request struct {
				Action string
				Args   struct {
					Number int `json:"req_id"`
					SQL    string
				}
			}
			_, message, err := c.ReadMessage()
			if err != nil || json.Unmarshal(message, &request) != nil {
				return
			}
			text := answer(request.Action, request.Args.SQL, c)
			switch text {
			case "":
				return
			case answered:
				continue
			}
			text = strings.Replace(text, "{", fmt.Sprintf(`{"req_id":%d,`, request.Args.Number), 1)
			if c.WriteMessage(websocket.TextMessage, []byte(text)) != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return &config{connection.Settings{Host: host, Port: port, User: "me", Password: "secret", Timeout: 10 * time.Second}}
}

const answered = "answered"

// failing is an answer with an error.
func failing(code int, message string) string {
	return fmt.Sprintf(`{"code":%d,"message":%q}`, code, message)
}

func TestPasswordRefused(t *testing.T) {
	c := stub(t, func(string, string, *websocket.Conn) string { return failing(errNoAuth, "Authentication\nfailure") })
	_, err := c.connect(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "give another user or password (Authentication failure (error 0x0357))") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// TestCountRows checks that the server counts the rows of a table; some servers return no row for an
// empty table.
func TestCountRows(t *testing.T) {
	rows := [][]any{{41}}
	c := stub(t, func(action, sql string, c *websocket.Conn) string {
		switch {
		case action == "query" && sql != "SELECT count(*) FROM `of`.cpu":
			return failing(errNoTable, "no")
		case action == "query":
			return `{"code":0,"id":1,"fields_names":["count(*)"],"fields_lengths":[8]}`
		case action == "fetch_block":
			if c.WriteMessage(websocket.BinaryMessage, blockOf([]byte{typeBigint}, rows)) != nil {
				return ""
			}
			rows = nil
			return answered
		}
		return fmt.Sprintf(`{"code":0,"rows":%d,"completed":%t}`, len(rows), len(rows) == 0)
	})
	d := &database{config: c, design: newDesign(conformance.Options(t, Driver())), name: "of"}
	d.admin = sqlkit.NewLink(func(ctx context.Context) (*conn, error) { return c.connect(ctx, "") }, false)
	defer d.Close()
	for _, want := range []int64{41, 0} {
		if n, err := d.CountRows(t.Context(), conformance.Table("usage")); err != nil || n != want {
			t.Errorf("%d rows, %v; %d expected", n, err, want)
		}
	}
	if _, err := d.CountRows(t.Context(), &series.Table{Name: "other"}); err == nil || !strings.HasPrefix(err.Error(), "counting the rows of table other: ") {
		t.Error(err)
	}
}

// A port of something else's is told from one where nobody is.
func TestNoAdapter(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	host, port, _ := net.SplitHostPort(other.Listener.Addr().String())
	c := &config{connection.Settings{Host: host, Port: port, Timeout: 10 * time.Second}}
	if _, err := c.connect(t.Context(), ""); !errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), "taosAdapter") {
		t.Errorf("%v", err)
	}
	other.Close()
	if _, err := c.connect(t.Context(), ""); !errors.Is(err, driver.ErrUnreachable) || strings.Contains(err.Error(), "taosAdapter") {
		t.Errorf("%v", err)
	}
}

// What the server says of a statement is what callers look for.
func TestFailures(t *testing.T) {
	c := stub(t, func(action, sql string, _ *websocket.Conn) string {
		var code int
		switch _, err := fmt.Sscanf(sql, "fail %x", &code); {
		case action != "query":
			return `{"code":0}`
		case err == nil:
			return failing(code, "no")
		}
		return "" // cut
	})
	fail := func(text string) error {
		conn, err := c.connect(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, err = conn.Query(t.Context(), text, nil)
		if err == nil {
			t.Fatalf("%s: no error", text)
		}
		if broken := !strings.HasPrefix(text, "fail"); conn.Closed() != broken {
			t.Errorf("%s: the connection is closed: %v", text, conn.Closed())
		}
		return err
	}
	if err := fail("fail 129"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("disk full: %v", err)
	}
	if err := fail("fail 50c"); driver.AsTemporary(err) == nil || !driver.AsTemporary(err).Refused {
		t.Errorf("busy: %v", err)
	}
	if err := fail("fail 90c"); driver.AsTemporary(err) == nil || !errors.Is(err, driver.ErrUnreachable) {
		t.Errorf("no leader: %v", err)
	}
	if err := fail("fail 80002603"); driver.AsTemporary(err) != nil || code(err) != errNoTable {
		t.Errorf("no table: %v", err)
	}
	if err := fail("cut"); driver.AsTemporary(err) == nil || !errors.Is(err, driver.ErrUnreachable) {
		t.Errorf("cut: %v", err)
	}
	conn, err := c.connect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Query(t.Context(), "SELECT '\xff'", nil); err == nil || driver.AsTemporary(err) != nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("an invalid text: %v", err)
	}
}

// A server that falls silent ends what writes at the time-out, and the rest with its
// context.
func TestSilent(t *testing.T) {
	c := stub(t, func(action, _ string, c *websocket.Conn) string {
		if action == "query" {
			_, _, _ = c.ReadMessage()
		}
		return `{"code":0}`
	})
	conn, err := c.connect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := conn.Query(ctx, "SELECT 1", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if conn, err = c.connect(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	c.Timeout = 50 * time.Millisecond
	err = conn.callWithTimeout(t.Context(), func() error {
		conn.begin("query")
		_, err := conn.roundTrip()
		return err
	})
	if driver.AsTemporary(err) == nil || !strings.Contains(err.Error(), "50ms; the option timeout") {
		t.Errorf("%v", err)
	}
}

// A message without an end ends all the same.
func TestEndless(t *testing.T) {
	c := stub(t, func(action, _ string, c *websocket.Conn) string {
		if action != "query" {
			return `{"code":0}`
		}
		w, err := c.NextWriter(websocket.TextMessage)
		for part := strings.Repeat(" ", 1<<16); err == nil; {
			_, err = w.Write([]byte(part))
		}
		return ""
	})
	conn, err := c.connect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = fault.EndsBounded(t, func() error { _, err := conn.Query(t.Context(), "SELECT 1", nil); return err })
	if err == nil || errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("%v", err)
	}
}
