package monitor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	text := `# HELP node_cpu_seconds_total Seconds.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="user"} 12.5
plain 3 1700000000000
  spaced{ a = "x" , b="y", } 1e3
odd{path="C:\\data \"}\"\n",empty=""} NaN
none{} +Inf
exemplar{le="1"} 4 # {trace="abc"} 0.5
`
	var got []string
	err := scan(strings.NewReader(text), func(s sample) {
		got = append(got, fmt.Sprintf("%s %g %q %q %q", s.name, s.value, s.label("mode"), s.label("path"), s.label("b")))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`node_cpu_seconds_total 12.5 "user" "" ""`, `plain 3 "" "" ""`, `spaced 1000 "" "" "y"`,
		`odd NaN "" "C:\\data \"}\"\n" ""`, `none +Inf "" "" ""`, `exemplar 4 "" "" ""`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestScanNamesTheLine(t *testing.T) {
	for _, bad := range []string{"<html>", "name", "name{", `name{a="b" 1`, `name{a=b} 1`, `name{a="b\`, "name x", `{a="b"} 1`, `name{=} 1`} {
		err := scan(strings.NewReader("ok 1\n\n"+bad+"\n"), func(sample) {})
		if err == nil || !strings.Contains(err.Error(), "line 3 ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	err := scan(strings.NewReader("ok 1\nlong "+strings.Repeat("1", 2<<20)), func(sample) {})
	if err == nil || !strings.Contains(err.Error(), "after line 1") {
		t.Errorf("a line without end: %v", err)
	}
}

// FuzzScan: whatever is scanned can be written again and scanned to the same.
func FuzzScan(f *testing.F) {
	f.Add("a 1\n")
	f.Add(`a{b="c",d="\"\\\n"} NaN 17`)
	f.Add("a{} -Inf # x\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		var first []sample
		if scan(strings.NewReader(text), func(s sample) { first = append(first, s) }) != nil {
			return
		}
		var b strings.Builder
		for _, s := range first {
			fmt.Fprintf(&b, "%s{%s} %g\n", s.name, s.labels, s.value)
			for rest, steps := s.labels, 0; rest != ""; steps++ {
				var ok bool
				if _, _, rest, ok = cutLabel(rest); !ok || steps > len(s.labels) {
					t.Fatalf("labels %q were accepted and cannot be read", s.labels)
				}
			}
		}
		var second []sample
		if err := scan(strings.NewReader(b.String()), func(s sample) { second = append(second, s) }); err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		if len(first) != len(second) {
			t.Fatalf("%d samples became %d", len(first), len(second))
		}
		for i, s := range first {
			same := s.value == second[i].value || math.IsNaN(s.value) && math.IsNaN(second[i].value)
			if s.name != second[i].name || s.labels != second[i].labels || !same {
				t.Fatalf("%+v became %+v", s, second[i])
			}
		}
	})
}
