package series_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/series"
)

// The text of a number is read back as that number, and texts of one length
// are in the order of their numbers.
func TestTextOfNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for length := 1; length <= series.MaxText; length++ {
		count := series.Texts(length)
		for range 1000 {
			a, b := r.Int64N(count), r.Int64N(count)
			first, second := series.AppendText(nil, a, length), series.AppendText(nil, b, length)
			if len(first) != length {
				t.Fatalf("%d to %d characters is %q", a, length, first)
			}
			if read, ok := series.ParseText(first); !ok || read != a {
				t.Fatalf("%q is read as %d, %v; it was %d", first, read, ok, a)
			}
			if (a < b) != (bytes.Compare(first, second) < 0) {
				t.Fatalf("%d and %d are %q and %q", a, b, first, second)
			}
		}
		last := strings.Repeat("z", length)
		if got := string(series.AppendText(nil, count-1, length)); got != last {
			t.Errorf("the last text of %d characters is %q, want %q", length, got, last)
		}
	}
	if got := string(series.AppendText([]byte("x"), 10*62+61, 3)); got != "x0Az" {
		t.Errorf("got %q", got)
	}
}

func TestNoNumberOfText(t *testing.T) {
	for _, text := range []string{"a-", "ä", " ", "00000000000", "{", "@", "["} {
		if n, ok := series.ParseText([]byte(text)); ok {
			t.Errorf("%q is %d, want none", text, n)
		}
	}
}

func BenchmarkAppendText(b *testing.B) {
	text := make([]byte, 0, 16)
	b.ReportAllocs()
	for i := range b.N {
		text = series.AppendText(text[:0], int64(i)%3844, 2)
	}
}
