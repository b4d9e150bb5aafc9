package experiment

import (
	"strings"
	"testing"
)

// A run is checked against the expected values that it knows, and no others.
func TestCheckExpected(t *testing.T) {
	const a, b = "0123456789abcdef", "fedcba9876543210"
	for name, c := range map[string]struct {
		expect  string
		dataset string
		queries map[string]string
		want    string // in the error; empty: none
	}{
		"nothing expected": {"", a, map[string]string{"x": a}, ""},
		"the same":         {"expect: {dataset: " + a + ", queries: {x: " + a + "}}", a, map[string]string{"x": a}, ""},
		"another dataset":  {"expect: {dataset: " + a + "}", b, nil, "e.yaml:1:19: expect.dataset: another dataset: fingerprint " + b + ", expected " + a},
		"other queries":    {"expect: {queries: {x: " + a + ", y: " + a + "}}", b, map[string]string{"x": a, "y": b}, "expect.queries.y: other queries of y"},
		"not run":          {"expect: {queries: {x: " + a + "}}", b, map[string]string{"y": b}, ""},
		"not known":        {"expect: {dataset: " + a + "}", "", nil, ""},
		"only digits":      {"expect: {dataset: 0123456789012345}", "0123456789012345", nil, ""},
	} {
		e, err := Parse("e.yaml", []byte(c.expect+"\ntargets: [{driver: x}]"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := e.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text, err := Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("e.yaml", text)
		if err != nil || again.Expect.Dataset != e.Expect.Dataset {
			t.Errorf("%s: written as\n%s (%v)", name, text, err)
		}
		err = e.CheckExpected(c.dataset, c.queries)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestOther(t *testing.T) {
	x := Expect{Tsmark: "v1", Commit: "abc", Targets: Options{"pg": "17"}}
	for want, got := range map[string]string{
		"": x.OtherTool("v1", "abc") + x.OtherTarget("pg", "17") + x.OtherTarget("duck", "1") + (&Expect{}).OtherTool("v2", ""),
		"tsmark v1, commit abc; this is tsmark v1, commit unknown": x.OtherTool("v1", ""),
		"version 17 of target pg; this is 18":                      x.OtherTarget("pg", "18"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
