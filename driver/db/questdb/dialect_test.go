package questdb

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The texts in testdata/queries.sql are written again by
//
//	go test ./driver/db/questdb -update
var update = flag.Bool("update", false, "write the texts of queries instead of comparing with them")

func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.sql", *update) }

func TestBucket(t *testing.T) {
	for width, want := range map[time.Duration]string{
		time.Minute:            "timestamp_floor('1m', x)",
		90 * time.Second:       "timestamp_floor('90s', x)",
		12 * time.Hour:         "timestamp_floor('12h', x)",
		7 * 24 * time.Hour:     "timestamp_floor('7d', x)",
		250 * time.Microsecond: "timestamp_floor('250U', x)",
	} {
		if got := bucket(width, "x"); got != want {
			t.Errorf("%v: got %s, want %s", width, got, want)
		}
	}
}

// TestNamesOfAQuery checks that a query uses the names under which QuestDB stores tables and columns,
// in every clause.
func TestNamesOfAQuery(t *testing.T) {
	schema := &series.Schema{Tables: []*series.Table{{
		Name:   "it's",
		Tags:   []series.Tag{{Key: "data-center"}, {Key: "w.t", Type: series.Float}},
		Fields: []series.Field{{Name: "a.b", Type: series.Int}},
	}}}
	q := query.Query{Table: "it's", Present: []string{"w.t"}, In: &query.TagIn{Key: "w.t", Values: []string{"0.5"}}, Filter: &query.ValueFilter{Field: "a.b", Value: 1.5}, Shape: query.Last{By: "data-center", Tags: []string{"w.t"}, Fields: []string{"a.b"}, Having: &query.RatioCondition{Condition: query.Condition{Field: "a.b", Value: 2}, Over: "w.t"}}}
	want := `SELECT timestamp, data_center, w_t, a_b
FROM (
SELECT
  timestamp,
  data_center,
  w_t,
  a_b,
  w_t AS divisor
FROM it_s
WHERE w_t IN (0.5e0)
  AND data_center IS NOT NULL
  AND a_b > 1
LATEST ON timestamp PARTITION BY data_center
) AS newest_rows
WHERE a_b / divisor > 2e0`
	if got, err := render(&q, schema, nil); err != nil || got.Text != want {
		t.Errorf("%v, got:\n%s\nwant:\n%s", err, got.Text, want)
	}
}

// What QuestDB 9.3 gets wrong is written in another way: a symbol with a quote
// under LATEST ON or with an index, and the bound that it takes for NULL.
func TestAroundFaults(t *testing.T) {
	schema := &series.Schema{Tables: []*series.Table{{
		Name: "t", Tags: []series.Tag{{Key: "host"}}, Fields: []series.Field{{Name: "n", Type: series.Int}},
	}}}
	last := query.Query{Table: "t", In: &query.TagIn{Key: "host", Values: []string{"a", "o'b"}}, Filter: &query.ValueFilter{Field: "n", Value: -1 << 63}, Shape: query.Last{By: "host", Fields: []string{"n"}}}
	buckets := last
	buckets.Shape = query.Buckets{Aggregate: query.Max, Fields: []string{"n"}, Width: time.Hour, GroupBy: "host"}
	for q, want := range map[*query.Query]string{
		&last:    "WHERE host::varchar IN ('a', 'o''b')\n  AND n IS NOT NULL\n",
		&buckets: "WHERE host IN ('a', 'o''b')\n  AND n IS NOT NULL\n",
	} {
		if got, err := render(q, schema, nil); err != nil || !strings.Contains(got.Text, want) {
			t.Errorf("%v, got:\n%s\nwant:\n%s", err, got.Text, want)
		}
	}
	if got, err := render(&buckets, schema, driver.Options{optionIndex: "true"}); err != nil || !strings.Contains(got.Text, "WHERE host::varchar IN ('a', 'o''b')") {
		t.Errorf("with an index: %v, got:\n%s", err, got.Text)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][2]string{ // as table, as column
		"cpu":      {"cpu", "cpu"},
		"my-t.b c": {"my-t.b c", "my_t_b c"},
		"a..b":     {"a__b", "a__b"},
		" .x. ":    {"__x__", " _x_ "},
		"...":      {"___", "___"},
		"é\x00'":   {"é__", "é__"},
		"":         {"", ""},
	} {
		if got := [2]string{tableName(name), columnName(name)}; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
