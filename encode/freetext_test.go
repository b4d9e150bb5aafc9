package encode_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// noteBatch is a row with a number and a free text, for formats to write.
func noteBatch(text string) (*series.Schema, *series.Batch) {
	table := &series.Table{Name: "g", Fields: []series.Field{{Name: "n", Type: series.Int}, {Name: "note", Type: series.Text}}}
	var b series.Batch
	run := b.Add(table)
	run.Grow(1)
	run.Series[0], run.Times[0], run.Columns[0].Ints[0] = 0, 7, 1
	run.Columns[1].SetText(0, []byte(text))
	return &series.Schema{Tables: []*series.Table{table}, Series: 1}, &b
}

// Line protocol escapes what would end a text, and no more than it is told to.
func TestFreeText(t *testing.T) {
	for _, c := range []struct {
		kind       encode.LineProtocol
		text, want string
	}{
		{encode.LineProtocol{}, "", ""},
		{encode.LineProtocol{}, "a,b c=d\tΩ😀", "a,b c=d\tΩ😀"},
		{encode.LineProtocol{}, `say "hi" \n`, `say \"hi\" \\n`},
		{encode.LineProtocol{}, "two\r\nlines", "two\r\nlines"},
		{encode.LineProtocol{OneLine: true}, "two\n\\n", `two\n\\n`},
		{encode.LineProtocol{EscapeText: "\n\r"}, "two\r\nlines\t\"", "two\\\r\\\nlines\t\\\""},
	} {
		schema, batch := noteBatch(c.text)
		want := `g n=1i,note="` + c.want + "\" 7\n"
		if got := string(c.kind.New(schema).Append(nil, batch)); got != want {
			t.Errorf("%+v: %q is written as %q, want %q", c.kind, c.text, got, want)
		}
	}
}

// FuzzFreeText holds formats to texts that can be read back.
func FuzzFreeText(f *testing.F) {
	for _, text := range []string{"", "plain", `\`, `"`, "\n", `\n`, `a\"b`, "\r\n", "Ω", strings.Repeat(`"\`, 1000)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > series.MaxFreeText {
			t.Skip()
		}
		schema, batch := noteBatch(text)
		for name, kind := range map[string]encode.LineProtocol{"plain": {}, "one line": {OneLine: true}, "QuestDB's": {EscapeText: "\n\r"}} {
			line := kind.New(schema).Append(nil, batch)
			inner, ok := bytes.CutPrefix(line, []byte(`g n=1i,note="`))
			inner, ends := bytes.CutSuffix(inner, []byte("\" 7\n"))
			if !ok || !ends || kind.OneLine && bytes.Count(line, []byte{'\n'}) != 1 {
				t.Fatalf("%s: %q is written as %q", name, text, line)
			}
			var read []byte
			for i := 0; i < len(inner); i++ {
				if inner[i] == '"' {
					t.Fatalf("%s: the text ends early in %q", name, line)
				}
				if inner[i] == '\\' {
					if i++; kind.OneLine && inner[i] == 'n' {
						read = append(read, '\n')
						continue
					}
				}
				read = append(read, inner[i])
			}
			if string(read) != text {
				t.Fatalf("%s: %q is read as %q", name, text, read)
			}
			if size := kind.NewSizer(schema).Size(&batch.Runs[0]); size != int64(len(line)) {
				t.Fatalf("%s: size %d of %d bytes", name, size, len(line))
			}
		}
		cassandra, err := encode.NewCassandra(schema)
		if err != nil {
			t.Fatal(err)
		}
		if lines := string(cassandra.Append(nil, batch)); !strings.HasSuffix(lines, ",0x"+hex.EncodeToString([]byte(text))+"\n") {
			t.Fatalf("Cassandra's has %q", lines)
		}
	})
}

// Formats that escape nothing say so before they write.
func TestFreeTextRefused(t *testing.T) {
	schema, _ := noteBatch("")
	for _, f := range encode.Formats() {
		_, err := f.New(schema)
		switch f.Name {
		case "influx", "questdb", "victoriametrics", "cassandra":
			if err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		default:
			if err == nil || !strings.Contains(err.Error(), "field note of table g") {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
	}
}

// Texts of any content allocate nothing but room in the output.
func TestFreeTextAllocatesNothing(t *testing.T) {
	schema, batch := noteBatch(strings.Repeat(`"\`, 100))
	encoder := encode.NewLineProtocol(schema)
	out := encoder.Append(nil, batch)
	if n := testing.AllocsPerRun(100, func() { out = encoder.Append(out[:0], batch) }); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
}
