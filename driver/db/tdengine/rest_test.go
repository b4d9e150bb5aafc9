package tdengine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/query"
)

// What REST says of a statement is what callers look for, whatever the status.
func TestCarry(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		status, body, _ := strings.Cut(string(text), " ")
		if r.URL.Path != "/rest/sql" || user != "me" || password != "secret" {
			status, body = "404", "not this"
		}
		code := 200
		_, _ = fmt.Sscan(status, &code)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	wire, err := httpwire.NewConfig(connection.Settings{Host: host, Port: port, User: "me", Password: "secret", Timeout: 10 * time.Second}, "")
	if err != nil {
		t.Fatal(err)
	}
	p := &poster{client: httpwire.New(&wire)}
	defer p.Close()
	carry := func(text string) error { _, err := p.Carry(t.Context(), []byte(text)); return err }
	if err := carry(`200 {"code":0,"data":[[1]],"rows":1}`); err != nil {
		t.Error(err)
	}
	if err := carry(`200 {"code":297,"desc":"no\nspace"}`); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space (error 0x0129)") {
		t.Errorf("disk full: %v", err)
	}
	if err := carry(`200 {"code":954,"desc":"Vnodes exhausted"}`); err == nil || driver.AsTemporary(err) != nil || !strings.Contains(err.Error(), "lower the option vgroups, drop unneeded databases, or raise supportVnodes") {
		t.Errorf("no vnodes: %v", err)
	}
	if err := carry(`200 {"code":1292,"desc":"busy"}`); driver.AsTemporary(err) == nil || !driver.AsTemporary(err).Refused {
		t.Errorf("busy: %v", err)
	}
	if err := carry(`400 {"code":9731,"desc":"no table"}`); driver.AsTemporary(err) != nil || code(err) != errNoTable {
		t.Errorf("no table: %v", err)
	}
	if err := carry(`503 memory exceeds threshold`); driver.AsTemporary(err) == nil || driver.AsTemporary(err).After != 7*time.Second || !strings.Contains(err.Error(), "memory exceeds") {
		t.Errorf("overloaded: %v", err)
	}
	for _, other := range []string{`200 {"status":"success"}`, `200 <html>`, `404 <html>`} {
		if err := carry(other); err == nil || driver.AsTemporary(err) != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
	server.CloseClientConnections()
	server.Close()
	if err := carry(`200 {"code":0}`); driver.AsTemporary(err) == nil || !errors.Is(err, driver.ErrUnreachable) {
		t.Errorf("gone: %v", err)
	}
}

// Answers in JSON are read by their columns' types, and errors among them are errors.
func TestAnswer(t *testing.T) {
	read := func(text string) (query.Answer, error) {
		r := &jsonrows.Reader{System: "TDengine"}
		var got query.Answer
		_, err := r.Read(strings.NewReader(text), &got, answer(r))
		return got, err
	}
	const meta = `{"code":0,"column_meta":[["ts","TIMESTAMP",8],["a","BIGINT",8],["b","DOUBLE",8],["c","VARCHAR",9],["d","VARBINARY",9],["e","BOOL",1]],"data":[`
	got, err := read(meta + `["2016-01-01T00:00:00.001Z",7,1,"2","00ff",true],["1969-12-31T23:59:59.999Z",null,null,null,null,null]],"rows":2}`)
	if err != nil {
		t.Fatal(err)
	}
	conformance.CheckRows(t, got.Rows, conformance.Row(query.Value{Kind: query.Time, Int: 1_451_606_400_001_000_000}, 7, 1.0, "2", "\x00\xff", 1),
		conformance.Row(query.Value{Kind: query.Time, Int: -1_000_000}, nil, nil, nil, nil, nil))
	if _, err := read(meta + `],"rows":1}`); err == nil || !strings.Contains(err.Error(), "0 rows, and says that it has 1") {
		t.Errorf("%v", err)
	}
	if _, err := read(`{"code":9731,"desc":"no table"}`); code(err) != errNoTable {
		t.Errorf("%v", err)
	}
	if _, err := read(meta + `["2016`); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}
