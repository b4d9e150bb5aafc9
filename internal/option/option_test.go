package option_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/option"
)

// Each type accepts its valid values, and rejects others with uniform messages.
func TestTypes(t *testing.T) {
	for _, c := range []struct {
		of           option.Type
		name         string
		right, wrong []string
		problem      string
	}{
		{option.Type{}, "text", []string{"x", " "}, nil, ""},
		{option.Choice("a", "b"), "choice", []string{"a", "b"}, []string{"c", "A", "a,b", ""}, "must be one of a, b"},
		{option.Boolean("on", "off"), "boolean", []string{"on", "off"}, []string{"true"}, "must be one of on, off"},
		{option.Port(), "port", []string{"1", "65535"}, []string{"0", "65536", "-1", "http"}, "must be a port, from 1 to 65535"},
		{option.Integer(0, 9), "integer", []string{"0", "9"}, []string{"-1", "10", "1.0"}, "must be a whole number from 0 to 9"},
		{option.AtLeast(1), "integer", []string{"1", "100000"}, []string{"0", "one"}, "must be a whole number, 1 or more"},
		{option.AtLeast(1).OrWord("off"), "integer", []string{"1", "off"}, []string{"0", "on"}, "must be a whole number, 1 or more, or off"},
		{option.Duration(), "duration", []string{"1ns", "60s"}, []string{"0s", "-1s", "60"}, "must be a duration above 0, such as 60s"},
		{option.Seconds(time.Minute), "duration", []string{"1m", "12h"}, []string{"59s", "1m0.5s", "12"}, "must be a duration of whole seconds, at least 1m, such as 12h"},
		{option.Microseconds(), "duration", []string{"1us", "250s"}, []string{"0s", "1500ns", "20"}, "must be a duration of whole microseconds above 0, such as 20s"},
		{option.Number(-5, 1e6), "number", []string{"-5", "0.1", "1000000"}, []string{"-6", "1e7", "NaN", "10%"}, "must be a number from -5 to 1000000"},
		{option.Numbers(0, 10), "numbers", []string{"0", "0.5..0.5", "1..10"}, []string{"2..1", "11", "1..", "NaN", "1..NaN"}, "must be a number from 0 to 10, or a range of them, such as 0..10"},
		{option.Durations(time.Second, 2*time.Hour), "durations", []string{"1s", "10m..2h"}, []string{"6", "2h..1h", "1ms", "3h"}, "must be a duration from 1s to 2h, or a range of them, such as 10m..6h"},
		{option.Shares("a", "b"), "shares", []string{"1", "0:2.5"}, []string{"0:0", "1:1:1", "-1", "x", "1:", ""}, "must be shares such as 1:0:2, from 0 on and not all 0, of a:b"},
		{option.Size(), "size", []string{"4GB", "1.5 gib", "80%"}, []string{"4", "GB", "4XB", "1.2.3MB"}, "must be a size with its unit, such as 512MB or 4GiB"},
	} {
		if c.of.String() != c.name {
			t.Errorf("%s is called %s", c.name, c.of)
		}
		for _, v := range c.right {
			if err := c.of.Check(v); err != nil {
				t.Errorf("%s %q: %v", c.name, v, err)
			}
		}
		for _, v := range c.wrong {
			if err := c.of.Check(v); err == nil || err.Error() != c.problem {
				t.Errorf("%s %q: %v, want %s", c.name, v, err, c.problem)
			}
		}
	}
}

func options() []option.Option {
	return []option.Option{
		{Name: "workers", Type: option.AtLeast(1).OrWord("all"), Default: "4"},
		{Name: "wait", Type: option.Duration(), Default: "2s"},
		{Name: "gzip", Type: option.Boolean("yes", "no"), Default: "no"},
		{Name: "share", Type: option.Number(0, 1), Default: "0.25"},
		{Name: "period", Type: option.Durations(1, time.Hour), Default: "1s..2s"},
		{Name: "noise", Type: option.Numbers(0, 1), Default: "0.5"},
		{Name: "weights", Type: option.Shares("a", "b", "c"), Default: "1:3"},
		{Name: "token", Type: option.CheckedBy("token", func(string) error { return strings.NewReader("").UnreadByte() }), Secret: true, Empty: "none is sent"},
	}
}

// Provided values override the defaults and are read as their types.
func TestResolve(t *testing.T) {
	v, err := option.Resolve("x", options(), map[string]string{"gzip": "yes", "token": ""})
	if err != nil {
		t.Fatal(err)
	}
	if v.Int("workers") != 4 || v.Duration("wait") != 2*time.Second || !v.Bool("gzip") || v.Bool("workers") || v.Int("token") != 0 {
		t.Errorf("%v", v)
	}
	from, to := v.Range("period")
	least, most := v.Range("noise")
	if v.Number("share") != 0.25 || from != 1e9 || to != 2e9 || least != 0.5 || most != 0.5 || !slices.Equal(v.Shares("weights"), []float64{0.25, 0.75}) {
		t.Errorf("%v reads as %g, %g to %g, %g to %g, %v", v, v.Number("share"), from, to, least, most, v.Shares("weights"))
	}
}

// Errors name the option, offer a close name, and tell no secret.
func TestResolveWrong(t *testing.T) {
	for name, c := range map[string]struct{ value, problem string }{
		"worker":  {"1", `x has no option "worker"; did you mean "workers"?`},
		"workers": {"0", "x option workers=0: must be a whole number, 1 or more, or all"},
		"wait":    {"", "x option wait=: must be a duration above 0, such as 60s"},
		"token":   {"hush", "x option token="},
	} {
		_, err := option.Resolve("x", options(), map[string]string{name: c.value})
		if err == nil || !strings.HasPrefix(err.Error(), c.problem) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s=%s: %v, want %s", name, c.value, err, c.problem)
		}
	}
}
