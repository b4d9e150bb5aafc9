package griddb_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/replay"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// TestReplayed compares the conversation with a server for a load of some rows, their census, and
// queries of each form, in each layout and over SQL. The conversations of the whole suite would be 50
// MB.
func TestReplayed(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"series": {"layout": "series"}, "table": {"layout": "table"}, "statements": {"aggregate": "statements"}, "sql": {"layout": "table", "language": "sql"},
	} {
		t.Run(name, func(t *testing.T) {
			replay.Run(t, replay.Subject{Driver: griddb.Driver(), Framing: framing{}, Name: name}, func(t *testing.T, d driver.Driver, options map[string]string) {
				maps.Copy(options, settings)
				options["database"], options["in_flight"] = "replay_"+name, "1"
				options["system_port"] = "0"                                  // HTTP, which tells nothing that is measured
				t.Run("talk", func(t *testing.T) { converse(t, d, options) }) // at whose end connections are closed
			})
		})
	}
}

// So is the part of the suite that is about free texts, over each protocol.
func TestReplayedTexts(t *testing.T) {
	for name, settings := range map[string]map[string]string{"texts": {"layout": "series"}, "texts-sql": {"layout": "table", "language": "sql"}} {
		t.Run(name, func(t *testing.T) {
			replay.Run(t, replay.Subject{Driver: griddb.Driver(), Framing: framing{}, Name: name}, func(t *testing.T, d driver.Driver, options map[string]string) {
				maps.Copy(options, settings)
				options["database"], options["in_flight"], options["system_port"] = "replay_"+strings.ReplaceAll(name, "-", "_"), "1", "0"
				t.Run("texts", func(t *testing.T) { conformance.RunTexts(t, d, options) })
			})
		})
	}
}

func converse(t *testing.T, d driver.Driver, settings map[string]string) {
	ctx := t.Context()
	options, err := d.Resolve(settings)
	if err != nil {
		t.Fatal(err)
	}
	db := conformance.OpenAt(t, d, settings)
	table := conformance.Table("usage")
	table.Dense = true // the server may aggregate
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 5}
	if err := session.New(db).Prepare(ctx, schema, session.Mark{Tool: "t"}); err != nil {
		t.Fatal(err)
	}
	w, err := db.NewWriter(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	run := b.Add(table)
	run.Grow(50)
	for i := range 50 {
		run.Series[i], run.Times[i] = uint32(i%5), int64(i)*int64(time.Minute)
		for f := range run.Columns {
			if table.Fields[f].Type.UsesInts() {
				run.Columns[f].Ints[i] = int64(i)
			} else {
				run.Columns[f].Floats[i] = float64(i)
			}
		}
	}
	if _, err := w.Write(ctx, &b); err != nil {
		t.Fatal(err)
	}
	conformance.Close(t, w)
	if c, err := db.Census(ctx, table); err != nil || c.Rows != 50 {
		t.Fatalf("%d rows: %v", c.Rows, err)
	}
	q, err := db.NewQuerier(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	field, tag := table.Fields[0].Name, table.Tags[0].Key
	active := query.Activity{Unit: tag, Width: 10 * time.Minute, Field: field, Compare: query.Greater, Value: 20}
	for _, of := range []struct {
		query.Query
		rows int64
	}{
		{query.Query{Shape: query.Rows{Fields: []string{field}, Tag: tag, Order: query.Ascending}}, 50},
		{query.Query{
			Shape: query.Rows{Fields: []string{field}, Tag: tag}, In: &query.TagIn{Key: tag, Values: []string{"host_1", "host_2"}}, Filter: &query.ValueFilter{Field: field, Value: 15},
			Start: time.Unix(600, 0), End: time.Unix(1800, 0),
		}, 6},
		{query.Query{Shape: query.AnyRows{Fields: []string{field}, Tag: tag, Limit: 4}}, 4},
		{query.Query{Shape: query.RowSet{Fields: []string{field}, Tag: tag, Set: query.Set{Operation: query.Union, Operands: 2}}}, 50},
		{query.Query{Shape: query.Buckets{Aggregate: query.Max, Fields: []string{field}, Width: 20 * time.Minute}, Start: time.Unix(60, 0), End: time.Unix(3600, 0)}, 3},
		{query.Query{Shape: query.Buckets{Aggregate: query.Avg, Fields: []string{field}, Width: 10 * time.Minute, GroupBy: tag, Order: query.Descending, Limit: 7}}, 7},
		{query.Query{Shape: query.Totals{Aggregate: query.Count, Fields: []string{field}, GroupBy: tag}}, 5},
		{query.Query{Shape: query.Last{By: tag, Fields: []string{field}}}, 5},
		{query.Query{Shape: query.Means{Group: []string{table.Tags[1].Key}, Fields: []string{field}}}, 1},
		{query.Query{Shape: query.ActiveHours{Activity: active}}, 5},
		{query.Query{Shape: query.Starts{Activity: active, Group: []string{table.Tags[1].Key}}}, 1},
	} {
		of.Type, of.Table = "q", table.Name
		r, err := d.Render(&of.Query, schema, options)
		if errors.Is(err, query.ErrUnsupported) {
			if _, set := of.Shape.(query.RowSet); !set || options["language"] == "sql" {
				t.Error(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if cost, err := q.Do(ctx, r, nil); err != nil || cost.Rows != of.rows {
			t.Errorf("%T: %d rows, want %d: %v", of.Shape, cost.Rows, of.rows, err)
		}
	}
}
