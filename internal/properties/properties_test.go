package properties_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tsmark/tsmark/internal/properties"
)

// The texts are what java.util.Properties.load is documented to read.
func TestParse(t *testing.T) {
	text := strings.Join([]string{
		"# comment",
		"  ! another, \\",
		"a=1",
		"b = 2",
		"c: 3",
		"d 4  ",
		"e\t=\tx=y:z",
		"long = one, \\",
		"       two, \\",
		"       three",
		`path = C\:\\data\tend`,
		`with\ blank\=too = v`,
		`accent = caf\u00e9 \ud83d\ude00`,
		"empty=",
		"alone",
		"中文 = 值",
	}, "\n")
	for name, end := range map[string]string{"lf": "\n", "crlf": "\r\n", "cr": "\r"} {
		t.Run(name, func(t *testing.T) {
			got, err := properties.Parse([]byte("\ufeff" + strings.ReplaceAll(text, "\n", end) + end))
			if err != nil {
				t.Fatal(err)
			}
			want := []properties.Entry{
				{"a", "1", 3}, {"b", "2", 4}, {"c", "3", 5}, {"d", "4", 6}, {"e", "x=y:z", 7}, {"long", "one, two, three", 8},
				{"path", "C:\\data\tend", 11}, {"with blank=too", "v", 12}, {"accent", "café 😀", 13}, {"empty", "", 14}, {"alone", "", 15}, {"中文", "值", 16},
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a=1\n\na=2":            "line 3: a is there twice, first on line 1; leave one out",
		"a=1\n# \xb2\xe2":       "line 2: wrong encoding: byte 0xb2 is no UTF-8; save the file as UTF-8, as in iconv -f GB18030 -t UTF-8",
		"\xff\xfea\x00":         "line 1: wrong encoding: this is UTF-16; save the file as UTF-8",
		"=1":                    "line 1: has a value without a key; write KEY=VALUE",
		`a=\u12`:                `line 1: "\\u" needs four hexadecimal digits behind it, as in \u00e9`,
		`a=\ud83d`:              `line 1: \ud83d is half a character`,
		"\n" + `a=\ud83d\u0041`: `line 2: \ud83d is half a character`,
	} {
		_, err := properties.Parse([]byte(text))
		var at *properties.Error
		if !errors.As(err, &at) || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := properties.Parse(make([]byte, properties.MaxSize+1)); err == nil || !strings.HasPrefix(err.Error(), "is larger than") {
		t.Errorf("too large: %v", err)
	}
}

// FuzzParse checks that any text is parsed or rejected with one of its lines, and that parsed
// entries are unchanged after writing and parsing them again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a=1", "a : b\\\n c", `k\u0041=\ud83d\ude00`, "# \xff", "a\\", `\`, "! x\r\n=", "a=1\ra=2", "\ufeffa 1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := properties.Parse(data)
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1
		if err != nil {
			var at *properties.Error
			if !errors.As(err, &at) || at.Line > lines || strings.ContainsAny(err.Error(), "\n\r") || !utf8.ValidString(err.Error()) {
				t.Fatalf("error %q", err)
			}
			return
		}
		escape := strings.NewReplacer(`\`, `\\`, " ", `\ `, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\f", `\f`, "=", `\=`, ":", `\:`, "#", `\#`, "!", `\!`, "\ufeff", `\ufeff`) // at the beginning it would be a mark
		var plain strings.Builder
		for i, e := range entries {
			if e.Line < 1 || e.Line > lines || !utf8.ValidString(e.Key) {
				t.Fatalf("entry %+v", e)
			}
			plain.WriteString(escape.Replace(e.Key) + "=" + escape.Replace(e.Value) + "\n")
			entries[i].Line = i + 1
		}
		again, err := properties.Parse([]byte(plain.String()))
		if err != nil || !reflect.DeepEqual(again, entries) {
			t.Fatalf("%+v\nread again as %+v, %v", entries, again, err)
		}
	})
}
