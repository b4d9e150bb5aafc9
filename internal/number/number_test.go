package number_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/tsmark/tsmark/internal/number"
)

// Numbers are those of strconv, wherever this reads the text.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{"0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.5", ".5", "1e9", "NaN", "+Inf", "123456789012345.6", "1_0", "0x1p3", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := number.Int([]byte(text)); ok {
			if want, err := strconv.ParseInt(text, 10, 64); err != nil || got != want {
				t.Errorf("%q is %d, and %d, %v by strconv", text, got, want, err)
			}
		}
		if got, ok := number.Float([]byte(text)); ok {
			if want, err := strconv.ParseFloat(text, 64); err != nil || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%q is %v, and %v, %v by strconv", text, got, want, err)
			}
		}
	})
}

func TestBool(t *testing.T) {
	for text, want := range map[string]int64{"t": 1, "True": 1, "FALSE": 0, "yes": -1, "": -1, "1": -1} {
		if got, ok := number.Bool([]byte(text)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %d, %v", text, got, ok)
		}
	}
}
