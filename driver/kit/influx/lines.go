// Package influx is shared by the drivers of all versions of InfluxDB: line protocol, queries in
// InfluxQL and the decoding of their results, and the files of shards.
package influx

import (
	"math"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// Note is the name of the measurement, and of its retention policy, that holds the note of InfluxDB
// 1.x. No table may have this name.
const Note = "tsmark_mark"

// First is the first time that a row can have.
func First() time.Time { return time.Unix(0, math.MinInt64+2) }

// Last is the last time that a row can have.
func Last() time.Time { return time.Unix(0, math.MaxInt64-1) }

// Lacks are the traits of values that InfluxDB cannot store.
func Lacks() map[series.Trait]string {
	return map[series.Trait]string{
		series.NaN:         "InfluxDB does not take",
		series.Infinities:  "InfluxDB does not take",
		series.EmptyTags:   "InfluxDB does not have",
		series.EscapedTags: "line protocol cannot say",
	}
}

// Types returns how InfluxDB stores each type: line protocol has four types of field.
func Types() map[series.Type]driver.Stored {
	return map[series.Type]driver.Stored{
		series.Bool:      {As: "boolean"},
		series.Int32:     {As: "integer", Mapped: "of 64 bits"},
		series.Int:       {As: "integer"},
		series.Float32:   {As: "float", Mapped: "the double that equals it"},
		series.Float:     {As: "float"},
		series.Text:      {As: "string"},
		series.Timestamp: {As: "integer", Mapped: "its nanoseconds since 1970"},
		series.Date:      {As: "integer", Mapped: "its days since 1970-01-01"},
		series.Blob:      {As: "string", Mapped: "its bytes as a text"},
	}
}

// Escaped lists the characters that need a backslash in names and tags; EscapedMeasurement does so for
// the names of measurements.
const (
	Escaped            = ", ="
	EscapedMeasurement = ", "
)

// Lines is line protocol as TSBS writes it, except for characters that must be Escaped, and for rows
// without any field, which TSBS leaves out.
func Lines() encode.LineProtocol {
	return encode.LineProtocol{
		Escape:      Escaped,
		EscapeTable: EscapedMeasurement,
		NullName:    NullField,
		Null:        func(series.Type) string { return "t" },
	}
}
