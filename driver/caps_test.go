package driver_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// Only what a dataset has and the system has not is told.
func TestMapped(t *testing.T) {
	caps := driver.Caps{Types: map[series.Type]driver.Stored{
		series.Bool: {As: "INTEGER", Mapped: "0 or 1"}, series.Int: {As: "INTEGER"},
		series.Date: {As: "INTEGER", Mapped: "its days"}, series.Blob: {As: "TEXT", Mapped: "a text"},
	}}
	schema := &series.Schema{Tables: []*series.Table{
		{Fields: []series.Field{{Type: series.Date}, {Type: series.Int}}}, {Fields: []series.Field{{Type: series.Bool}, {Type: series.Date}}},
	}}
	want := "bool as INTEGER, 0 or 1; date as INTEGER, its days"
	if got := caps.MappedTypes(schema); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := caps.MappedTypes(nil); got != "" {
		t.Errorf("of no schema: %s", got)
	}
}
