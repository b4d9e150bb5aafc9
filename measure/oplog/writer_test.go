package oplog

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/slowtest"
)

// failing fails after some writes, or waits.
type failing struct {
	after int
	block chan struct{}
}

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after >= 0 {
		return len(p), nil
	}
	if f.block != nil {
		<-f.block
		return len(p), nil
	}
	return 0, errors.New("no space left on device")
}

func begin(t testing.TB, out io.Writer) (*Writer, *Recorder) {
	t.Helper()
	now := start()
	w, err := NewWriter(out, Header{Start: now})
	if err != nil {
		t.Fatal(err)
	}
	section := w.Section(Cell{Kind: Query, Target: "a", Type: "t"})
	return w, section.Recorder(0, now)
}

// Who observes sees every operation once, in its cell, and soon.
func TestObserve(t *testing.T) {
	w, err := NewWriter(io.Discard, Header{Start: start()})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := make(map[string][]int64)
	w.Observe(func(c Cell, ops []Op) {
		mu.Lock()
		defer mu.Unlock()
		for i := range ops {
			seen[c.Type] = append(seen[c.Type], ops[i].Sequence)
		}
	})
	const many = 3*blockOps + 5
	for _, name := range []string{"a", "b"} {
		r := w.Section(Cell{Kind: Query, Type: name}).Recorder(0, start())
		for i := range many {
			r.Record(Op{Sequence: int64(i)})
			if i == 7 || i == blockOps { // parts of a block too
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Close()
		if err := w.Flush(); err != nil { // its blocks are free for the next
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		for i, n := range seen[name] {
			if n != int64(i) {
				t.Fatalf("cell %s: operation %d at place %d", name, n, i)
			}
		}
		if len(seen[name]) != many {
			t.Errorf("cell %s: %d operations seen, want %d", name, len(seen[name]), many)
		}
	}
}

// Whoever records nothing needs no if.
func TestNilRecordsNothing(t *testing.T) {
	var s *Section
	s = s.WithSchedule("100/s", 1)
	r := s.Recorder(0, start())
	r.Record(Op{})
	r.Close()
	if r != nil {
		t.Errorf("recorder %v", r)
	}
}

// Flushed operations are in the log even if nothing was closed, as after kill -9.
func TestFlush(t *testing.T) {
	var out bytes.Buffer
	w, r := begin(t, &out)
	total := 0
	for range 5 {
		for range 1000 {
			r.Record(Op{Sequence: int64(total)})
			total++
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		got, err := read(out.Bytes())
		if !errors.Is(err, ErrTruncated) || len(got) != 1 || len(got[0].ops) != total {
			t.Fatalf("after %d operations %d are in the log, error %v", total, len(got[0].ops), err)
		}
	}
	r.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := read(out.Bytes())
	if err != nil || len(got[0].ops) != total {
		t.Errorf("%d operations, error %v; want %d", len(got[0].ops), err, total)
	}
	for i, op := range got[0].ops {
		if op.Sequence != int64(i) {
			t.Fatalf("operation %d is at place %d", op.Sequence, i)
		}
	}
}

// A second is enough for operations to reach the log by themselves.
func TestWrittenEverySecond(t *testing.T) {
	written := make(chan []byte, 10)
	w, r := begin(t, writerFunc(func(p []byte) (int, error) { written <- bytes.Clone(p); return len(p), nil }))
	<-written // header
	<-written // cell
	r.Record(Op{Sequence: 5})
	if frame := <-written; frame[0] != blockFrame {
		t.Errorf("frame %q, want a block", frame)
	}
	r.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A full disk is an error, and does not end the load.
func TestFullDisk(t *testing.T) {
	w, r := begin(t, &failing{after: 2})
	for range 10 * blockOps {
		r.Record(Op{})
	}
	if err := w.Flush(); err == nil || err.Error() != "writing the operation log: no space left on device" {
		t.Errorf("error %v", err)
	}
	r.Close()
	if err := w.Close(); err == nil {
		t.Error("closing the log has no error")
	}
	if n := w.LostOps(); n != 10*blockOps {
		t.Errorf("%d operations were lost, want %d", n, 10*blockOps)
	}
}

// A disk that hangs costs operations, which are counted, and no time.
func TestHangingDisk(t *testing.T) {
	disk := &failing{after: 2, block: make(chan struct{})}
	w, r := begin(t, disk)
	const n = 20 * blockOps
	for range n {
		r.Record(Op{})
	}
	if w.blocks != blocksPerRecorder {
		t.Errorf("%d blocks, want %d", w.blocks, blocksPerRecorder)
	}
	close(disk.block)
	r.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.LostOps(); got != n-blocksPerRecorder*blockOps || w.frames.written+got != n {
		t.Errorf("%d of %d operations were lost, %d written", got, n, w.frames.written)
	}
}

// The next cell's recorders have blocks though those of the last one still wait
// to be written.
func TestNextCellLosesNothing(t *testing.T) {
	disk := &failing{after: 2, block: make(chan struct{})}
	w, first := begin(t, disk)
	section := w.Section(Cell{Kind: Query, Target: "a", Type: "t"})
	recorders := []*Recorder{first}
	for worker := 1; worker < 8; worker++ {
		recorders = append(recorders, section.Recorder(worker, w.start))
	}
	for _, r := range recorders {
		r.Record(Op{})
		r.Close()
	}
	next := w.Section(Cell{Kind: Query, Target: "b"}).Recorder(0, w.start)
	next.Record(Op{})
	next.Close()
	close(disk.block)
	if err := w.Close(); err != nil || w.LostOps() != 0 || w.frames.written != 9 {
		t.Errorf("%d operations lost, %d written, error %v", w.LostOps(), w.frames.written, err)
	}
}

// Eight workers that run a million queries need less than 16 MiB, and lose
// none at half a million a second.
func TestManyWorkers(t *testing.T) {
	slowtest.Skip(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		t.Fatal(err)
	}
	const workers, types, each = 8, 16, 1_000_000 / 8 / 16
	for i := range types {
		section := w.Section(Cell{Kind: Query, Target: "a", Type: string(rune('a' + i))})
		var group sync.WaitGroup
		for worker := range workers {
			group.Go(func() {
				r := section.Recorder(worker, w.start)
				defer r.Close()
				for n := range each {
					r.Record(Op{Sequence: int64(n), Start: time.Since(w.start), Duration: time.Duration(n * 7919 % 1_000_000)})
					if n%1000 == 0 {
						time.Sleep(16 * time.Millisecond)
					}
				}
			})
		}
		group.Wait()
	}
	runtime.ReadMemStats(&after)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	allocated := float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20)
	t.Logf("%.1f MiB allocated in all, %d operations lost", allocated, w.LostOps())
	if allocated > 16 || w.LostOps() > 0 || w.frames.written != workers*types*each {
		t.Errorf("%.1f MiB allocated in all, %d operations lost, %d written", allocated, w.LostOps(), w.frames.written)
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	w, r := begin(t, io.Discard)
	defer w.Close()
	record := func() {
		for range blockOps {
			r.Record(Op{Duration: time.Millisecond})
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	record()
	// A flush allocates its signal and its list; an operation nothing.
	if n := testing.AllocsPerRun(20, record); n > 20 {
		t.Errorf("%d operations allocate %v times", blockOps, n)
	}
}

// BenchmarkRecord is what a worker spends on an operation while the log keeps
// up, which it has to be given time for.
func BenchmarkRecord(b *testing.B) {
	w, r := begin(b, io.Discard)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Record(Op{Sequence: int64(i), Start: time.Duration(i) * 1000, Intended: time.Duration(i) * 1000, Duration: 1000, Rows: 60, Bytes: 960})
		if i%blockOps == blockOps/2 {
			b.StopTimer()
			w.Flush()
			b.StartTimer()
		}
	}
	finish(b, w, r)
}

// BenchmarkRecordAll is the CPU that an operation costs in all: recorded,
// encoded, compressed and written.
func BenchmarkRecordAll(b *testing.B) {
	w, r := begin(b, io.Discard)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Record(Op{Sequence: int64(i), Start: time.Duration(i) * 1000, Intended: time.Duration(i) * 1000, Duration: time.Duration(i * 7919 % 1_000_000), Rows: 60, Bytes: 960})
		if i%blockOps == blockOps-1 {
			w.Flush()
		}
	}
	finish(b, w, r)
}

// BenchmarkRecordWorkers runs a worker per processor, each recording all the time: the log need not
// keep up, and reports the operations it lost.
func BenchmarkRecordWorkers(b *testing.B) {
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		b.Fatal(err)
	}
	section := w.Section(Cell{Kind: Query})
	b.ReportAllocs()
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		r := section.Recorder(0, w.start)
		defer r.Close()
		for i := 0; pb.Next(); i++ {
			r.Record(Op{Sequence: int64(i), Duration: time.Duration(i % 1000)})
		}
	})
	finish(b, w, nil)
}

func finish(b *testing.B, w *Writer, r *Recorder) {
	b.StopTimer()
	r.Close()
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(w.LostOps())/float64(b.N), "lost/op")
}
