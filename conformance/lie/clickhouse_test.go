package lie

import (
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// nativeBlock is three rows: a time, a tag of LowCardinality, a text, and a field that
// may be missing.
func nativeBlock() []byte {
	eight := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	text := func(s string) string { return string(rune(len(s))) + s }
	return []byte("\x04\x03" +
		text("time") + text("DateTime64(9, 'UTC')") + eight(10) + eight(20) + eight(30) +
		text("host") + text("LowCardinality(Nullable(String))") + eight(1) + eight(0x600) + eight(3) + "\x00" + text("a") + text("b") + eight(3) + "\x01\x02\x00" +
		text("note") + text("Nullable(String)") + "\x00\x01\x00" + text("x") + "\x00" + text("yz") +
		text("usage") + text("Nullable(Int64)") + "\x00\x00\x01" + eight(1) + eight(2) + eight(3))
}

// Blocks come out as they went in, and rows of ClickHouse's become what the lie says.
func TestNativeRows(t *testing.T) {
	for _, framed := range []bool{false, true} {
		whole, err := parseNative(nativeBlock(), false)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := whole.encode(framed)
		if err != nil {
			t.Fatal(err)
		}
		read := func(body []byte) *block {
			t.Helper()
			got, err := parseNative(body, framed)
			if err != nil || len(got) != 1 {
				t.Fatalf("%d blocks, %v", len(got), err)
			}
			return got[0]
		}
		query := url.Values{"query": {"INSERT INTO cpu FORMAT Native"}}
		if framed {
			query.Set("decompress", "1")
		} else if string(sent) != string(nativeBlock()) {
			t.Errorf("%q", sent)
		}
		for _, c := range []struct {
			name  string
			fates []Fate
			rows  int
			usage string // the first byte of each
			nulls string
		}{
			{"keep", []Fate{Keep, Keep, Keep}, 3, "\x01\x02\x03", "\x00\x00\x01"},
			{"zero", []Fate{Keep, Zero, Zero}, 3, "\x01\x00\x00", "\x00\x00\x00"},
			{"drop", []Fate{Keep, Drop, Keep}, 2, "\x01\x03", "\x00\x01"},
			{"twice", []Fate{Twice, Keep, Keep}, 4, "\x01\x01\x02\x03", "\x00\x00\x00\x01"},
			{"swap", []Fate{Keep, Keep, Swap}, 3, "\x01\x03\x02", "\x00\x01\x00"},
		} {
			p := &proxy{lie: Lie{Store: func(row int64) Fate { return c.fates[row] }}, table: "cpu"}
			body, err := p.nativeRows(httptest.NewRequest(http.MethodPost, "/?"+query.Encode(), nil), sent)
			if err != nil {
				t.Fatal(err)
			}
			got := read(body)
			usage := ""
			for _, v := range got.columns[3].values {
				usage += string(v[:1])
			}
			if got.rows != c.rows || usage != c.usage || string(got.columns[3].nulls) != c.nulls {
				t.Errorf("%s: %d rows, %q, %q", c.name, got.rows, usage, got.columns[3].nulls)
			}
		}
		other := url.Values{"query": {"INSERT INTO mem FORMAT Native"}}
		p := &proxy{lie: Zeroes, table: "cpu"}
		if body, err := p.nativeRows(httptest.NewRequest(http.MethodPost, "/?"+other.Encode(), nil), sent); err != nil || string(body) != string(sent) {
			t.Errorf("rows of another table: %q, %v", body, err)
		}
		answer := &nativeAnswer{blocks{read(sent), read(sent)}, framed}
		left, err := answer.with([]int{0, 0, 4, 5})
		if err != nil || answer.count() != 4 {
			t.Errorf("%d rows, %v", answer.count(), err)
		}
		if again, err := parseNative(left, framed); err != nil || len(again) != 2 || again[0].rows != 2 || string(again[1].columns[2].values[1]) != "\x02yz" {
			t.Errorf("%v, %v", again, err)
		}
	}
	if _, err := parseNative(nativeBlock()[:60], false); err == nil || !strings.Contains(err.Error(), "block") {
		t.Errorf("half a block: %v", err)
	}
}
