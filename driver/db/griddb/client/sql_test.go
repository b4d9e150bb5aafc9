package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// sqlAnswer returns the body of a result with rows as a server encodes them: the count of values in
// front of a row's texts is always 0.
func sqlAnswer(more bool, columns []Column, rows ...[]any) []byte {
	schema := ints(uint32(len(columns)))
	for _, c := range columns {
		flags := byte(0)
		if c.NotNull {
			flags = flagNotNull
		}
		schema = append(appendString(schema, ""), byte(c.Type), flags)
	}
	schema = append(schema, 0, 0) // no key
	for _, c := range columns {
		schema = appendString(schema, c.Name)
	}
	layout := NewLayout(columns)
	set, at := layout.Extend(longs(0), len(rows))
	for i, row := range rows {
		begin := len(set)
		var err error
		if set, err = layout.appendRow(set, at, i, len(rows), row); err != nil {
			panic(err)
		}
		if len(layout.Variable) > 0 {
			set[begin] = 1 // the size 0
		}
	}
	body := append([]byte{0, 1}, ints(1, 0, 0)...)
	body = append(body, 1)
	body = append(appendBool(body, more), ints(uint32(len(rows)))...)
	body = append(append(body, ints(uint32(len(schema)))...), schema...)
	body = append(append(body, ints(uint32(len(set)))...), set...)
	return append(body, ints(0)...)
}

// sqlRequest is what a request of the SQL interface says.
type sqlRequest struct {
	mode                byte
	kind, query, closed int64
	database, statement string
}

func (r *request) sql() (s sqlRequest) {
	r.take(16)
	s.mode = r.byte()
	s.kind, s.query, s.closed = int64(r.int()), r.long(), r.long()
	r.take(3)
	o := reader{b: r.take(int(r.int()))}
	for len(o.b) > 0 && o.err == nil {
		switch o.short() {
		case optDatabase:
			s.database = o.string()
		default:
			r.err = ErrProtocol
			return s
		}
	}
	for range r.int() {
		s.statement += r.string()
	}
	return s
}

// openSQL opens a connection to a stub.
func openSQL(t *testing.T, answer func(r *request, s sqlRequest) [][]byte) *SQL {
	t.Helper()
	s := serve(t, welcome(t, func() string { return "" }, 1, func(r *request) [][]byte {
		decoded := r.sql()
		if r.statement != stmtSQL || r.err != nil || len(r.b) > 0 {
			t.Errorf("statement %d: %v, %d bytes behind", r.statement, r.err, len(r.b))
		}
		return answer(r, decoded)
	}))
	c, err := OpenSQL(t.Context(), Config{Members: []string{s.address()}, User: "admin", Timeout: 5 * time.Second}, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestSQL checks that rows of every type, including NULLs, arrive unchanged page by page, and that the
// next query closes one that was not read to its end.
func TestSQL(t *testing.T) {
	all := columns()
	var requests []sqlRequest
	c := openSQL(t, func(r *request, s sqlRequest) [][]byte {
		requests = append(requests, s)
		null := append([]any{time.Unix(9, 0)}, make([]any, len(all)-1)...)
		if s.kind == sqlFetch {
			return [][]byte{r.reply(0, sqlAnswer(false, all, everything(2)))}
		}
		return [][]byte{r.reply(0, sqlAnswer(true, all, everything(1), null))}
	})
	n := int64(0)
	err := c.Query(t.Context(), "SELECT 1", func(a *Answer) error {
		if !slices.Equal(a.Rows.Columns, all) || a.Bytes == 0 {
			t.Errorf("%v, %d bytes", a.Rows.Columns, a.Bytes)
		}
		for a.Rows.Next() {
			r := a.Rows
			if n++; n == 2 {
				if !r.Null(1) || !r.Null(9) || r.Null(0) {
					t.Error("the second row is not NULL")
				}
				continue
			}
			want := everything((n + 1) / 2)
			at := want[0].(time.Time)
			got := []any{time.UnixMilli(r.Int(0)), string(r.Text(1)), r.Int(2) == 1, r.Int(3), r.Int(4), r.Int(5), r.Int(6), r.Float(7), r.Float(8), r.Text(9), time.UnixMicro(r.Int(10)), time.Unix(0, r.Int(11))}
			want[0], want[10] = at.Truncate(time.Millisecond), at.Truncate(time.Microsecond)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("row %d is %v, want %v", n, got, want)
			}
		}
		return a.Rows.Err()
	})
	if err != nil || n != 3 {
		t.Fatalf("%d rows: %v", n, err)
	}
	enough := errors.New("enough")
	for range 2 {
		if err := c.Query(t.Context(), "SELECT 2", func(*Answer) error { return enough }); !errors.Is(err, enough) || c.Err() != nil {
			t.Errorf("%v, %v", err, c.Err())
		}
	}
	want := []sqlRequest{
		{mode: sqlCreate, kind: sqlQuery, query: 1, database: PublicDatabase, statement: "SELECT 1"},
		{mode: sqlGet, kind: sqlFetch, query: 1, database: PublicDatabase},
		{mode: sqlCreate, kind: sqlQuery, query: 2, database: PublicDatabase, statement: "SELECT 2"},
		{mode: sqlCreate, kind: sqlQuery, query: 3, closed: 2, database: PublicDatabase, statement: "SELECT 2"},
	}
	if !slices.Equal(requests, want) {
		t.Errorf("sent\n%+v, want\n%+v", requests, want)
	}
}

// An error is the statement's alone, without the statement and its sender.
func TestSQLErrors(t *testing.T) {
	c := openSQL(t, func(r *request, s sqlRequest) [][]byte {
		if s.statement == "SELECT none" {
			body := append([]byte{0, 1}, ints(1, 3, 0)...)
			return [][]byte{r.reply(0, append(body, 0), ints(0))} // it changed rows
		}
		return [][]byte{r.reply(resultFailed, says(CodeNoTable, `permission denied on executing query (sql="SELECT secret") (db='public')`))}
	})
	none := func(*Answer) error { return nil }
	for range 2 {
		err := c.Query(t.Context(), "SELECT secret", none)
		if said := AsError(err); said == nil || said.Message != "permission denied" || c.Err() != nil {
			t.Errorf("%v, %v", err, c.Err())
		}
	}
	if err := c.Query(t.Context(), "SELECT none", none); !errors.Is(err, ErrProtocol) || c.Err() == nil {
		t.Errorf("%v, %v", err, c.Err())
	}
}

// Without a node that answers there is one clear error, and the next member is tried.
func TestOpenSQL(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	_ = l.Close()
	if _, err := OpenSQL(t.Context(), Config{Members: []string{gone, gone}, Timeout: time.Second}, 0); err == nil || !strings.Contains(err.Error(), gone) {
		t.Errorf("%v", err)
	}
	if _, err := OpenSQL(t.Context(), Config{}, 0); err == nil {
		t.Error("there are no members")
	}
	s := serve(t, welcome(t, func() string { return "" }, 1, func(*request) [][]byte { return nil }))
	c, err := OpenSQL(t.Context(), Config{Members: []string{gone, s.address()}, Timeout: 5 * time.Second}, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	host, port, _ := net.SplitHostPort(s.address())
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `[{"transaction":{"address":"10.0.0.1","port":1},"sql":{"address":%q,"port":%s}}]`, host, port)
	}))
	defer provider.Close()
	if c, err = OpenSQL(t.Context(), Config{Provider: provider.URL, Timeout: 5 * time.Second}, 0); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// FuzzSQL: whatever a server says to a query ends in rows or in an error, and takes memory
