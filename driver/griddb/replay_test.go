package griddb_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/conformance/replay"
	"github.com/tsmark/tsmark/driver/griddb"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// What is said to a server in a load of some rows, their census and queries of each form,
// in each layout. The whole suite's conversations would be 50 MB.
func TestReplayed(t *testing.T) {
	for _, layout := range []string{"series", "table"} {
		t.Run(layout, func(t *testing.T) {
			replay.Run(t, replay.Subject{Driver: griddb.Driver(), Framing: framing{}, Name: layout}, func(t *testing.T, d driver.Driver, options map[string]string) {
				options["layout"], options["database"], options["in_flight"] = layout, "replay_"+layout, "1"
				options["system_port"] = "0" // HTTP, which tells nothing that is measured
				converse(t, d, options)
			})
		})
	}
}

func converse(t *testing.T, d driver.Driver, given map[string]string) {
	ctx := t.Context()
	options, err := d.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	db := conformance.OpenAt(t, d, given)
	table := conformance.Table("usage")
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 5}
	if err := session.Of(db).Prepare(ctx, schema, session.Mark{Tool: "t"}); err != nil {
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
			if table.Fields[f].Type.Whole() {
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
	for _, of := range []struct {
		shape query.Shape
		rows  int64
	}{
		{query.Rows{Fields: []string{field}, Tag: tag, Order: query.Ascending}, 50},
		{query.Buckets{Aggregate: query.Max, Fields: []string{field}, Width: time.Hour}, 1},
		{query.Totals{Aggregate: query.Count, Fields: []string{field}, GroupBy: tag}, 5},
		{query.Last{By: tag, Fields: []string{field}}, 5},
	} {
		r, err := d.Render(&query.Query{Type: "q", Table: table.Name, Shape: of.shape}, schema, options)
		if err != nil {
			t.Fatal(err)
		}
		if cost, err := q.Do(ctx, r, nil); err != nil || cost.Rows != of.rows {
			t.Errorf("%T: %d rows, want %d: %v", of.shape, cost.Rows, of.rows, err)
		}
	}
}
