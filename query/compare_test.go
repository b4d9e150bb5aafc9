package query_test

import (
	"math"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
)

func columns() []query.Column {
	return []query.Column{{Name: "time", Kind: query.Time}, {Name: "hostname", Kind: query.Text}, {Name: "mean", Kind: query.Float}, {Name: "max", Kind: query.Int}}
}

func row(time int64, host string, mean float64, max int64) []query.Value {
	return []query.Value{{Kind: query.Time, Int: time}, {Kind: query.Text, Text: []byte(host)}, {Kind: query.Float, Float: mean}, {Kind: query.Int, Int: max}}
}

func three() *query.Answer {
	return &query.Answer{Rows: [][]query.Value{row(1, "a", 1.5, 7), row(1, "b", 2.5, 8), row(2, "a", 3.5, 9)}}
}

func TestCompare(t *testing.T) {
	ordered := query.Query{Shape: query.Buckets{GroupBy: "hostname", Order: query.Ascending}}
	for name, test := range map[string]struct {
		change func(*query.Answer)
		want   string // part of the difference; empty: none
	}{
		"the same":          {func(a *query.Answer) {}, ""},
		"within tolerance":  {func(a *query.Answer) { a.Rows[0][2].Float *= 1 + 5e-10 }, ""},
		"integer as double": {func(a *query.Answer) { a.Rows[0][3] = query.Value{Kind: query.Float, Float: 7} }, ""},
		"time as integer": {func(a *query.Answer) {
			for _, row := range a.Rows {
				row[0].Kind = query.Int
			}
		}, ""},
		"integer as time":     {func(a *query.Answer) { a.Rows[0][3].Kind = query.Time }, "wrong max"},
		"beyond tolerance":    {func(a *query.Answer) { a.Rows[0][2].Float *= 1 + 5e-9 }, "wrong mean"},
		"infinite":            {func(a *query.Answer) { a.Rows[0][2].Float = math.Inf(1) }, "wrong mean"},
		"not a number":        {func(a *query.Answer) { a.Rows[0][2].Float = math.NaN() }, "wrong mean"},
		"integer off by one":  {func(a *query.Answer) { a.Rows[2][3].Int++ }, "wrong max"},
		"integer as fraction": {func(a *query.Answer) { a.Rows[0][3] = query.Value{Kind: query.Float, Float: 7.5} }, "wrong max"},
		"NULL":                {func(a *query.Answer) { a.Rows[1][2] = query.Value{} }, "wrong mean"},
		"row missing":         {func(a *query.Answer) { a.Rows = a.Rows[:2] }, "missing; expected (1970-01-01T00:00:00.000000002Z, a, 3.5, 9)"},
		"row too many":        {func(a *query.Answer) { a.Rows = append(a.Rows, row(3, "a", 0, 0)) }, "unexpected; found (1970-01-01T00:00:00.000000003Z"},
		"row twice":           {func(a *query.Answer) { a.Rows = append(a.Rows, row(2, "a", 3.5, 9)) }, "unexpected"},
		"another key":         {func(a *query.Answer) { a.Rows[1][1].Text = []byte("bb") }, "row 2"},
		"wrong order":         {func(a *query.Answer) { a.Rows[0], a.Rows[1] = a.Rows[1], a.Rows[0] }, "wrong order"},
		"column missing":      {func(a *query.Answer) { a.Rows[1] = a.Rows[1][:3] }, "3 columns in place of 4"},
		"empty":               {func(a *query.Answer) { a.Rows = nil }, "row 1 in key order of 3 expected and 0 found: missing"},
	} {
		t.Run(name, func(t *testing.T) {
			found := three()
			test.change(found)
			d := query.Compare(&ordered, columns(), three(), found)
			switch {
			case test.want == "" && d != nil:
				t.Errorf("difference %s, want none", d)
			case test.want != "" && (d == nil || !strings.Contains(d.String(), test.want)):
				t.Errorf("difference %v, want %q", d, test.want)
			}
		})
	}
	unordered := query.Query{Shape: query.Rows{Tag: "hostname"}}
	found := three()
	found.Rows[0], found.Rows[2] = found.Rows[2], found.Rows[0]
	if d := query.Compare(&unordered, columns(), three(), found); d != nil {
		t.Errorf("another order of an unordered answer: %s", d)
	}
}

func digest(rows [][]query.Value) *query.Digest {
	d := query.NewDigest(columns())
	for _, r := range rows {
		_ = d.Row(r)
	}
	return d
}

func TestDigest(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var rows [][]query.Value
	for i := range 1000 {
		rows = append(rows, row(int64(i), strings.Repeat("h", random.Intn(30)), random.Float64(), random.Int63()))
	}
	want := digest(rows)
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if !digest(rows).Equal(want) {
		t.Error("another order gives another digest")
	}
	rows[500][3].Int++
	if digest(rows).Equal(want) {
		t.Error("a changed integer gives the same digest")
	}
	rows[500][3].Int--
	rows[7] = rows[8]
	if digest(rows).Equal(want) {
		t.Error("a row in place of another gives the same digest")
	}
	if digest(rows[:999]).Equal(want) {
		t.Error("a row less gives the same digest")
	}
}

func TestAlign(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	q := query.Query{Shape: query.Buckets{Width: time.Hour}, Start: at("2016-01-01T11:48:31.646325Z"), End: at("2016-01-01T19:48:31.646325Z")}
	q.Align()
	if !q.Start.Equal(at("2016-01-01T11:00:00Z")) || !q.End.Equal(at("2016-01-01T19:00:00Z")) {
		t.Errorf("aligned to %s, %s", q.Start, q.End)
	}
	q = query.Query{Shape: query.Buckets{Width: time.Minute}, End: at("1969-12-31T23:59:30Z")}
	q.Align()
	if !q.Start.IsZero() || !q.End.Equal(at("1969-12-31T23:59:00Z")) {
		t.Errorf("aligned to %s, %s", q.Start, q.End)
	}
}
