package mysql

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// packets returns packets as they are sent, numbered from a first one.
func packets(first int, bodies ...string) string {
	var b strings.Builder
	for i, body := range bodies {
		n := len(body)
		b.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(first + i)})
		b.WriteString(body)
	}
	return b.String()
}

// The bodies of packets.
const (
	okay = "\x00\x00\x00\x02\x00\x00\x00"
	eof  = "\xfe\x00\x00\x02\x00"
	// column is a text that is called n.
	column = "\x03def\x00\x00\x00\x01n\x00\x0c\x2d\x00\xff\x00\x00\x00\xfd\x00\x00\x00\x00\x00"
	// statement is one without parameters, whose answer has a column.
	statement = "\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	row       = "\x00\x00\x01x"
)

// endless answers each statement by packets that go on for ever.
func endless(begin, part string) func(net.Conn) {
	return func(c net.Conn) {
		say := func(text string) { _, _ = io.WriteString(c, text) }
		say(packets(0, "\x0a8.4.0\x00\x07\x00\x00\x00saltsalt\x00\x81\x82\x2d\x02\x00\x08\x00\x15"+strings.Repeat("\x00", 10)+"saltsaltsalt\x00mysql_native_password\x00"))
		for from := bufio.NewReader(c); ; {
			header := make([]byte, 4)
			if _, err := io.ReadFull(from, header); err != nil {
				return
			}
			body := make([]byte, int(header[0])|int(header[1])<<8)
			if _, err := io.ReadFull(from, body); err != nil {
				return
			}
			switch text := string(body); {
			case header[3] > 0: // who it is
				say(packets(2, okay))
			case strings.HasPrefix(text, "\x03SET"):
				say(packets(1, okay))
			case strings.Contains(text, "CONNECTION_ID"):
				say(packets(1, "\x01", column, eof, "\x017", eof))
			case strings.HasPrefix(text, "\x03SHOW SESSION VARIABLES"): // it has none of the name
				say(packets(1, "\x02", column, column, eof, eof))
			case text[0] == 0x16:
				say(packets(1, statement, column, eof))
			default:
				fault.Endless(c, begin, part)
			}
		}
	}
}

func serveConfig(t *testing.T, serve func(net.Conn)) *config {
	t.Helper()
	host, port := stub.TCP(t, serve)
	d := Driver()
	o, err := d.Resolve(map[string]string{"host": host, "port": port, "password": stub.Secret})
	if err != nil {
		t.Fatal(err)
	}
	return newConfig(connection.NewSettings(o))
}

// An answer without an end ends all the same, in a line and with little memory,
// whatever it goes on with.
func TestEndlessAnswers(t *testing.T) {
	var rows, long []string
	for range 256 { // numbers begin again then
		rows, long = append(rows, row), append(long, "\x00\x00\xfd\x00\x80\x00"+strings.Repeat("x", 1<<15))
	}
	begin := packets(1, "\x01", column, eof)
	list := func(ctx context.Context, c *conn) error {
		_, err := sqlkit.QueryRows(ctx, c, "SELECT")
		return err
	}
	for _, c := range []struct {
		name, part string
		do         func(context.Context, *conn) error
		says       string
	}{
		{"rows of a list", packets(4, rows...), list, "more than 100000 rows"},
		{"long rows of a list", packets(4, long...), list, "the texts of the answer have more than 67108864 bytes"},
		{"rows from a silent server", packets(4, rows...), func(ctx context.Context, c *conn) error { return c.Exec(ctx, "DROP") }, "no row within 32 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := serveConfig(t, endless(begin, c.part)).connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = fault.EndsBounded(t, func() error { return c.do(t.Context(), conn) })
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, driver.ErrUnreachable) {
				t.Errorf("%v, want %s", err, c.says)
			}
			if !conn.Closed() {
				t.Error("the connection is open, in the middle of an answer")
			}
		})
	}
}

// A querier stops where its sink has enough, and goes on with the next query.
func TestEndlessQueries(t *testing.T) {
	var rows []string
	for range 256 {
		rows = append(rows, row)
	}
	config := serveConfig(t, endless(packets(1, "\x01", column, eof), packets(4, rows...)))
	q, err := sqlkit.NewQuerier(t.Context(), config.connect)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	enough := errors.New("enough")
	for range 2 {
		n := 0
		err := fault.EndsBounded(t, func() error {
			_, err := q.Do(t.Context(), driver.Request{Text: "SELECT"}, query.SinkFunc(func([]query.Value) error {
				if n++; n > 10 {
					return enough
				}
				return nil
			}))
			return err
		})
		if !errors.Is(err, enough) || n != 11 {
			t.Errorf("%v after %d rows", err, n)
		}
	}
}
