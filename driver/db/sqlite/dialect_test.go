package sqlite_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

var update = flag.Bool("update", false, "write the texts of queries instead of comparing with them")

// The golden file is written again by go test ./driver/db/sqlite -run Queries -update.
func TestQueries(t *testing.T) { conformance.Queries(t, sqlite.Driver(), nil, "queries.sql", *update) }

// keywords are all of SQLite's, and names that it gives a meaning of its own.
const keywords = `abort action add after all alter always analyze and as asc attach autoincrement before begin between by
	cascade case cast check collate column commit conflict constraint create cross current current_date current_time
	current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end escape except
	exclude exclusive exists explain fail filter first following for foreign from full generated glob group groups having if
	ignore immediate in index indexed initially inner insert instead intersect into is isnull join key last left like limit
	match materialized natural no not nothing notnull null nulls of offset on or order others outer over partition plan
	pragma preceding primary query raise range recursive references regexp reindex release rename replace restrict returning
	right rollback row rows savepoint select set table temp temporary then ties to transaction trigger unbounded union unique
	update using vacuum values view virtual when where window with without
	true false rowid oid _rowid_ id max avg strict within`

// Every keyword can be the name of a field, a tag and a table.
func TestKeywordsAsNames(t *testing.T) {
	words := strings.Fields(keywords)
	fields := &series.Table{Name: "fields"}
	schema := &series.Schema{Tables: []*series.Table{fields}, Series: 1}
	for _, word := range words {
		fields.Fields = append(fields.Fields, series.Field{Name: word, Type: series.Int})
		table := &series.Table{Name: word, Fields: []series.Field{{Name: "a", Type: series.Int}}}
		if word != "id" { // the series' number
			table.Tags = []series.Tag{{Key: word, Values: conformance.Names{"of " + word}}}
		}
		schema.Tables = append(schema.Tables, table)
	}
	db := open(t, "", "synchronous", "off")
	conformance.Prepare(t, db, 1, schema.Tables...)
	var b series.Batch
	for _, table := range schema.Tables {
		run := b.Add(table)
		run.Grow(1)
		run.Series[0], run.Times[0] = 0, 5
		for c := range run.Columns {
			run.Columns[c].Ints[0] = int64(c)
		}
	}
	conformance.Write(t, db, &b)
	querier := conformance.Querier(t, db) // one that has parsed the schema
	defer conformance.Close(t, querier)
	check := func(q query.Query, want ...any) {
		t.Helper()
		request, err := sqlite.Driver().Render(&q, schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		var answer query.Answer
		if _, err := querier.Do(t.Context(), request, &answer); err != nil {
			t.Fatal(err)
		}
		conformance.CheckRows(t, answer.Rows, conformance.Row(want...))
	}
	for i, word := range words {
		check(query.Query{Table: "fields", Filter: &query.ValueFilter{Field: word, Value: -1}, Shape: query.Rows{Fields: []string{word}}}, 5, i)
		check(query.Query{Table: "fields", Shape: query.Buckets{Aggregate: query.Max, Fields: []string{word}, Width: time.Second}}, 0, i)
		q := query.Query{Table: word, Shape: query.Last{By: word, Fields: []string{"a"}}}
		if word == "id" {
			continue
		}
		check(q, 5, "of "+word, 0)
		q.In = &query.TagIn{Key: word, Values: []string{"of " + word}}
		check(q, 5, "of "+word, 0)
		q.Shape = query.Rows{Fields: []string{"a"}}
		check(q, 5, 0)
	}
}
