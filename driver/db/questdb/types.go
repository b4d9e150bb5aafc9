package questdb

import (
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// types are the columns of fields. Line protocol cannot write QuestDB's BINARY.
func types() map[series.Type]driver.Stored {
	return map[series.Type]driver.Stored{
		series.Bool:      {As: "BOOLEAN", Mapped: "or " + nullableBool + ", 0 or 1, in a table with NULLs, which BOOLEAN has not"},
		series.Int32:     {As: "INT"},
		series.Int:       {As: "LONG"},
		series.Float32:   {As: "FLOAT"},
		series.Float:     {As: "DOUBLE"},
		series.Text:      {As: "VARCHAR"},
		series.Timestamp: {As: "TIMESTAMP"},
		series.Date:      {As: "DATE"},
		series.Blob:      {As: "VARCHAR", Mapped: "its bytes as a text"},
	}
}

// nullableBool is the type of a boolean that may be NULL.
const nullableBool = "INT"

// nullable reports whether rows of a table may lack a value.
func nullable(t *series.Table) bool { return !t.Dense || t.Widths != nil }
