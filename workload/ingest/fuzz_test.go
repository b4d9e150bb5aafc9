package ingest_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Whatever a text is, reading it neither panics nor loses a line silently.
func FuzzInflux(f *testing.F) {
	f.Add(influx, 20)
	f.Add("cpu,host=a user=1i,load=NaN -5\ncpu,host=b load=-0.0,user=07i 0\n", 3)
	f.Add("a b=1 1\n\n\xff\x00 =", 1)
	seeds(f, "influx")
	schema := schemaOf(f, influx)
	f.Fuzz(func(t *testing.T, content string, cut int) {
		if strings.HasPrefix(content, "tags") {
			return
		}
		fuzz(t, schema, content, cut, strings.Count(content, "\n"))
	})
}

// The same of rows of two lines.
func FuzzTimescaleDB(f *testing.F) {
	f.Add(timescaledb, 20)
	f.Add("tags\nx,f\n\ntags\nx,1,2\ntags\nx,1,2.5\n", 10)
	seeds(f, "timescaledb")
	schema := schemaOf(f, timescaledb)
	f.Fuzz(func(t *testing.T, content string, cut int) {
		_, rows, ok := strings.Cut(content, "\n\n")
		if !strings.HasPrefix(content, "tags") || !ok {
			return
		}
		fuzz(t, schema, content, cut, strings.Count(rows, "\n")/2)
	})
}

// seeds adds the beginnings of generated files.
func seeds(f *testing.F, format string) {
	forEachDataset(f, func(_ string, d workload.Dataset) {
		all := text(f, d, format)
		end := 1500
		if i := strings.Index(string(all), "\n\n"); format == "timescaledb" {
			end += i
		}
		end += strings.Index(string(all[end:]), "\n") + 1
		f.Add(string(all[:end]), 700)
	})
}

func fuzz(t *testing.T, schema *series.Schema, content string, cut, rows int) {
	_, tally, err := read(t, content, schema, 0)
	if err == nil && tally.Rows != int64(rows) {
		t.Fatalf("%d rows of %d, and no error:\n%s", tally.Rows, rows, content)
	}
	if _, tally, err := read(t, content, schema, 1000); err == nil && tally.Skipped == 0 && tally.Rows != int64(rows) {
		t.Fatalf("%d rows of %d, none skipped", tally.Rows, rows)
	}
	if err != nil {
		return
	}
	// Cut anywhere but at the end of a row, it is not taken for whole.
	if cut <= 0 || cut >= len(content) {
		return
	}
	if _, tally, err := read(t, content[:cut], schema, 0); err == nil {
		if content[cut-1] != '\n' || tally.Rows > int64(rows) {
			t.Fatalf("cut at %d, read without an error", cut)
		}
	}
}
