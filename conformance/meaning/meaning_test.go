package meaning

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/query"
)

const small = `
# a comment
load
  cpu,host=a\ b,rack=1 usage=1i,up=t 2016-01-01T00:00:00Z
query Rows
  shape  rows
  fields usage up
  tag    host
`

// An error in a document is reported with its line.
func TestErrorsNameTheLine(t *testing.T) {
	for _, test := range []struct{ text, line, says string }{
		{"loads\n", "1", `no section "loads"`},
		{"load\n  cpu,host=a usage=1i\n", "2", "a row is"},
		{"load\n  cpu,host=a usage=1i yesterday\n", "2", `"yesterday" is not a time`},
		{"load\n  cpu,host=a usage=much 2016-01-01T00:00:00Z\n", "2", "field usage"},
		{"load\n  cpu usage=1i 2016-01-01T00:00:00Z\n  cpu usage=1.5 2016-01-01T00:00:00Z\n", "3", "was int before"},
		{"expect\n", "1", "precedes any query"},
		{small, "5", `"Rows" expects nothing`},
		{small + "  limit 3\nexpect\n", "10", `shape "rows" has no limit`},
		{small + "  order sideways\nexpect\n", "10", "not asc or desc"},
		{small + "  tag rack\n", "9", "tag is there twice"},
		{small + "  start noon\nexpect\n", "10", "not a time"},
		{small + "  where zone eu\nexpect\n", "10", `no tag "zone"`},
		{small + "expect\n  time host usage\n", "10", `not ["time" "host" "usage"]`},
		{small + "expect\n  time host usage up\n  2016-01-01T00:00:00Z a 1\n", "11", "3 values in place of 4"},
		{small + "expect\n  time host usage up\n  2016-01-01T00:00:00Z a 1.5 true\n", "11", "usage"},
		{strings.Replace(small, "rows\n", "circle\n", 1) + "expect\n", "9", `no shape "circle"`},
	} {
		_, err := Parse("x.test", test.text)
		if err == nil || !strings.HasPrefix(err.Error(), "x.test:"+test.line+": ") || !strings.Contains(err.Error(), test.says) {
			t.Errorf("error %v, want line %s and %q, of\n%s", err, test.line, test.says, test.text)
		}
	}
}

// An answer is compared with the document, also with several correct answers
// and with rows that merge.
func TestCheck(t *testing.T) {
	const answer = "  time host usage up\n  2016-01-01T00:00:00Z \"a b\" %d true\n"
	d, err := Parse("x.test", small+"expect\n"+fmt.Sprintf(answer, 1)+"or\n"+fmt.Sprintf(answer, 2)+"merged\n"+fmt.Sprintf(answer, 3))
	if err != nil {
		t.Fatal(err)
	}
	for usage := range int64(5) {
		row := []query.Value{{Kind: query.Time, Int: 1451606400e9}, {Kind: query.Text, Text: []byte("a b")}, {Kind: query.Int, Int: usage}, {Kind: query.Bool, Int: 1}}
		for merges, want := range map[bool]bool{false: usage == 1 || usage == 2, true: usage == 3} {
			problem := d.Check(&d.Cases[0], &query.Answer{Rows: [][]query.Value{row}}, merges)
			if (problem == "") != want || problem != "" && !strings.HasPrefix(problem, "x.test:5: Rows: ") {
				t.Errorf("usage %d, merging %v: %q", usage, merges, problem)
			}
		}
	}
}
