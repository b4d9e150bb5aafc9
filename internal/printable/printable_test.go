package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string][3]string{
		"plain äöü 漢字 12 %": {"plain äöü 漢字 12 %", "plain äöü 漢字 12 %", "plain äöü 漢字 12 %"},
		" a\n\tb  c\r\n":    {" a  b  c  ", " a\n\tb  c\ufffd\n", "a b c"},
		"\x1b[2Jgone\a":     {"\ufffd[2Jgone\ufffd", "\ufffd[2Jgone\ufffd", "\ufffd[2Jgone\ufffd"},
		"\u009b31m":         {"\ufffd31m", "\ufffd31m", "\ufffd31m"},
		"a\u202eb\u2066c":   {"a\ufffdb\ufffdc", "a\ufffdb\ufffdc", "a\ufffdb\ufffdc"},
		"\ufeffx\xffy\x00":  {"\ufffdx\ufffdy\ufffd", "\ufffdx\ufffdy\ufffd", "\ufffdx\ufffdy\ufffd"},
	} {
		if got := [3]string{Line(in), Text(in), OneLine(in)}; got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("\x1b]0;title\x07\u2028x")
	f.Fuzz(func(t *testing.T, s string) {
		line := Line(s)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) || strings.ContainsFunc(Text(s), func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%q became %q", s, line)
		}
	})
}
