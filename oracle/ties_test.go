package oracle_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/meaning"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// If rows share the newest time of a group, any one of them is correct as a whole: with and without
// windows, and while the dataset grows. A query without such rows has one correct answer.
func TestTies(t *testing.T) {
	s := spec(60, 10*time.Minute)
	d, err := tsbs.CPUOnly().Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	fields := []string{"usage_user", "usage_system"}
	byHost := query.Query{Type: "by-host", Table: "cpu", Shape: query.Last{By: "hostname", Fields: fields}}
	byRegion := query.Query{Type: "by-region", Table: "cpu", Shape: query.Last{By: "region", Fields: fields}}
	windowed := byRegion
	windowed.Start, windowed.End = s.Start.Add(time.Minute), s.Start.Add(2*time.Minute)
	all := []query.Query{byHost, byRegion, windowed}
	pass, err := oracle.Pass(t.Context(), d, all, slices.Values(all), ignore)
	if err != nil {
		t.Fatal(err)
	}
	if x := pass.Full[0]; x.Choices != nil || x.Rows != 60 {
		t.Errorf("by host there are %d rows and choices: %v", x.Rows, x.Choices != nil)
	}
	hosts := query.Query{Table: "cpu", Shape: query.Last{By: "hostname", Tags: []string{"region"}, Fields: fields}}
	for i, end := range []time.Time{1: s.End, 2: windowed.End} {
		if i == 0 {
			continue
		}
		x := pass.Full[i]
		hosts.End = end
		newest, err := oracle.Rows(t.Context(), d, &hosts)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string][][]query.Value{} // rows of each region
		for _, row := range newest.Rows {
			region := row[2].String()
			of[region] = append(of[region], []query.Value{row[0], row[2], row[3], row[4]})
		}
		columns := x.Query.Columns(d.Schema().Table("cpu"))
		if int(x.Rows) != len(of) || int(pass.Counted[i]) != len(of) || len(x.Choices) != len(of) {
			t.Fatalf("%d rows, %d counted, %d choices of %d regions", x.Rows, pass.Counted[i], len(x.Choices), len(of))
		}
		differs := func(pick func(region string, rows [][]query.Value) [][]query.Value) bool {
			var a query.Answer
			for region, rows := range of {
				for _, row := range pick(region, rows) {
					a.Rows = append(a.Rows, slices.Clone(row))
				}
			}
			return query.CompareChoices(x.Query, columns, x.Choices, &a) != nil
		}
		for n := range 30 {
			if differs(func(_ string, rows [][]query.Value) [][]query.Value { return rows[n%len(rows):][:1] }) {
				t.Fatalf("query %d: the %d-th newest row of each region is wrong", i, n)
			}
		}
		wrong := ""
		for region, rows := range of {
			if len(rows) > 1 && rows[0][2].Int != rows[1][2].Int && rows[0][3].Int != rows[1][3].Int {
				wrong = region
			}
		}
		for name, change := range map[string]func(rows [][]query.Value) [][]query.Value{
			"values of two rows": func(rows [][]query.Value) [][]query.Value {
				return [][]query.Value{{rows[0][0], rows[0][1], rows[0][2], rows[1][3]}}
			},
			"an older time": func(rows [][]query.Value) [][]query.Value {
				old := slices.Clone(rows[0])
				old[0].Int -= int64(10 * time.Second)
				return [][]query.Value{old}
			},
			"a group twice": func(rows [][]query.Value) [][]query.Value { return rows[:2] },
			"a group less":  func(rows [][]query.Value) [][]query.Value { return nil },
			"another region": func(rows [][]query.Value) [][]query.Value {
				row := slices.Clone(rows[0])
				row[1] = query.Value{Kind: query.Text, Text: []byte("nowhere")}
				return [][]query.Value{row}
			},
		} {
			if !differs(func(region string, rows [][]query.Value) [][]query.Value {
				if region == wrong {
					return change(rows)
				}
				return rows[:1]
			}) {
				t.Errorf("query %d: %s counts as right", i, name)
			}
		}
	}
}

