package engine_test

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/series"
)

// encoding is a target that turns batches into line protocol, which is the
// least that any server's client does, and keeps nothing.
type encoding struct {
	driver.Required
	schema *series.Schema
}

func (e encoding) Settle(context.Context) error { return nil }
func (e encoding) NewWriter(context.Context, int) (driver.Writer, error) {
	return &encodingWriter{encoder: encode.NewLineProtocol(e.schema)}, nil
}

type encodingWriter struct {
	encoder encode.Encoder
	text    []byte
}

func (w *encodingWriter) Close() error { return nil }
func (w *encodingWriter) Flush(context.Context) (driver.Receipt, error) {
	return driver.Receipt{}, nil
}
func (w *encodingWriter) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	w.text = w.encoder.Append(w.text[:0], b)
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows()), WireBytes: int64(len(w.text))}, nil
}

// processorTime is what this process has used.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		tb.Fatal(err)
	}
	used, err := p.Times()
	if err != nil {
		tb.Fatal(err)
	}
	return time.Duration((used.User + used.System) * float64(time.Second))
}

// loadAll loads 36,000 rows an hour, and returns how many batches that were.
func loadAll(tb testing.TB, hours, batch int, log *oplog.Section) (batches int64) {
	tb.Helper()
	d := dataset(tb, 100, time.Duration(hours)*time.Hour)
	cfg := engine.LoadConfig{Workers: 2, BatchSize: batch, Period: time.Second, Log: log}
	out, err := engine.Load(tb.Context(), cfg, d, driver.DB{Required: encoding{schema: d.Schema()}}, ignore)
	if err != nil {
		tb.Fatal(err)
	}
	return out.Batches.Count
}

// Recording batches, in the histogram and in the operation log (including compression and writing),
// takes less than a hundredth of the time of a load that only generates rows and encodes them as
// line protocol. Any real load takes longer.
func TestRecordingCost(t *testing.T) {
	const batch, operations = 1000, 500_000
	before := processorTime(t)
	batches := loadAll(t, 25, batch, nil)
	load := float64(processorTime(t)-before) / float64(batches)

	before = processorTime(t)
	log, err := oplog.NewWriter(io.Discard, oplog.Header{})
	if err != nil {
		t.Fatal(err)
	}
	recorder, latency := log.Section(oplog.Cell{Kind: oplog.Load}).Recorder(0, time.Now()), measure.NewLatency()
	for i := range int64(operations) {
		took := time.Duration(5e6 + i*7919%1e6)
		latency.Record(took)
		recorder.Record(oplog.Op{Sequence: i, Query: i, Start: time.Duration(i * 6e6), Intended: time.Duration(i * 6e6), Duration: took, Sent: took / 2, Rows: batch, Bytes: 300 * batch, Values: 10 * batch})
		if i%10_000 == 0 {
			time.Sleep(5 * time.Millisecond) // so that the log keeps up
		}
	}
	recorder.Close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	record := float64(processorTime(t)-before) / float64(operations-log.LostOps())
	t.Logf("a batch of %d rows takes %v, recording it %v: %.3f %%; %d operations lost", batch,
		time.Duration(load).Round(time.Microsecond), time.Duration(record), 100*record/load, log.LostOps())
	if log.LostOps() > operations/2 {
		t.Errorf("%d of %d operations were not written", log.LostOps(), operations)
	}
	if record > load/100 {
		t.Errorf("recording takes %.2f %% of the load's CPU; want 1 %% at most", 100*record/load)
	}
}

// BenchmarkRecordedLoad is a load with its operation log. With -cpuprofile, the
// share of recording is that of pprof -focus 'oplog|Latency'.
func BenchmarkRecordedLoad(b *testing.B) {
	log, err := oplog.NewWriter(io.Discard, oplog.Header{})
	if err != nil {
		b.Fatal(err)
	}
	section := log.Section(oplog.Cell{Kind: oplog.Load})
	b.ResetTimer()
	batches := loadAll(b, b.N, 1000, section)
	b.ReportMetric(1000*float64(batches)/b.Elapsed().Seconds(), "rows/s")
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
}
