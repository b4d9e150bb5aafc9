package target_test

import (
	"testing"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
)

// Only what a dataset has and the system has not is told.
func TestMapped(t *testing.T) {
	kind := target.Kind{Types: func(o target.Options) map[series.Type]target.Held {
		return map[series.Type]target.Held{
			series.Bool: {As: "INTEGER", Mapped: "0 or " + o["true"]}, series.Int: {As: "INTEGER"},
			series.Date: {As: "INTEGER", Mapped: "its days"}, series.Blob: {As: "TEXT", Mapped: "a text"},
		}
	}}
	schema := &series.Schema{Tables: []*series.Table{
		{Fields: []series.Field{{Type: series.Date}, {Type: series.Int}}}, {Fields: []series.Field{{Type: series.Bool}, {Type: series.Date}}},
	}}
	want := "bool as INTEGER, 0 or 1; date as INTEGER, its days"
	if got := kind.Mapped(schema, target.Options{"true": "1"}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := kind.Mapped(nil, nil); got != "" {
		t.Errorf("of no schema: %s", got)
	}
}
