package pgwire_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/query"
)

// serveOptions returns the options that lead to a server that does with each
// connection what the function says.
func serveOptions(t *testing.T, serve func(net.Conn)) driver.Options {
	t.Helper()
	host, port := stub.TCP(t, serve)
	return driver.Options{"host": host, "port": port, "user": "somebody", "password": stub.Secret, "database": "there", "timeout": "500ms"}
}

func connect(t *testing.T, o driver.Options) (*pgwire.Conn, error) {
	t.Helper()
	config, err := pgwire.NewConfig(connection.NewSettings(o))
	if err != nil {
		t.Fatal(err)
	}
	return pgwire.Connect(t.Context(), config)
}

func TestConnectErrors(t *testing.T) {
	for _, c := range []struct {
		name        string
		serve       func(net.Conn)
		tls         string
		says        string
		unreachable bool
	}{
		{"password", stub.Refusing("28P01", "password authentication failed for user \"somebody\""), "", "PGPASSWORD", false},
		{"database", stub.Refusing("3D000", "database \"there\" does not exist"), "", "createdb there", false},
		{"not let in", stub.Refusing("28000", "no pg_hba.conf entry for host"), "", "pg_hba.conf", false},
		{"too many", stub.Refusing("53300", "sorry, too many clients already"), "", "max_connections", true},
		{"starting", stub.Refusing("57P03", "the database system is starting up"), "", "starting up", true},
		{"no encryption", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 8))
			_, _ = c.Write([]byte("N"))
		}, "on", "tls=off", true},
		{"silence", func(c net.Conn) { _, _ = c.Read(make([]byte, 8)); time.Sleep(time.Second) }, "", "500ms", true},
		{"hangs up", func(net.Conn) {}, "", "is it up", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := serveOptions(t, c.serve)
			o["tls"] = c.tls
			_, err := connect(t, o)
			stub.Says(t, err, c.says)
			if errors.Is(err, driver.ErrUnreachable) != c.unreachable {
				t.Error(err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	o := serveOptions(t, nil)
	_, o["port"] = stub.Nobody(t)
	if _, err := connect(t, o); !errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), "127.0.0.1:"+o["port"]) {
		t.Errorf("%v", err)
	}
}

// An answer that ends before it is whole is an error, and so is one that has an
// error behind its rows.
func TestCutAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		after func(*pgproto3.Backend, net.Conn)
		holds func(error) bool
	}{
		{"cut off", func(_ *pgproto3.Backend, c net.Conn) { c.Close() },
			func(err error) bool { return errors.Is(err, driver.ErrUnreachable) && driver.AsTemporary(err) != nil }},
		{"shut down", func(b *pgproto3.Backend, _ net.Conn) {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command"})
			_ = b.Flush()
		}, func(err error) bool { return errors.Is(err, driver.ErrUnreachable) }},
		{"error behind rows", func(b *pgproto3.Backend, _ net.Conn) {
			b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "22012", Message: "division\nby zero", Hint: "do not"})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			_ = b.Flush()
		}, func(err error) bool { return err.Error() == "division by zero (SQLSTATE 22012); do not" }},
		{"full", func(b *pgproto3.Backend, _ net.Conn) {
			b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "53100", Message: "could not extend file"})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			_ = b.Flush()
		}, func(err error) bool { return errors.Is(err, syscall.ENOSPC) }},
		{"deadlock", func(b *pgproto3.Backend, _ net.Conn) {
			b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "40P01", Message: "deadlock detected"})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			_ = b.Flush()
		}, func(err error) bool { t := driver.AsTemporary(err); return t != nil && t.Refused }},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := connect(t, serveOptions(t, func(n net.Conn) {
				b := stub.Welcome(n)
				stub.UntilSync(b)
				stub.Rows(b, 3)
				_ = b.Flush()
				c.after(b, n)
			}))
			if err != nil {
				t.Fatal(err)
			}
			var answer query.Answer
			cost, err := conn.Query(t.Context(), "SELECT", &answer)
			if err == nil || !c.holds(err) {
				t.Errorf("%v", err)
			}
			if cost.Rows != 3 || len(answer.Rows) != 3 || cost.Bytes != 3*(7+4+8) {
				t.Errorf("%+v, %d rows", cost, len(answer.Rows))
			}
		})
	}
}

// A server that takes a query and never answers is given up with the
// context, and the next query goes to a new connection.
func TestSilence(t *testing.T) {
	slowtest.Skip(t)
	o := serveOptions(t, func(c net.Conn) {
		b := stub.Welcome(c)
		stub.UntilSync(b)
		<-t.Context().Done()
	})
	config, err := pgwire.NewConfig(connection.NewSettings(o))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pgwire.Protocols() {
		q, err := pgwire.NewQuerier(t.Context(), config, p)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			start := time.Now()
			_, err = q.Do(ctx, driver.Request{Text: "SELECT"}, nil)
			cancel()
			if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
				t.Errorf("%s: %v after %v", p, err, took)
			}
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT"}, nil); err == nil {
			t.Error("a closed querier runs a query")
		}
	}
}

// An error about a password says whether there was one.
func TestNoPassword(t *testing.T) {
	t.Setenv("PGPASSWORD", "")
	t.Setenv("PGPASSFILE", "none")
	o := serveOptions(t, stub.Refusing("28P01", "password authentication failed for user \"somebody\""))
	delete(o, "password")
	_, err := connect(t, o)
	stub.Says(t, err, "none was given")
}
