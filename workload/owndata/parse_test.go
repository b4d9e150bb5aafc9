package owndata

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	for text, want := range map[string]string{
		"2024-02-29T12:34:56Z":                "2024-02-29T12:34:56Z",
		"2024-02-29 12:34:56":                 "2024-02-29T12:34:56Z",
		"2024-02-29":                          "2024-02-29T00:00:00Z",
		"2024-02-29 12:34":                    "2024-02-29T12:34:00Z",
		"2024-02-29T12:34:56.123456789+05:30": "2024-02-29T07:04:56.123456789Z",
		"1969-12-31T23:59:59.5-0100":          "1970-01-01T00:59:59.5Z",
		"2024-02-29 12:34:56 UTC":             "2024-02-29T12:34:56Z",
		"2023-02-29":                          "",
		"2024-13-01":                          "",
		"2024-01-01T24:00:00Z":                "",
		"2024-01-01T00:00:00X":                "",
		"1500-01-01":                          "",
		"":                                    "",
	} {
		c, _ := newClock(asText)
		got, err := c.parse([]byte(text))
		if err != nil && want != "" || err == nil && time.Unix(0, got).UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%q is %v, %v; want %q", text, time.Unix(0, got).UTC(), err, want)
		}
	}
	for _, epoch := range []struct {
		format, text string
		want         int64
	}{
		{"s", "1", 1e9}, {"ms", "-5", -5e6}, {"us", "7", 7e3}, {"ns", "9", 9}, {"s", "1.25", 125e7}, {"s", "-0.5", -5e8}, {"ms", "1.0000019", 1e6 + 1},
		{"02/01/2006 15:04", "03/01/1970 00:00", 2 * 24 * 3600 * 1e9},
	} {
		c, err := newClock(epoch.format)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.parse([]byte(epoch.text)); err != nil || got != epoch.want {
			t.Errorf("%s %s is %d, %v; want %d", epoch.text, epoch.format, got, err, epoch.want)
		}
	}
	for _, text := range []string{"9300000000", "x", "1.x", ""} {
		c, _ := newClock("s")
		if got, err := c.parse([]byte(text)); err == nil {
			t.Errorf("%q is %d seconds", text, got)
		}
	}
}

// The clock reads what package time writes.
func FuzzClock(f *testing.F) {
	f.Add(int64(0), int32(0))
	f.Add(int64(1<<62), int32(3600))
	f.Add(int64(-1<<62), int32(-5*3600-1800))
	f.Fuzz(func(t *testing.T, ns int64, offset int32) {
		at := time.Unix(0, ns).In(time.FixedZone("", int(offset%(14*60))*60))
		if y := at.Year(); y < minYear || y > maxYear {
			return
		}
		c, _ := newClock(asText)
		if got, err := c.parse([]byte(at.Format(time.RFC3339Nano))); err != nil || got != ns {
			t.Errorf("%s is %d, %v; want %d", at.Format(time.RFC3339Nano), got, err, ns)
		}
	})
}

// Records are those of encoding/csv, wherever that takes the text.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "\"a\"\"b\",\n\n,c", "\"x\ny\",1\n\"\"\n", "a\"b,c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\r") || strings.HasPrefix(text, "\ufeff") {
			return // line ends within quotes are kept here
		}
		if isText([]byte(text)) != nil {
			return // another encoding or format, which is refused as such
		}
		ours := csvRecords{lines: newLineReader(strings.NewReader(text)), delimiter: ','}
		theirs := csv.NewReader(strings.NewReader(text))
		theirs.FieldsPerRecord = -1
		for {
			want, err := theirs.Read()
			if err != nil && !errors.Is(err, io.EOF) {
				break // a quote within a cell is not refused here
			}
			line := 0
			if err == nil {
				line, _ = theirs.FieldPos(0)
			}
			cells, failure := ours.next()
			if errors.Is(err, io.EOF) != errors.Is(failure, io.EOF) {
				t.Fatalf("%q: %v, and encoding/csv %v", text, failure, err)
			}
			if err != nil {
				return
			}
			var got []string
			for _, c := range cells {
				got = append(got, string(c))
			}
			if !slices.Equal(got, want) || ours.lines.line != int64(line) {
				t.Fatalf("%q: line %d has %q, and by encoding/csv line %d %q", text, ours.lines.line, got, line, want)
			}
		}
		for i := 0; i < 100; i++ {
			if _, err := ours.next(); err != nil {
				return
			}
		}
	})
}

// What is cut off a line of line protocol is all that it has, and nothing panics.
func FuzzLineProtocol(f *testing.F) {
	for _, text := range []string{
		`cpu,host=a usage=1.5,n=2i 1451606400000000000`, `m\,x,a\ b=c\=d f="x, y\" z",g=t 1`, `m f=1`, ` `, `m,a= f=1 2`, `a b="c`, `a b=\" 1`, `m f="a\\" 1`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := []byte(text)
		if len(line) == 0 {
			return
		}
		cut, err := cutPoint(line)
		if err != nil {
			return
		}
		whole := append(append(append([]byte{}, cut.head...), cut.fields...), cut.time...)
		if !bytes.Equal(bytes.ReplaceAll(whole, []byte(" "), nil), bytes.ReplaceAll(line, []byte(" "), nil)) {
			t.Fatalf("%q was cut into %q, %q and %q", line, cut.head, cut.fields, cut.time)
		}
		if _, tags, err := cutHead(cut.head, nil); err == nil {
			for _, tag := range tags {
				plainText(nil, tag.key)
				if bytes.IndexByte(tag.value, '=') >= 0 && !bytes.Contains(tag.value, []byte(`\=`)) {
					t.Fatalf("the tag %q of %q has a plain equals sign", tag.value, line)
				}
			}
		}
		length := 0
		for rest := cut.fields; len(rest) > 0; {
			of, after, err := cutField(rest)
			if err != nil {
				return
			}
			if len(after) > 0 {
				length++
			}
			length += len(of.key) + len(of.value) + 1
			rest = after
			if of.value[0] == '"' {
				unquoted(nil, of.value)
			} else {
				_, _, _ = valueType(of.value)
			}
			plainText(nil, of.key)
		}
		if length != len(cut.fields) {
			t.Fatalf("the pairs of %q have %d bytes", cut.fields, length)
		}
	})
}

// Lists are read as they were written.
func FuzzList(f *testing.F) {
	for _, text := range []string{"a, b:float", `cpu(a:int, "b c":text3) mem()`, "a)", "a(b(c))", `"`, "a:", "a:text11"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseList(text)
		if err != nil {
			return
		}
		written := formatList(list)
		again, err := parseList(written)
		if err != nil || formatList(again) != written {
			t.Fatalf("%q is written as %q, and read as %+v, %v", text, written, again, err)
		}
	})
}

func TestTableName(t *testing.T) {
	for file, want := range map[string]string{
		"x/yellow_tripdata_2024-01.parquet": "yellow_tripdata", "cpu.csv.gz": "cpu", "2024.csv": "data", "a-b.csv": "a_b", "btcusd": "btcusd",
	} {
		if got := tableName(file); got != want {
			t.Errorf("%s becomes %s, want %s", file, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for epoch, want := range map[int64]string{0: "s", 1_704_067_200: "s", 1_704_067_200_000: "ms", 1_704_067_200_000_000: "us", 1_704_067_200_000_000_000: "ns", -1_704_067_200_000: "ms"} {
		if got := unitOf(float64(epoch)); got != want {
			t.Errorf("%d is in %s, want %s", epoch, got, want)
		}
	}
}