// A pass accepts every answer that the documentation calls correct if there are several.
func TestTiesOfDocuments(t *testing.T) {
	documents, err := meaning.Documents()
	if err != nil {
		t.Fatal(err)
	}
	tied := 0
	for _, d := range documents {
		for i := range d.Cases {
			c := &d.Cases[i]
			if _, last := c.Query.Shape.(query.Last); !last || len(c.Answers()) < 2 {
				continue
			}
			pass, err := oracle.Pass(t.Context(), d, []query.Query{c.Query}, nil, ignore)
			if err != nil {
				t.Fatal(err)
			}
			columns := c.Query.Columns(d.Schema().Table(c.Query.Table))
			for n, right := range c.Answers() {
				tied++
				if diff := query.CompareChoices(&c.Query, columns, pass.Full[0].Choices, &right); diff != nil {
					t.Errorf("%s:%d: %s: answer %d: %v", d.Name, c.Line, c.Name, n+1, diff)
				}
			}
		}
	}
	if tied < 4 {
		t.Errorf("only %d answers of documents were compared", tied)
	}
}

// Where one of the newest rows of a group fulfils the query's condition and another does not,
// the group may be in the answer or not, and nobody counts the rows.
func TestTiesWithCondition(t *testing.T) {
	s := spec(60, 10*time.Minute)
	d, err := tsbs.CPUOnly().Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	q := query.Query{Type: "having", Table: "cpu", Shape: query.Last{By: "region", Fields: []string{"usage_user"}, Having: &query.RatioCondition{
		Condition: query.Condition{Field: "usage_user", Compare: query.Greater, Value: 50},
	}}}
	pass, err := oracle.Pass(t.Context(), d, []query.Query{q}, slices.Values([]query.Query{q}), ignore)
	if err != nil {
		t.Fatal(err)
	}
	x := pass.Full[0]
	columns := q.Columns(d.Schema().Table("cpu"))
	var some, none query.Answer
	for _, c := range x.Choices {
		some.Rows = append(some.Rows, slices.Clone(c.Rows[0]))
		if !c.Optional {
			none.Rows = append(none.Rows, slices.Clone(c.Rows[0]))
		}
	}
	if len(none.Rows) == len(some.Rows) || pass.Counted[0] != oracle.AnyNumber {
		t.Fatalf("no group may be missing, or rows were counted: %d, %d, %d", len(none.Rows), len(some.Rows), pass.Counted[0])
	}
	for _, a := range []*query.Answer{&some, &none} {
		if diff := query.CompareChoices(&q, columns, x.Choices, a); diff != nil {
			t.Errorf("with %d rows: %v", len(a.Rows), diff)
		}
	}
}

// The mean of a bucket that equals the limit may be slightly less or more in another order of summation, so the bucket
// may be counted or not. Any other number of buckets is wrong. The status of iot's trucks is an integer, so that such
// buckets occur.
func TestBorderlineBuckets(t *testing.T) {
	s := spec(50, 24*time.Hour)
	s.Name = "iot"
	d, err := tsbs.IoT().Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	sequence, err := tsbs.IoT().Queries(s, "daily-activity", 1)
	if err != nil {
		t.Fatal(err)
	}
	full := slices.Collect(sequence)
	pass, err := oracle.Pass(t.Context(), d, full, nil, ignore)
	if err != nil {
		t.Fatal(err)
	}
	x, several := pass.Full[0], 0
	columns := full[0].Columns(d.Schema().Table(full[0].Table))
	share := len(columns) - 1
	differs := func(a *query.Answer) bool { return query.CompareChoices(x.Query, columns, x.Choices, a) != nil }
	computed := func() *query.Answer {
		a := &query.Answer{}
		for _, row := range x.Answer.Rows {
			a.Rows = append(a.Rows, slices.Clone(row))
		}
		return a
	}
	if differs(computed()) {
		t.Error("the answer with exact means is wrong")
	}
	for i := range x.Choices {
		c := &x.Choices[i]
		if len(c.Rows) == 1 {
			continue
		}
		several++
		at := slices.IndexFunc(x.Answer.Rows, func(row []query.Value) bool { return query.CompareRows(row, c.Rows[0]) == 0 })
		for _, other := range c.Rows {
			a := computed()
			a.Rows[at] = slices.Clone(other)
			if differs(a) {
				t.Errorf("wrong: %s", query.RowText(other))
			}
			largest := slices.MaxFunc(c.Rows, query.CompareRows)
			a.Rows[at][share].Float = largest[share].Float + 1./144
			if !differs(a) {
				t.Error("one bucket more than are active or borderline counts as right")
			}
		}
	}
	if several == 0 {
		t.Error("no group has a borderline bucket")
	}
}
