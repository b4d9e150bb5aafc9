package clickhouse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// repeated reads as the given number of copies of a block.
type repeated struct {
	block []byte
	times int
	at    int
}

// Read implements io.Reader.
func (r *repeated) Read(p []byte) (int, error) {
	if r.at == len(r.block) {
		r.times, r.at = r.times-1, 0
	}
	if r.times == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.block[r.at:])
	r.at += n
	return n, nil
}

// blockOf is a block of one column, as a server sends it.
func blockOf(kind string, rows int, values string) string {
	return "\x01" + string(binary.AppendUvarint(nil, uint64(rows))) + "\x01a" + string(binary.AppendUvarint(nil, uint64(len(kind)))) + kind + values
}

// frame returns a text as a compressed frame. It returns an empty text unchanged.
func frame(t testing.TB, text string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	w := compress.NewWriter(0, compress.LZ4)
	if err := w.Compress([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return string(w.Data)
}

func rowsOf(t *testing.T, text string) (query.Answer, error) {
	t.Helper()
	var got query.Answer
	c := httpConn{answer: answer{unread: new(limit.Unread)}}
	c.answer.begin(&got)
	err := c.read(&body{from: strings.NewReader(frame(t, text))})
	return got, err
}

// TestValues checks that values of each type are decoded correctly.
func TestValues(t *testing.T) {
	eight := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	low := eight(1) + eight(lowOwn|lowUpdate) + eight(3) + "\x00\x01x\x02yz" + eight(3) + "\x02\x00\x01"
	for _, c := range []struct{ kind, values, want string }{
		{"Int8", "\xff\x01\x00", "-1 1 0"},
		{"UInt16", "\xff\xff\x01\x00\x00\x00", "65535 1 0"},
		{"Nullable(Bool)", "\x00\x01\x00\x01\x01\x00", "true NULL false"},
		{"Float64", eight(0x3ff8000000000000) + eight(0x7ff0000000000000) + eight(0x8000000000000000), "1.5 +Inf -0"},
		{"String", "\x01x\x00\x02yz", "x  yz"},
		{"Nullable(String)", "\x00\x01\x00\x01x\x00\x02yz", "x NULL yz"},
		{"LowCardinality(String)", low, "yz  x"},
		{"LowCardinality(Nullable(String))", low, "yz NULL x"},
		{"Date", "\x00\x00\x01\x00\xff\xff", "1970-01-01 1970-01-02 2149-06-06"},
		{"Date32", "\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00", "1969-12-31 1970-01-02 1970-01-01"},
		{"DateTime", "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", "1970-01-01T00:00:01Z 1970-01-01T00:00:00Z 2106-02-07T06:28:15Z"},
		{"DateTime('UTC')", "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00", "1970-01-01T00:00:01Z 1970-01-01T00:00:00Z 1970-01-01T00:00:02Z"},
		{"DateTime64(3)", eight(1500) + eight(0) + eight(1<<64-1), "1970-01-01T00:00:01.5Z 1970-01-01T00:00:00Z 1969-12-31T23:59:59.999Z"},
		{"DateTime64(9, 'UTC')", eight(1) + eight(0) + eight(1<<64-1), "1970-01-01T00:00:00.000000001Z 1970-01-01T00:00:00Z 1969-12-31T23:59:59.999999999Z"},
	} {
		got, err := rowsOf(t, blockOf(c.kind, 3, c.values))
		var texts []string
		for _, row := range got.Rows {
			texts = append(texts, row[0].String())
		}
		if text := strings.Join(texts, " "); err != nil || text != c.want {
			t.Errorf("%s: %q, %v, want %q", c.kind, text, err, c.want)
		}
	}
}

// An answer that ends anywhere but behind a block is an error, and so is one that
// nobody can read.
func TestBrokenAnswers(t *testing.T) {
	whole := blockOf("Nullable(String)", 2, "\x00\x01\x03abc\x00")
	if got, err := rowsOf(t, whole+whole); err != nil || len(got.Rows) != 4 {
		t.Fatalf("%d rows, %v", len(got.Rows), err)
	}
	for n := 1; n < len(whole); n++ {
		if _, err := rowsOf(t, whole+whole[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes of a block: %v", n, err)
		}
	}
	eight := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	for _, c := range []struct{ text, says string }{
		{blockOf("Array(Int8)", 1, ""), "tsmark does not read values of type Array(Int8)"},
		{blockOf("LowCardinality(String)", 1, eight(2)+eight(0)+eight(0)), "a dictionary that tsmark does not read"},
		{blockOf("LowCardinality(String)", 1, eight(1)+eight(lowOwn)+eight(1)+"\x01x"+eight(2)), "2 keys of 1 values"},
		{blockOf("LowCardinality(String)", 1, eight(1)+eight(lowOwn)+eight(1)+"\x01x"+eight(1)+"\x01"), "key 1 of a dictionary of 1 values"},
		{blockOf("String", 1<<30, ""), "was read no further"},
		{blockOf("String", 1, "\xff\xff\xff\xff\x0f"), "a text of 4294967295 bytes"},
	} {
		if _, err := rowsOf(t, c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %s", c.text, err, c.says)
		}
	}
}

// incompressible returns texts of n pseudo-random bytes, n below 128, each after its length.
func incompressible(texts, n int) string {
	random := rand.NewChaCha8([32]byte{})
	var out []byte
	for range texts {
		text := make([]byte, n)
		_, _ = random.Read(text) // never fails
		out = append(append(out, byte(n)), text...)
	}
	return string(out)
}

// An answer without an end ends all the same, in a line and with little memory.
func TestEndlessAnswers(t *testing.T) {
	for _, c := range []struct{ name, begin, part, says string }{
		{"rows", "", blockOf("UInt8", 100, strings.Repeat("x", 100)), "more than 100000 rows"},
		{"a column", blockOf("String", 1<<20, ""), incompressible(100, 64), "no row within 32 MiB"},
		{"blocks without rows", "", blockOf("UInt8", 0, ""), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			host, port := stub.HTTP(t, fault.EndlessAnswer(frame(t, c.begin), frame(t, c.part)))
			d := Driver()
			o, err := d.Resolve(map[string]string{"host": host, "http_port": port, "protocol": "http"})
			if err != nil {
				t.Fatal(err)
			}
			of := newConfig(o)
			conn := of.newHTTP()
			defer conformance.Close(t, conn)
			err = fault.EndsBounded(t, func() error { _, err := sqlkit.QueryRows(t.Context(), conn, "SELECT"); return err })
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, driver.ErrUnreachable) {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
}

// What a server says of an error behind rows that it has sent already is told.
func TestErrorBehindRows(t *testing.T) {
	host, port := stub.HTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, frame(t, blockOf("UInt8", 2, "ab")), "Code: 241. DB::Exception: Query memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)")
	})
	d := Driver()
	o, err := d.Resolve(map[string]string{"host": host, "http_port": port, "protocol": "http"})
	if err != nil {
		t.Fatal(err)
	}
	conn := newConfig(o).newHTTP()
	defer conformance.Close(t, conn)
	_, err = conn.Query(t.Context(), "SELECT", nil)
	stub.Says(t, err, "Query memory limit exceeded")
}
