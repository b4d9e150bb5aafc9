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

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/query"
)

// stub is a server that does with each connection what the test says, and
// returns its address as options.
func stub(t *testing.T, serve func(net.Conn)) driver.Options {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return driver.Options{"host": "127.0.0.1", "port": port, "user": "somebody", "password": "hunter2", "database": "there", "timeout": "500ms"}
}

// welcome takes a client in and returns what it can be answered by.
func welcome(c net.Conn) *pgproto3.Backend {
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return b
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	b.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	_ = b.Flush()
	return b
}

// refusing answers each connection with an error.
func refusing(code, message string) func(net.Conn) {
	return func(c net.Conn) {
		b := pgproto3.NewBackend(c, c)
		_, _ = b.ReceiveStartupMessage()
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: message})
		_ = b.Flush()
	}
}

func connect(t *testing.T, o driver.Options) (*pgwire.Conn, error) {
	t.Helper()
	config, err := pgwire.NewConfig(connection.Of(o))
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
		{"password", refusing("28P01", "password authentication failed for user \"somebody\""), "", "PGPASSWORD", false},
		{"database", refusing("3D000", "database \"there\" does not exist"), "", "createdb there", false},
		{"not let in", refusing("28000", "no pg_hba.conf entry for host"), "", "pg_hba.conf", false},
		{"too many", refusing("53300", "sorry, too many clients already"), "", "max_connections", true},
		{"starting", refusing("57P03", "the database system is starting up"), "", "starting up", true},
		{"no encryption", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 8))
			_, _ = c.Write([]byte("N"))
		}, "on", "tls=off", true},
		{"silence", func(c net.Conn) { _, _ = c.Read(make([]byte, 8)); time.Sleep(time.Second) }, "", "500ms", true},
		{"hangs up", func(net.Conn) {}, "", "is it up", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := stub(t, c.serve)
			o["tls"] = c.tls
			_, err := connect(t, o)
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, driver.ErrUnreachable) != c.unreachable {
				t.Fatalf("%v", err)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("more than a line, or the password: %v", err)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	o := stub(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, o["port"], _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	if _, err := connect(t, o); !errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), "127.0.0.1:"+o["port"]) {
		t.Errorf("%v", err)
	}
}

// rows begins an answer of one column.
func rows(b *pgproto3.Backend, n int) {
	b.Send(&pgproto3.ParseComplete{})
	b.Send(&pgproto3.BindComplete{})
	b.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("n"), DataTypeOID: 20, DataTypeSize: 8, Format: 1}}})
	for range n {
		b.Send(&pgproto3.DataRow{Values: [][]byte{make([]byte, 8)}})
	}
}

func until(b *pgproto3.Backend) {
	for {
		m, err := b.Receive()
		if err != nil {
			return
		}
		if _, ok := m.(*pgproto3.Sync); ok {
			return
		}
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
			conn, err := connect(t, stub(t, func(n net.Conn) {
				b := welcome(n)
				until(b)
				rows(b, 3)
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

// A server that takes a question and never answers is given up with the
// context, and the next question goes to a new connection.
func TestSilence(t *testing.T) {
	o := stub(t, func(c net.Conn) {
		b := welcome(c)
		until(b)
		time.Sleep(5 * time.Second)
	})
	config, err := pgwire.NewConfig(connection.Of(o))
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
			if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 3*time.Second {
				t.Errorf("%s: %v after %v", p, err, took)
			}
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT"}, nil); err == nil {
			t.Error("a closed querier asks")
		}
	}
}
