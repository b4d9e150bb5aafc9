package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// benched is a dataset that passes are measured on.
type benched struct {
	name string
	use  workload.Workload
	spec workload.Spec
}

func benchedDatasets() []benched {
	at := func(name string, scale uint32, span, interval time.Duration) workload.Spec {
		s := spec(scale, span)
		s.Name, s.Interval = name, interval
		return s
	}
	const day = 24 * time.Hour
	return []benched{
		{"devops/864000", tsbs.CPUOnly(), at("cpu-only", 100, day, 10*time.Second)},
		{"devops/276480", tsbs.CPUOnly(), at("cpu-only", 32, day, 10*time.Second)},
		{"iot/540000", tsbs.IoT(), at("iot", 100, 50*time.Hour, time.Minute)},
		{"iotdb/500000", iotdb.Workload(), at("iotdb", 100, 25000*time.Second, 5*time.Second)},
	}
}

// queries draws n of each type.
func (b *benched) queries(t testing.TB, n int) []query.Query {
	var all []query.Query
	for _, qt := range b.use.QueryTypes() {
		sequence, err := b.use.Queries(b.spec, qt.Name, n)
		if err != nil {
			t.Fatal(err)
		}
		all = slices.AppendSeq(all, sequence)
	}
	return all
}

// read reads the rows of a dataset and does nothing with them.
func read(t testing.TB, d workload.Dataset) (rows int) {
	var b series.Batch
	for r := d.Open(); ; {
		if err := r.Next(&b, 4096); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows += b.Rows()
	}
}

// BenchmarkPass compares a pass with a number of checks of each query type to reading the dataset,
// alternating the two: x-reading is the ratio of their wall times, cpu-x-reading that of their
// processor times. A pass with 0 checks only surveys.
func BenchmarkPass(b *testing.B) {
	for _, on := range benchedDatasets() {
		d, err := on.use.Dataset(on.spec)
		if err != nil {
			b.Fatal(err)
		}
		for _, checks := range []int{0, 10, 100} {
			queries := on.queries(b, checks)
			b.Run(fmt.Sprintf("%s/checks=%d", on.name, checks), func(b *testing.B) {
				passing(b, d, queries, nil)
			})
		}
	}
}

// BenchmarkCounting is a pass that counts the answers to 1,000 queries of each
// type as well.
func BenchmarkCounting(b *testing.B) {
	on := benchedDatasets()[0]
	d, err := on.use.Dataset(on.spec)
	if err != nil {
		b.Fatal(err)
	}
	passing(b, d, on.queries(b, 10), on.queries(b, 1000))
}

func passing(b *testing.B, d workload.Dataset, full, counted []query.Query) {
	var reading, passing usage
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		reading.measureUsage(b, func() { rows = read(b, d) })
		passing.measureUsage(b, func() {
			if _, err := oracle.Pass(context.Background(), d, full, slices.Values(counted), ignore); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric(float64(rows), "rows")
	b.ReportMetric(float64(reading.wall.Milliseconds())/float64(b.N), "ms-reading")
	b.ReportMetric(float64(passing.wall.Milliseconds())/float64(b.N), "ms-pass")
	b.ReportMetric(float64(passing.cpu.Milliseconds())/float64(b.N), "cpu-ms-pass")
	b.ReportMetric(float64(passing.wall)/float64(reading.wall), "x-reading")
	b.ReportMetric(float64(passing.cpu)/float64(reading.cpu), "cpu-x-reading")
}

// usage is what work takes by the clock and of the processors. On a machine
// that does other work as well, the latter tells more.
type usage struct{ wall, cpu time.Duration }

func (u *usage) measureUsage(b *testing.B, work func()) {
	cpu, start := cpuTime(b), time.Now()
	work()
	u.wall += time.Since(start)
	u.cpu += cpuTime(b) - cpu
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
