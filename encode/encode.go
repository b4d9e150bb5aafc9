// Package encode encodes batches in the formats of TSBS's generator, byte for byte, and of other
// systems.
package encode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
)

// Encoder writes the rows of one schema in one format. It is safe for
// concurrent use.
type Encoder interface {
	// AppendHeader appends the text before the first row, often nothing.
	AppendHeader(dst []byte) []byte
	// Append appends all rows of the batch in their order. It allocates only
	// to make dst larger.
	Append(dst []byte, b *series.Batch) []byte
}

// Footed is an Encoder of a format with a text after the last row.
type Footed interface {
	Encoder
	AppendFooter(dst []byte) []byte
}

// Format is a file format by its name, which is TSBS's where TSBS has it.
type Format struct {
	Name string
	Help string
	// New returns an encoder of the schema's rows, or why the format cannot
	// hold them.
	New func(*series.Schema) (Encoder, error)
}

// Gzipped ends the name of a format whose files are compressed by gzip, as influx.gz.
const Gzipped = ".gz"

// Loader returns the named format of a database's loader, whose files are one stream. It ignores Gzipped.
// Its error offers the closest names.
func Loader(name string) (Format, error) {
	name = strings.TrimSuffix(name, Gzipped)
	formats := Formats()
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		var names []string
		for _, f := range formats {
			names = append(names, f.Name)
		}
		return Format{}, fmt.Errorf("unknown format %q%s", name, suggest.Names(name, names))
	}
	return formats[i], nil
}

// Formats lists the formats.
func Formats() []Format {
	checked := func(x syntax, n func(*series.Schema) (Encoder, error)) func(*series.Schema) (Encoder, error) {
		return func(s *series.Schema) (Encoder, error) {
			if err := x.check(s); err != nil {
				return nil, err
			}
			return n(s)
		}
	}
	lines := checked(lineSyntax, func(s *series.Schema) (Encoder, error) {
		return LineProtocol{Escape: ", =", EscapeTable: ", "}.New(s), nil
	})
	bare := func(x syntax, n func(*series.Schema) Encoder) func(*series.Schema) (Encoder, error) {
		return checked(x, func(s *series.Schema) (Encoder, error) { return n(s), fixedTexts(s) })
	}
	return []Format{
		{"influx", "line protocol: measurement,tags fields nanoseconds", lines},
		{"questdb", "as influx", lines},
		{"victoriametrics", "as influx", lines},
		{"timescaledb", "TSBS's pairs of tag and value lines after a header", bare(pairsSyntax, NewTimescaleDB)},
		{"clickhouse", "as timescaledb", bare(pairsSyntax, NewTimescaleDB)},
		{"timestream", "as timescaledb without the header", bare(pairsSyntax, NewTimestream)},
		{"cratedb", "table, tags as JSON, nanoseconds and values between tabs, after a header", bare(crateSyntax, NewCrateDB)},
		{"cassandra", "a line a value: table by type, series, field, day, nanoseconds, value", checked(cassandraSyntax, NewCassandra)},
		{"prometheus", "a remote-write TimeSeries message a value, each after its length", checked(labelSyntax, NewPrometheus)},
		{"openmetrics", "OpenMetrics text with timestamps, as promtool tsdb create-blocks-from reads it", checked(labelSyntax, NewOpenMetrics)},
		{"remote-write", "requests of remote write 1.0, compressed by Snappy, each after its length as a varint", checked(labelSyntax, NewRemoteWriteFile)},
		{"otlp", "OTLP requests in lines of JSON, as OpenTelemetry's Collector writes and reads files", checked(labelSyntax, NewOTLPFile)},
	}
}

// fixedTexts returns an error for a schema with fields that are free: a format that
// escapes nothing cannot tell their commas and line breaks from its own.
func fixedTexts(s *series.Schema) error {
	for _, t := range s.Tables {
		for i := range t.Fields {
			if f := &t.Fields[i]; f.Free() {
				return fmt.Errorf("it escapes nothing, and field %s of table %s has texts of any content; choose the format influx, parquet or arrow", f.Name, t.Name)
			}
		}
	}
	return nil
}
