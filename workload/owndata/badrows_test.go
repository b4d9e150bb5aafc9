package owndata_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/workload"
)

// One pass names the first ten malformed rows of CSV, and counts the others.
func TestMalformedRows(t *testing.T) {
	const value = `is not of type float; correct the line, or give another type in fields`
	rows := func(n int, odd func(i int) string) string {
		return rowsOf("time,host,v", n, func(i int) string {
			if text := odd(i); text != "" {
				return text
			}
			return "h,1.5"
		})
	}
	complete := []string{"time=time", "time-format=rfc3339", "table=t", "delimiter=,", "tags=host", "fields=v:float"}
	for name, c := range map[string]struct {
		text     string
		settings []string
		want     []string // lines; "…" stands for the end of a line
	}{
		"one": {rows(20, func(i int) string { return map[int]string{7: "h,x"}[i] }), complete, []string{`t.csv:9: column v: "x" ` + value}},
		"of several kinds": {strings.Replace(rows(20, func(i int) string { return map[int]string{2: "h,x", 7: "h", 9: "h,y"}[i] }), "2024-01-01T00:00:05Z", "soon", 1), complete, []string{
			`t.csv:4: column v: "x" ` + value, `t.csv:7: column time: "soon" is not a time such as 2006-01-02T15:04:05Z; …`, `t.csv:9: the row has 2 columns, and the header 3; …`, `t.csv:11: column v: "y" ` + value,
		}},
		"of several kinds, proposed": {rows(20, func(i int) string { return map[int]string{2: "h,x", 7: "h"}[i] }), []string{"fields=v:float"}, []string{
			`t.csv:4: column v: "x" ` + value, `t.csv:9: the row has 2 columns, and the header 3; …`,
		}},
		"many": {rows(40, func(i int) string { return map[bool]string{true: "h,x"}[i%3 == 2] }), complete, func() (want []string) {
			for i := range 10 {
				want = append(want, fmt.Sprintf(`t.csv:%d: column v: "x" %s`, 4+3*i, value))
			}
			return append(want, "and 3 more rows")
		}()},
		"all":   {rows(40, func(int) string { return "h,x" }), complete, []string{`t.csv:2: column v: "x" ` + value, "and so are all of the 9 rows behind it"}},
		"times": {strings.NewReplacer("00:00:05Z", "00:00:5Z", "00:00:15Z", "00:00:5Z").Replace(rows(30, func(int) string { return "" })), nil, []string{`t.csv:7: column time: "2024-01-01T00:00:5Z" is not a time, as 28 of 30 values are; …`, `t.csv:17: column time: "2024-01-01T00:00:5Z" is not a time such as 2006-01-02T15:04:05Z`}},
		"times and widths": {strings.Replace(rows(30, func(i int) string { return map[int]string{2: "h"}[i] }), "00:00:05Z", "00:00:5Z", 1), nil, []string{
			`t.csv:4: the row has 2 columns, and the header 3; …`, `t.csv:7: column time: "2024-01-01T00:00:5Z" is not a time, as 28 of 29 values are; …`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "t.csv", c.text)
			_, err := inspect(t, append([]string{"files=" + strconv.Quote(path)}, c.settings...)...)
			var bad *workload.SpecError
			if !errors.As(err, &bad) {
				t.Fatalf("%v is not an error that names a setting", err)
			}
			got := strings.Split(strings.ReplaceAll(bad.Problem, filepath.Dir(path)+"/", ""), "\n")
			if len(got) != len(c.want) {
				t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			for i, want := range c.want {
				if begin, cut := strings.CutSuffix(want, "…"); got[i] != want && !(cut && strings.HasPrefix(got[i], begin)) {
					t.Errorf("got  %s\nwant %s", got[i], want)
				}
			}
		})
	}
}
