package postgres_test

import (
	"io"
	"maps"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
)

// A pooler that drops the parameters of a connection's start leaves options without effect: the
// target is refused in one line that names the option and what the server says.
func TestOptionsWithoutEffect(t *testing.T) {
	address := server(t)
	to := net.JoinHostPort(address["host"], address["port"])
	host, port := stub.TCP(t, func(c net.Conn) { dropParameters(c, to) })
	for name, test := range map[string]struct {
		options map[string]string
		says    string // empty: nothing is wrong
	}{
		"none":     {nil, ""},
		"relaxed":  {map[string]string{"synchronous_commit": "off"}, "option synchronous_commit=off is not in effect: the server says synchronous_commit is on; "},
		"memory":   {map[string]string{"work_mem": "77MB"}, "option work_mem=77MB is not in effect: the server says work_mem is "},
		"the same": {map[string]string{"synchronous_commit": "on"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			options := maps.Clone(address)
			maps.Copy(options, test.options)
			if err := driver.Contradiction(t.Context(), open(t, options)); err != nil {
				t.Errorf("without a pooler: %v", err)
			}
			options["host"], options["port"] = host, port
			// As runs open targets: a wrapper must not hide what the driver can tell.
			err := driver.Contradiction(t.Context(), limit.Target(open(t, options), limit.Default()))
			if (err == nil) != (test.says == "") || err != nil && (!strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

// The server tells sizes in the largest unit that they are a multiple of.
func TestUnitsOfMemory(t *testing.T) {
	if err := driver.Contradiction(t.Context(), open(t, server(t, "work_mem", "2048kB"))); err != nil {
		t.Error(err)
	}
}

// dropParameters connects a client to a server as PgBouncer does with
// ignore_startup_parameters: only user and database pass.
func dropParameters(client net.Conn, to string) {
	first, err := pgproto3.NewBackend(client, client).ReceiveStartupMessage()
	if err != nil {
		return
	}
	conn, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer conn.Close()
	if start, ok := first.(*pgproto3.StartupMessage); ok {
		start.Parameters = map[string]string{"user": start.Parameters["user"], "database": start.Parameters["database"]}
	}
	frontend := pgproto3.NewFrontend(conn, conn)
	frontend.Send(first)
	if frontend.Flush() != nil {
		return
	}
	go func() {
		_, _ = io.Copy(conn, client)
		_ = conn.Close()
	}()
	_, _ = io.Copy(client, conn)
}
