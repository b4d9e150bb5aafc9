package pgwire_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// encode returns messages as they are sent.
func encode(t *testing.T, messages ...pgproto3.BackendMessage) string {
	t.Helper()
	var text []byte
	for _, m := range messages {
		var err error
		if text, err = m.Encode(text); err != nil {
			t.Fatal(err)
		}
	}
	return string(text)
}

// endless answers every statement by messages that go on for ever.
func endless(begin, part string) func(net.Conn) {
	return func(c net.Conn) {
		b := stub.Welcome(c)
		if _, err := b.Receive(); err == nil { // a message of it will do
			fault.Endless(c, begin, part)
		}
	}
}

// An answer without an end ends all the same, in a line and with little memory,
// whatever it goes on with.
func TestEndlessAnswers(t *testing.T) {
	begin := encode(t, &pgproto3.ParseComplete{}, &pgproto3.BindComplete{},
		&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("n"), DataTypeOID: 25, DataTypeSize: -1, Format: 1}}})
	row := encode(t, &pgproto3.DataRow{Values: [][]byte{[]byte("x")}})
	long := encode(t, &pgproto3.DataRow{Values: [][]byte{[]byte(strings.Repeat("x", 1<<20))}})
	var names strings.Builder // of parameters; more than 500 MB of them would be needed otherwise
	for i := range 100_000 {
		names.WriteString(encode(t, &pgproto3.ParameterStatus{Name: fmt.Sprintf("setting_%d_%s", i, strings.Repeat("y", 500)), Value: "on"}))
	}
	huge := string(binary.BigEndian.AppendUint32([]byte{'D'}, 900<<20))
	one := func(ctx context.Context, c *pgwire.Conn) error {
		_, err := sqlkit.QueryRow(ctx, c, "SELECT")
		return err
	}
	list := func(ctx context.Context, c *pgwire.Conn) error {
		_, err := sqlkit.QueryRows(ctx, c, "SELECT")
		return err
	}
	exec := func(ctx context.Context, c *pgwire.Conn) error { return c.Exec(ctx, "DROP") }
	prepare := func(ctx context.Context, c *pgwire.Conn) error { _, err := c.Prepare(ctx, "x", "SELECT"); return err }
	copyIn := func(ctx context.Context, c *pgwire.Conn) error {
		_, err := c.Copy(ctx, "COPY", strings.NewReader("x"))
		return err
	}
	for _, c := range []struct {
		name        string
		begin, part string
		do          func(context.Context, *pgwire.Conn) error
		says        string
	}{
		{"rows where one is expected", begin, row, one, "more than 100000 rows"},
		{"rows of a list", begin, row, list, "more than 100000 rows"},
		{"long rows of a list", begin, long, list, "the texts of the answer have more than 67108864 bytes"},
		{"rows from a silent server", "", encode(t, &pgproto3.RowDescription{}) + row, exec, "no row within 32 MiB"},
		{"a row", begin, huge, list, "a message of 943718396 bytes"},
		{"notices", begin, encode(t, &pgproto3.NoticeResponse{Message: "hello"}), list, "no row within 32 MiB"},
		{"settings", "", names.String(), exec, "no row within 32 MiB"},
		{"notices in place of a statement's description", "", encode(t, &pgproto3.NoticeResponse{Message: "hello"}), prepare, "no row within 32 MiB"},
		{"notices in place of COPY", "", encode(t, &pgproto3.NoticeResponse{Message: "hello"}), copyIn, "no row within 32 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := connect(t, serveOptions(t, endless(c.begin, c.part)))
			if err != nil {
				t.Fatal(err)
			}
			defer conformance.Close(t, conn)
			err = fault.EndsBounded(t, func() error { return c.do(t.Context(), conn) })
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, driver.ErrUnreachable) {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
}

// A querier stops where its sink has enough, with any protocol, and goes on with
// the next query. Rows that are only counted take no memory until time is over.
func TestEndlessQueries(t *testing.T) {
	begin := encode(t, &pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("n"), DataTypeOID: 25, DataTypeSize: -1}}})
	row := encode(t, &pgproto3.DataRow{Values: [][]byte{[]byte("x")}})
	config, err := pgwire.NewConfig(connection.NewSettings(serveOptions(t, endless(begin, row))))
	if err != nil {
		t.Fatal(err)
	}
	q, err := pgwire.NewQuerier(t.Context(), config, pgwire.Simple)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	enough := errors.New("enough")
	for range 2 {
		rows := 0
		err := fault.EndsBounded(t, func() error {
			_, err := q.Do(t.Context(), driver.Request{Text: "SELECT"}, query.SinkFunc(func([]query.Value) error {
				if rows++; rows > 10 {
					return enough
				}
				return nil
			}))
			return err
		})
		if !errors.Is(err, enough) || rows != 11 {
			t.Errorf("%v after %d rows", err, rows)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var cost driver.Cost
	err = fault.EndsBounded(t, func() (err error) {
		cost, err = q.Do(ctx, driver.Request{Text: "SELECT"}, nil)
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) || cost.Rows < 1000 {
		t.Errorf("%v after %d rows", err, cost.Rows)
	}
}
