// Package workloadtest has tests that generated workloads share.
package workloadtest

import (
	"errors"
	"flag"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Text returns a row as a text, which differs between any two different rows.
type Text func(run *series.Run, row int) string

// Open returns the dataset of a specification.
func Open(t testing.TB, w workload.Workload, s workload.Spec) workload.Dataset {
	t.Helper()
	d, err := w.Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// DrawQueries returns the first n queries of a type.
func DrawQueries(t testing.TB, w workload.Workload, s workload.Spec, queryType string, n int) []query.Query {
	t.Helper()
	sequence, err := w.Queries(s, queryType, n)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(sequence)
}

// ReadRuns calls a function with each run of a reader. Each batch has one row or more, and rows at most.
func ReadRuns(t testing.TB, r workload.Reader, rows int, do func(*series.Run)) {
	t.Helper()
	var b series.Batch
	for {
		err := r.Next(&b, rows)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := b.Rows(); n == 0 || n > rows {
			t.Fatalf("a batch of %d rows, and at most %d were requested", n, rows)
		}
		for i := range b.Runs {
			do(&b.Runs[i])
		}
	}
}

// Determinism tests that the rows are the same for any size of batches, and that another seed gives others.
func Determinism(t *testing.T, w workload.Workload, s workload.Spec, text Text) {
	read := func(s workload.Spec, rows int) []string {
		var list []string
		ReadRuns(t, Open(t, w, s).Open(), rows, func(run *series.Run) {
			for row := range run.Times {
				list = append(list, text(run, row))
			}
		})
		return list
	}
	all := read(s, 100_000)
	for _, rows := range []int{1, 777} {
		if got := read(s, rows); !slices.Equal(got, all) {
			t.Errorf("batches of %d rows have other rows", rows)
		}
	}
	s.Seed++
	if slices.Equal(read(s, 1000), all) {
		t.Error("another seed gives the same rows")
	}
}

// Memory tests that reading takes little memory for any number of series, and makes no more allocations per row than
// given.
func Memory(t *testing.T, d workload.Dataset, perRow float64) {
	r := d.Open()
	var b series.Batch
	rows := 0
	read := func(batches int) {
		for range batches {
			if err := r.Next(&b, 10_000); err != nil {
				t.Fatal(err)
			}
			rows += b.Rows()
		}
	}
	read(30)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	rows = 0
	read(100)
	runtime.ReadMemStats(&after)
	if n := float64(after.Mallocs-before.Mallocs) / float64(rows); n > perRow {
		t.Errorf("%.4f allocations a row", n)
	}
	if after.HeapInuse > 64<<20 {
		t.Errorf("%d MiB in use", after.HeapInuse>>20)
	}
}

var updateRows = flag.Bool("update-rows", false, "write testdata/first-rows.txt instead of comparing with it")

// Golden tests that the first row of each of the first runs, in batches of some rows, never changes: the fingerprint
// would be wrong.
func Golden(t *testing.T, d workload.Dataset, rows int, text Text) {
	var got []string
	ReadRuns(t, workload.LimitRows(d, 4000).Open(), rows, func(run *series.Run) { got = append(got, text(run, 0)) })
	const file = "testdata/first-rows.txt"
	if *updateRows {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(want)), "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d differs from %s, so the version in identity must be raised:\n%s", i+1, file, line)
		}
	}
}
