package owndata_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Rows of every format are read by a second reader, wholly, and the facts say so.
func TestReadTwice(t *testing.T) {
	build := func(b array.Builder) {
		b.(*array.StringBuilder).AppendValues([]string{"a", "", "ü"}, []bool{true, true, false})
	}
	for name, path := range map[string]string{
		"csv":     write(t, "t.csv", "time,host,v,s\r\n2024-01-01T00:00:00Z,a,1.50,\"x, \"\"y\"\"\"\r\n2024-01-01 00:00:01+01:00,b,,\"\"\r\n"),
		"sep":     write(t, "t.csv", "sep=;\ntime;v\n2024-01-01T00:00:00Z;1\n2024-01-01T00:00:01Z;2\n"),
		"ndjson":  write(t, "t.ndjson", "{\"time\":1704067200,\"v\":1.50,\"s\":\"\\u00fc\"}\n\n{\"time\":1704067201,\"v\":null,\"b\":true}\n"),
		"array":   write(t, "t.json", "[{\"time\":1704067200,\"v\":1.50},{\"time\":1704067201,\"v\":2}]"),
		"pretty":  write(t, "t.json", "{\n\"time\":1704067200,\n\"v\":1.50}\n{\n\"time\":1704067201,\"v\":2}\n"),
		"points":  write(t, "t.lp", "m,host=a\\ b v=1.5,s=\"x \\\"y\\\" \\\\\",n=1i,b=t 1704067200000000000\nm,host=c v=2 1704067201000000000\n"),
		"parquet": recordsFile(t, "parquet", arrow.BinaryTypes.String, build),
		"arrow":   recordsFile(t, "arrow", arrow.BinaryTypes.String, build),
	} {
		t.Run(name, func(t *testing.T) {
			found, err := inspect(t, "files="+path)
			if err != nil {
				t.Fatal(err)
			}
			facts := strings.Join(found.Facts, "\n")
			if strings.Contains(facts, "without DuckDB") {
				t.Skip(facts)
			}
			if !strings.Contains(facts, "reads the same values in a sample of") || strings.Contains(facts, "not checked by a second reader") {
				t.Error(facts)
			}
		})
	}
}
