package questdb

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// hosts is cpu-only of 100 hosts over half a day.
func hosts(b *testing.B) workload.Dataset {
	b.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{
		Name: "cpu-only", Seed: 123, Scale: 100, Start: start, End: start.Add(12 * time.Hour), Interval: 10 * time.Second,
	})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkEncode is the client's work on a batch, but for sending it.
func BenchmarkEncode(b *testing.B) {
	schema, batch := conformance.CPURows(b)
	encoder := lines().New(schema)
	text := encoder.Append(nil, batch)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		text = encoder.Append(text[:0], batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/row")
}

// BenchmarkRead is the client's work on an answer over REST.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	text.WriteString(`{"query":"x","columns":[{"name":"timestamp","type":"TIMESTAMP"},{"name":"h","type":"SYMBOL"},{"name":"v","type":"DOUBLE"}],"timestamp":0,"dataset":[`)
	for range 9_999 {
		text.WriteString(`["2016-01-01T00:00:00.000000Z","host_12",12.345678],`)
	}
	text.WriteString(`["2016-01-01T00:00:00.000000Z","host_12",null]],"count":10000}`)
	e := newExec(&settings{})
	sink := query.SinkFunc(func([]query.Value) error { return nil })
	b.ReportAllocs()
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if cost, err := e.Read(bytes.NewReader(text.Bytes()), sink, e.Answer); err != nil || cost.Rows != 10_000 {
			b.Fatal(cost, err)
		}
	}
}

// BenchmarkLoad loads half a day of 100 hosts by two workers, from the generator
// and from lines of a file, and reports the processor time of this process.
func BenchmarkLoad(b *testing.B) {
	for _, protocol := range []string{protocolHTTP, protocolTCP} {
		options := setOptions(server(b), optionProtocol, protocol)
		b.Run(protocol+"/generated", func(b *testing.B) {
			d := hosts(b)
			load(b, options, d.Schema(), func(ctx context.Context, c engine.LoadConfig, t driver.DB) (*result.Load, error) {
				return engine.Load(ctx, c, d, t, func(int) {})
			})
		})
		b.Run(protocol+"/lines", func(b *testing.B) {
			d := hosts(b)
			name := filepath.Join(b.TempDir(), "cpu.lp")
			file, err := os.Create(name)
			if err == nil {
				err = generate.Write(b.Context(), file, d.Open(), encode.NewLineProtocol(d.Schema()), func(int) {})
			}
			if err == nil {
				err = file.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
			load(b, options, d.Schema(), func(ctx context.Context, c engine.LoadConfig, t driver.DB) (*result.Load, error) {
				source, err := ingest.Open(name, nil)
				if err != nil {
					return nil, err
				}
				lines, err := source.Lines()
				if err != nil {
					return nil, err
				}
				defer lines.Close()
				return engine.LoadLines(ctx, c, lines, t, func(int) {})
			})
		})
	}
}

// load measures one way to load.
func load(b *testing.B, set map[string]string, schema *series.Schema, do func(context.Context, engine.LoadConfig, driver.DB) (*result.Load, error)) {
	d := Driver()
	options, err := d.Resolve(set)
	if err != nil {
		b.Fatal(err)
	}
	db, err := open(b.Context(), driver.Env{Create: true}, options)
	if err != nil {
		b.Fatal(err)
	}
	defer conformance.Close(b, db)
	var rows int64
	var busy time.Duration
	var acked float64
	for b.Loop() {
		if err := session.New(db).Prepare(b.Context(), schema, session.Mark{}); err != nil {
			b.Fatal(err)
		}
		before := processorTime(b)
		l, err := do(b.Context(), engine.LoadConfig{Workers: 2, BatchSize: 10_000}, db)
		if err != nil {
			b.Fatal(err)
		}
		busy += processorTime(b) - before
		rows += l.Rows
		acked += max(l.Acked, l.Sent)
	}
	b.ReportMetric(float64(busy.Microseconds())/float64(rows), "cpu-µs/row")
	b.ReportMetric(float64(rows)/acked, "rows/s")
}

// processorTime is what this process has used so far, in user and system.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
