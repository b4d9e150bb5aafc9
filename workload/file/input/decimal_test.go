package input

import (
	"strconv"
	"testing"
)

func TestDecimals(t *testing.T) {
	for text, want := range map[string]string{
		"0,5": ",", "1,234": "", "1.234": "", "1234,567": ",", "0,123": ",", "1.234,5": ",", "1,234.5": ".", "-0.5": ".", "1.2.3,4": "", "12.5": ".", "1.234.567": "", "": "", ",5": "", "5,": "", "a,5": "", "1,-5": "", "10.0.0.1": "",
	} {
		if got := DecimalOf([]byte(text)); got != 0 && string(got) != want || got == 0 && want != "" {
			t.Errorf("DecimalOf(%q) is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"0,5": "0.5", "1.234,5": "1234.5", "1.234": "1234", "-12.345.678,25": "-12345678.25", "1,5e3": "1.5e3", "7": "7", "1.5": "refused", "12.34,5": "12.34,5", "a.b,c": "a.b,c", "": "", "5,": "5,", "01.02.2024": "01.02.2024",
	} {
		got, ok := AppendPoint(nil, []byte(text))
		if !ok {
			got = []byte("refused")
		}
		if string(got) != want {
			t.Errorf("AppendPoint(%q) is %q, want %q", text, got, want)
		}
	}
}

// Numbers that strconv reads come back as they were, with commas in place of points.
func FuzzDecimals(f *testing.F) {
	f.Add(1234.5)
	f.Fuzz(func(t *testing.T, v float64) {
		text := []byte(strconv.FormatFloat(v, 'f', -1, 64))
		comma := make([]byte, len(text))
		for i, b := range text {
			if comma[i] = b; b == '.' {
				comma[i] = ','
			}
		}
		if got, ok := AppendPoint(nil, comma); !ok || string(got) != string(text) {
			t.Errorf("%q is %q, %v", comma, got, ok)
		}
	})
}
