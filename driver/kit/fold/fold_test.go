package fold_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/kit/fold"
	"github.com/tsmark/tsmark/query"
)

const hour = int64(time.Hour)

// foldRows gives the rows of series, each a time in hours and a number (NULL where there is
// none), to a query that folds the field f of series with the tags group and unit.
func foldRows(t *testing.T, shape query.Shape, of map[[2]string][][2]any) []string {
	t.Helper()
	keys := []string{"group", "unit"}
	p, fields, err := fold.New(&query.Query{Type: "q", Shape: shape}, "it", func(key string) int { return slices.Index(keys, key) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(fields, []string{"f"}) {
		t.Errorf("it is about the fields %q", fields)
	}
	var answer query.Answer
	c := fold.Collect(&p, &answer)
	for tags, rows := range of {
		values := []query.Value{{Kind: query.Text, Text: []byte(tags[0])}, {Kind: query.Text, Text: []byte(tags[1])}}
		take := func(row []query.Value) error { return c.Take(values, row) }
		row := func(r [2]any) []query.Value {
			v := query.Value{}
			if n, ok := r[1].(float64); ok {
				v = query.Value{Kind: query.Float, Float: n}
			}
			return []query.Value{{Kind: query.Time, Int: int64(r[0].(float64) * float64(hour))}, v}
		}
		if p.Fold == nil {
			for _, r := range rows {
				if err := take(row(r)); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		err := p.Fold.Aggregates(func(yield func([]query.Value) bool) {
			for _, r := range rows {
				if !yield(row(r)) {
					return
				}
			}
		}, take)
		if err != nil {
			t.Fatal(err)
		}
	}
	n, err := c.Finish()
	if err != nil || n != int64(len(answer.Rows)) {
		t.Errorf("%d rows of %d: %v", len(answer.Rows), n, err)
	}
	var shown []string
	for _, row := range answer.Rows {
		shown = append(shown, query.RowText(row))
	}
	slices.Sort(shown)
	return shown
}

// trucks are two, which drive at some hours of two days.
var trucks = map[[2]string][][2]any{
	{"s", "a"}: {{0.0, 9.0}, {0.5, 5.0}, {1.0, 0.0}, {2.0, 8.0}, {3.0, 8.0}, {4.0, 0.0}, {5.0, nil}, {26.0, 8.0}},
	{"s", "b"}: {{0.0, 0.0}, {1.0, 0.0}},
	{"n", "c"}: {{30.0, 0.0}, {31.0, 7.0}, {33.0, 1.0}},
}

func TestActivity(t *testing.T) {
	driving := query.Activity{Unit: "unit", Width: time.Hour, Field: "f", Compare: query.Greater, Value: 3}
	for _, of := range []struct {
		shape query.Shape
		want  []string
	}{
		{query.ActiveUnits{Activity: driving, More: 1}, []string{"a"}},
		{query.ActiveHours{Activity: driving}, []string{"a, 2", "c, 1"}},
		{query.Sessions{Activity: driving}, []string{"1970-01-01T00:00:00Z, a, 7200", "1970-01-02T00:00:00Z, c, 7200"}},
		{query.Starts{Activity: driving, Group: []string{"group"}}, []string{"n, 1", "s, 2"}},
		{query.ActiveShare{Activity: driving, Group: []string{"group"}}, []string{
			"1970-01-01T00:00:00Z, s, 0.125", "1970-01-02T00:00:00Z, n, 0.041666666666666664", "1970-01-02T00:00:00Z, s, 0.041666666666666664"}},
		{query.ActiveUnits{Activity: query.Activity{Unit: "unit", Width: time.Hour, Field: "f", Zeros: true, Compare: query.AtLeast, Value: 1}, More: 1}, []string{"a", "b"}},
	} {
		if got := foldRows(t, of.shape, trucks); !slices.Equal(got, of.want) {
			t.Errorf("%T: %q, want %q", of.shape, got, of.want)
		}
	}
}

func TestAggregates(t *testing.T) {
	for _, of := range []struct {
		shape query.Shape
		want  []string
	}{
		{query.Buckets{Aggregate: query.Max, Fields: []string{"f"}, Width: time.Hour, Order: query.Descending, Limit: 2},
			[]string{"1970-01-02T07:00:00Z, 7", "1970-01-02T09:00:00Z, 1"}},
		{query.Totals{Aggregate: query.Count, Fields: []string{"f"}, GroupBy: "unit"}, []string{"a, 7", "b, 2", "c, 3"}},
		{query.Totals{Aggregate: query.Avg, Fields: []string{"f"}, GroupBy: "group"}, []string{"n, 2.6666666666666665", "s, 4.222222222222222"}},
		{query.UnitMeans{Group: []string{"group"}, Unit: "unit", Fields: []string{"f"}}, []string{"n, 2.6666666666666665", "s, 2.7142857142857144"}},
		{query.Last{By: "unit", Fields: []string{"f"}}, []string{"1970-01-01T01:00:00Z, b, 0", "1970-01-02T02:00:00Z, a, 8", "1970-01-02T09:00:00Z, c, 1"}},
	} {
		if got := foldRows(t, of.shape, trucks); !slices.Equal(got, of.want) {
			t.Errorf("%T: %q, want %q", of.shape, got, of.want)
		}
	}
}

// TestNewest checks that the newest row of each group wins in any order, that a missing tag is a group of
// its own, and that a condition may divide by a tag. The memory of each row is used for the next one.
func TestNewest(t *testing.T) {
	tags := []string{"name", "fleet", "capacity"}
	last := query.Last{By: "name", Tags: []string{"fleet"}, Fields: []string{"load"}}
	loaded := last
	loaded.Having = &query.RatioCondition{Condition: query.Condition{Field: "load", Compare: query.Greater, Value: 0.9}, Over: "capacity"}
	for _, of := range []struct {
		shape query.Last
		want  []string
	}{
		{last, []string{
			"1970-01-01T00:00:02Z, a, x, 10", "1970-01-01T00:00:03Z, b, x, 95", "1970-01-01T00:00:04Z, c, x, NULL",
			"1970-01-01T00:00:05Z, d, x, 95", "1970-01-01T00:00:08Z, , x, 92", "1970-01-01T00:00:09Z, NULL, x, 91"}},
		{loaded, []string{"1970-01-01T00:00:03Z, b, x, 95", "1970-01-01T00:00:08Z, , x, 92", "1970-01-01T00:00:09Z, NULL, x, 91"}},
	} {
		p, _, err := fold.New(&query.Query{Shape: of.shape}, "it", func(key string) int { return slices.Index(tags, key) })
		if err != nil {
			t.Fatal(err)
		}
		var answer query.Answer
		c := fold.Collect(&p, &answer)
		text := []byte("?")
		for _, r := range []struct {
			at             int64
			name           string
			load, capacity float64 // 0: missing
		}{{1, "a", 95, 100}, {3, "b", 95, 100}, {2, "a", 10, 100}, {1, "b", 1, 100}, {4, "c", 0, 100}, {5, "d", 95, 0}, {9, "-", 91, 100}, {8, "", 92, 100}} {
			number := func(v float64) query.Value {
				if v == 0 {
					return query.Value{}
				}
				return query.Value{Kind: query.Float, Float: v}
			}
			text = append(text[:0], r.name...)
			name := query.Value{Kind: query.Text, Text: text}
			if r.name == "-" {
				name = query.Value{}
			}
			row := []query.Value{{Kind: query.Time, Int: r.at * 1e9}, number(r.load)}
			if err := c.Take([]query.Value{name, {Kind: query.Text, Text: []byte("x")}, number(r.capacity)}, row); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Finish(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range answer.Rows {
			got = append(got, query.RowText(row))
		}
		slices.Sort(got)
		if !slices.Equal(got, of.want) {
			t.Errorf("%q, want %q", got, of.want)
		}
	}
}

// What the language has not is said with the reason.
func TestUnsupported(t *testing.T) {
	for _, shape := range []query.Shape{query.RowSet{Fields: []string{"f"}}, query.Buckets{Fields: []string{"f"}, Width: time.Microsecond}} {
		_, _, err := fold.New(&query.Query{Shape: shape}, "it", func(string) int { return 0 })
		if !errors.Is(err, query.ErrUnsupported) {
			t.Error(fmt.Sprint(err))
		}
	}
}