// only in proportion to it.
func FuzzSQL(f *testing.F) {
	r := request{statement: stmtSQL, id: 1}
	f.Add(r.reply(0, sqlAnswer(false, columns(), everything(1), everything(2))))
	f.Add(append(r.reply(0, sqlAnswer(true, columns(), everything(1))), (&request{statement: stmtSQL, id: 2}).reply(0, sqlAnswer(false, columns()))...))
	f.Add(r.reply(0, sqlAnswer(false, []Column{{"a", String, false}}, []any{"text"})))
	f.Add(r.reply(resultFailed, says(CodeNoTable, "no")))
	f.Fuzz(func(t *testing.T, message []byte) {
		c := &conn{net: scriptedConn{Reader: bytes.NewReader(message)}, most: 1 << 20}
		c.reader = bufio.NewReader(c.net)
		s := &SQL{conn: c}
		n := 0
		_ = s.Query(context.Background(), "SELECT 1", func(a *Answer) error {
			for a.Rows.Next() {
				n++
				for i, c := range a.Rows.Columns {
					a.Rows.Null(i)
					switch c.Type {
					case String, Blob:
						_ = a.Rows.Text(i)
					case Float, Double:
						_ = a.Rows.Float(i)
					default:
						_ = a.Rows.Int(i)
					}
				}
			}
			return a.Rows.Err()
		})
		if n > len(message) {
			t.Errorf("%d rows from %d bytes", n, len(message))
		}
	})
}

// BenchmarkSQL reads a page of rows of ten doubles and a text.
func BenchmarkSQL(b *testing.B) {
	list, row := []Column{{"time", Timestamp, true}, {"host", String, false}}, []any{time.Unix(1, 0), "host_1"}
	for i := range 10 {
		list, row = append(list, Column{string(rune('a' + i)), Double, false}), append(row, float64(i))
	}
	const n = 1000
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = row
	}
	body := sqlAnswer(false, list, rows...)
	s := &SQL{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.read(&reader{b: body}); err != nil {
			b.Fatal(err)
		}
		for s.answer.Rows.Next() {
			for c := range list {
				if list[c].Type == Double {
					_ = s.answer.Rows.Float(c)
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
}
