package iotdb

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/query"
)

// texts is a sink that keeps rows as a line of text each.
type texts []string

func (t *texts) Row(row []query.Value) error {
	var list []string
	for _, v := range row {
		list = append(list, v.String())
	}
	*t = append(*t, strings.Join(list, " "))
	return nil
}

func text(s string) query.Value      { return query.Value{Kind: query.Text, Text: []byte(s)} }
func real(v float64) query.Value     { return query.Value{Kind: query.Float, Float: v} }
func intValue(n int64) query.Value   { return query.Value{Kind: query.Int, Int: n} }
func timeValue(at int64) query.Value { return query.Value{Kind: query.Time, Int: at * 1e9} }

func TestFold(t *testing.T) {
	last := [][]query.Value{ // time, truck, load, capacity
		{timeValue(1), text("a"), real(95), real(100)},
		{timeValue(3), text("b"), real(95), real(100)},
		{timeValue(2), text("a"), real(10), real(100)},
		{timeValue(4), text("c"), {}, real(100)},
		{timeValue(5), text("d"), real(95), {}},
		{timeValue(9), {}, real(91), real(100)}, // a tag that is missing is a group, and not that of an empty text
		{timeValue(8), text(""), real(92), real(100)},
	}
	sums := [][]query.Value{ // fleet, sum and count of two fields
		{text("x"), real(6), intValue(2), {}, intValue(0)},
		{text("y"), real(1), intValue(1), real(3), intValue(1)},
		{text("x"), real(3), intValue(1), real(8), intValue(4)},
		{text("z"), {}, intValue(0), {}, intValue(0)},
	}
	for name, c := range map[string]struct {
		fold fold
		rows [][]query.Value
		want texts
	}{
		"the newest": {fold{Keys: []int{1}, Width: 3}, last, texts{
			"1970-01-01T00:00:02Z a 10", "1970-01-01T00:00:03Z b 95", "1970-01-01T00:00:04Z c NULL",
			"1970-01-01T00:00:05Z d 95", "1970-01-01T00:00:09Z NULL 91", "1970-01-01T00:00:08Z  92"}},
		"the newest that fulfil a condition": {fold{Keys: []int{1}, Width: 3, Having: &having{At: 2, Over: 3, Compare: query.Greater, Value: 0.9}}, last, texts{
			"1970-01-01T00:00:03Z b 95", "1970-01-01T00:00:09Z NULL 91", "1970-01-01T00:00:08Z  92"}},
		"means":                         {fold{Keys: []int{0}, Width: 3, Means: true}, sums, texts{"x 3 2", "y 1 3", "z NULL NULL"}},
		"means that fulfil a condition": {fold{Keys: []int{0}, Width: 3, Means: true, Having: &having{At: 1, Compare: query.Less, Value: 2}}, sums, texts{"y 1 3"}},
	} {
		var g folded
		for range 2 { // its memory is used again
			var got texts
			g.begin()
			for _, row := range c.rows {
				g.add(&c.fold, row)
			}
			n, err := g.hand(&c.fold, &got)
			if err != nil || int(n) != len(c.want) || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%s: %d rows, %v:\n%s\nwant\n%s", name, n, err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		}
	}
}
