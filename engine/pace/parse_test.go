package pace_test

import (
	"cmp"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine/pace"
)

func TestParse(t *testing.T) {
	for text, test := range map[string]struct {
		want    pace.Schedule
		printed string // "": as given
	}{
		"1000/s":                     {want: pace.Constant(1000)},
		"0.25/s":                     {want: pace.Constant(0.25)},
		"0010.50/s":                  {want: pace.Constant(10.5), printed: "10.5/s"},
		"ramp:100..5000/s:1m0s":      {want: pace.Ramp{100, 5000, time.Minute}},
		"ramp:100/s..0/s:60s":        {want: pace.Ramp{100, 0, time.Minute}, printed: "ramp:100..0/s:1m0s"},
		"steps:100/s:10s,0/s:500ms":  {want: pace.Steps{{100, 10 * time.Second}, {0, 500 * time.Millisecond}}},
		"poisson:1000/s":             {want: pace.Poisson{Rate: 1000}},
		"poisson:0.5/s:7":            {want: pace.Poisson{Rate: 0.5, Seed: 7}},
		"poisson:1000000000/s:00":    {want: pace.Poisson{Rate: 1e9}, printed: "poisson:1000000000/s"},
		"steps:0.000001/s:9999h0m0s": {want: pace.Steps{{1e-6, 9999 * time.Hour}}},
	} {
		got, err := pace.Parse(text)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: %#v, error %v; want %#v", text, got, err, test.want)
			continue
		}
		if want := cmp.Or(test.printed, text); got.String() != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}

// An error quotes the mistake and describes the expected form.
func TestParseErrors(t *testing.T) {
	const rate = "want a number from 0.000001 to 1000000000 and /s, such as 1000/s"
	const held = "want one above 0 and up to 10000h0m0s, with its unit, such as 10s or 1h30m"
	for text, want := range map[string]string{
		"":                             `want 1000/s, ramp:100..5000/s:60s, steps:100/s:10s,200/s:10s or poisson:1000/s`,
		"1000":                         `want 1000/s, ramp:100..5000/s:60s, steps:100/s:10s,200/s:10s or poisson:1000/s`,
		"0/s":                          `rate "0/s": ` + rate,
		"-1/s":                         `rate "-1/s": ` + rate,
		"1e3/s":                        `rate "1e3/s": ` + rate,
		"NaN/s":                        `rate "NaN/s": ` + rate,
		"2000000000/s":                 `rate "2000000000/s": ` + rate,
		"ramp:1..5/s":                  `want two rates and a time, such as ramp:100..5000/s:60s`,
		"ramp:1/s:5s":                  `want two rates and a time, such as ramp:100..5000/s:60s`,
		"ramp:x..5/s:5s":               `rate "x/s": ` + rate,
		"ramp:1..5:5s":                 `rate "5": ` + rate,
		"ramp:0..0/s:5s":               `both rates are 0: nothing would arrive`,
		"ramp:0..1/s:0s":               `time "0s": ` + held,
		"ramp:0..1/s:60":               `time "60": ` + held,
		"steps:":                       `step "": want a rate and a time, such as 100/s:10s`,
		"steps:1/s:1s,":                `step "": want a rate and a time, such as 100/s:10s`,
		"steps:1:1s":                   `rate "1": ` + rate,
		"steps:0/s:1s":                 `all rates are 0: nothing would arrive`,
		"steps:1/s:9000h,1/s:1000h1ns": `the steps take longer than 10000h0m0s`,
		"poisson:0/s":                  `rate "0/s": ` + rate,
		"poisson:5/s:":                 `seed "": want a whole number from 0 to 18446744073709551615`,
		"poisson:5/s:-1":               `seed "-1": want a whole number from 0 to 18446744073709551615`,
	} {
		s, err := pace.Parse(text)
		if want = `schedule "` + text + `": ` + want; err == nil || err.Error() != want || s != nil {
			t.Errorf("%q: %v, error\n%v; want\n%v", text, s, err, want)
		}
	}
}

// FuzzParse checks that accepted schedules survive printing and parsing and have arrivals in order,
// and that errors are one line.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"1000/s", "0.1/s", "ramp:0..5000/s:60s", "ramp:10..0/s:1ns", "steps:100/s:10s,0/s:1s,200/s:10s", "poisson:1000/s:7",
		"steps:", "ramp:..:", "1/s\n", "poisson:1_0/s",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := pace.Parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("the error has more than one line: %q", err)
			}
			return
		}
		again, err := pace.Parse(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%q is printed as %q, which is %#v, error %v", text, s, again, err)
		}
		last := time.Duration(0)
		for _, due := range take(s, 1000) {
			if due < last {
				t.Fatalf("%v: an arrival at %v after one at %v", s, due, last)
			}
			last = due
		}
	})
}
