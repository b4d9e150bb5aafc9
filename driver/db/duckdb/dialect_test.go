package duckdb

import (
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

var update = flag.Bool("update", false, "write the texts of queries instead of comparing with them")

// The golden file is written again by go test ./driver/db/duckdb -run Queries -update.
func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.sql", *update) }

func TestBucket(t *testing.T) {
	for width, want := range map[time.Duration]string{
		time.Minute:            "time_bucket(INTERVAL '60 seconds', time)",
		24 * time.Hour:         "time_bucket(INTERVAL '86400 seconds', time)",
		7 * 24 * time.Hour:     "time_bucket(INTERVAL '604800 seconds', time, TIMESTAMP '1970-01-01')",
		7 * time.Second:        "time_bucket(INTERVAL '7 seconds', time, TIMESTAMP '1970-01-01')",
		250 * time.Microsecond: "time_bucket(INTERVAL '250 microseconds', time)",
	} {
		if got := bucket(width, "time"); got != want {
			t.Errorf("%v: got %s, want %s", width, got, want)
		}
	}
}

// TestRenderNeedsNoDatabase checks that every build of tsmark can render queries, with or without
// DuckDB.
func TestRenderNeedsNoDatabase(t *testing.T) {
	schema := &series.Schema{Tables: []*series.Table{{Name: "order", Fields: []series.Field{{Name: "a", Type: series.Int}}}}}
	q := query.Query{Table: "order", Shape: query.Rows{Fields: []string{"a"}}}
	request, err := Driver().Render(&q, schema, nil)
	want := "SELECT\n  time,\n  a\nFROM \"order\""
	if err != nil || request.Text != want {
		t.Errorf("got %q, %v; want %q", request.Text, err, want)
	}
}

func TestReserved(t *testing.T) {
	for word, want := range map[string]bool{"select": true, "all": true, "with": true, "at": true, "time": false, "cpu": false, "tags": false, "": false, "selec": false} {
		if newDialect().Reserved(word) != want {
			t.Errorf("reserved(%q) = %v", word, !want)
		}
	}
}

// TestReservedWordsAreDuckDBs compares the list of reserved words with DuckDB's own, in builds with
// DuckDB.
func TestReservedWordsAreDuckDBs(t *testing.T) {
	db, err := open(t.Context(), driver.Env{Dir: t.TempDir(), Create: true}, nil)
	switch {
	case errors.Is(err, driver.ErrUnreachable): // this tsmark was built without DuckDB
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	q, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}()
	text := `SELECT string_agg(word, ' ' ORDER BY word) FROM (
		SELECT DISTINCT keyword_name AS word FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function'))`
	var answer query.Answer
	if _, err := q.Do(t.Context(), driver.Request{Text: text}, &answer); err != nil {
		t.Fatal(err)
	}
	if got := " " + answer.Rows[0][0].String() + " "; got != reservedWords {
		t.Errorf("DuckDB reserves%s\nthe list has%s", got, reservedWords)
	}
}
