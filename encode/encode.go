// Package encode turns batches into the bytes of a format: what TSBS's
// generator would have written, byte for byte.
package encode

import (
	"fmt"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
)

// Encoder writes the rows of one schema in one format. It is safe for
// concurrent use.
type Encoder interface {
	// AppendHeader appends what stands before the first row; often nothing.
	AppendHeader(dst []byte) []byte
	// Append appends all rows of the batch in their order. It allocates only
	// to make dst larger.
	Append(dst []byte, b *series.Batch) []byte
}

// Format is a file format by its TSBS name.
type Format struct {
	Name string
	Help string
	New  func(*series.Schema) Encoder
}

// Formats lists the formats.
func Formats() []Format {
	return []Format{
		{"influx", "line protocol: measurement,tags fields nanoseconds", NewLineProtocol},
		{"questdb", "as influx", NewLineProtocol},
		{"victoriametrics", "as influx", NewLineProtocol},
		{"timescaledb", "TSBS's pairs of tag and value lines after a header", NewTimescaleDB},
		{"clickhouse", "as timescaledb", NewTimescaleDB},
		{"cratedb", "table, tags as JSON, nanoseconds and values between tabs, after a header", NewCrateDB},
	}
}

// Find returns the named format. Its error offers the closest names.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("unknown format %q%s", name, suggest.Among(name, names))
}
