package lineproto

import (
	"strings"
	"testing"
)

func TestLineOf(t *testing.T) {
	text := [][]byte{[]byte("a\nb1"), []byte("b2\n"), []byte("c")}
	for number, want := range []string{0: "", 1: "a", 2: "b1b2", 3: "c", 4: ""} {
		if got := lineOf(text, number); got != want {
			t.Errorf("line %d: %q, want %q", number, got, want)
		}
	}
	if got := lineOf([][]byte{[]byte(strings.Repeat("x", 500))}, 1); len(got) > 130 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}
