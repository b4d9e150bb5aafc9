package oplog

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/slowtest"
)

// start is some time whose monotonic reading is now's.
func start() time.Time { return time.Now() }

// sequence is what one worker recorded in one cell.
type sequence struct {
	cell   Cell
	worker int
	ops    []Op
}

// write returns the log of some sequences, recorded one behind the other.
func write(t testing.TB, sequences ...sequence) []byte {
	t.Helper()
	var out bytes.Buffer
	begin := start()
	w, err := NewWriter(&out, Header{Start: begin, Run: "20260131-154500-3f2a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sequences {
		section := w.Section(s.cell)
		r := section.Recorder(s.worker, begin)
		for i, op := range s.ops {
			r.Record(op)
			if i%blockOps == 0 { // the writer may be slower than a loop that does nothing else
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Close()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := w.LostOps(); n != 0 {
		t.Fatalf("%d operations were lost", n)
	}
	return out.Bytes()
}

// read returns the operations of a log as sequences, and the error at its end.
func read(log []byte) (sequences []sequence, err error) {
	r, err := NewReader(bytes.NewReader(log))
	if err != nil {
		return nil, err
	}
	for op, err := range r.All() {
		if err != nil {
			return sequences, err
		}
		cell := r.Cells()[op.Cell]
		i := slices.IndexFunc(sequences, func(s sequence) bool { return s.cell == cell && s.worker == int(op.Worker) })
		if i < 0 {
			i = len(sequences)
			sequences = append(sequences, sequence{cell: cell, worker: int(op.Worker)})
		}
		op := *op
		op.Cell, op.Worker = 0, 0
		sequences[i].ops = append(sequences[i].ops, op)
	}
	return sequences, nil
}

func equal(a, b []sequence) bool {
	return slices.EqualFunc(a, b, func(a, b sequence) bool {
		return a.cell == b.cell && a.worker == b.worker && slices.Equal(a.ops, b.ops)
	})
}

// extreme returns operations with arbitrary values, most of them large.
func extreme(r *rand.Rand, n int) []Op {
	value := func() int64 {
		switch r.IntN(6) {
		case 0:
			return 0
		case 1:
			return math.MaxInt64
		case 2:
			return math.MinInt64
		case 3:
			return -r.Int64N(1000)
		}
		return r.Int64() >> r.IntN(64)
	}
	ops := make([]Op, n)
	for i := range ops {
		ops[i] = Op{
			Outcome: Outcome(r.IntN(int(Outcomes))), BurnIn: r.IntN(2) == 0, Paused: r.IntN(2) == 0,
			Sequence: value(), Query: value(), Start: time.Duration(value()), Intended: time.Duration(value()),
			Lag: time.Duration(value()), Duration: time.Duration(value()), Sent: time.Duration(value()),
			Rows: value(), Bytes: value(), Values: value(), Client: time.Duration(value()),
		}
	}
	return ops
}

// closedLoop returns what a worker of a closed loop records: it runs every
// workers-th query and goes on where it ended.
func closedLoop(r *rand.Rand, n, worker, workers int) []Op {
	ops := make([]Op, n)
	now := time.Duration(r.IntN(1000))
	for i := range ops {
		now += time.Duration(300 + r.IntN(900))
		sequence := int64(i*workers + worker)
		duration := time.Duration(1e6 * math.Exp(r.NormFloat64()/4))
		rows := int64(60)
		if r.IntN(60) == 0 {
			rows = 61
		}
		ops[i] = Op{
			Sequence: sequence, Query: sequence, Start: now, Intended: now, Duration: duration,
			Rows: rows, Bytes: 16 * rows, BurnIn: i < 10,
		}
		now += duration
	}
	return ops
}

// Reading returns the operations that were written, whatever their values, across block boundaries.
func TestReadIsWhatWasWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	load := Cell{Kind: Load, Target: "a"}
	query := Cell{Kind: Query, Target: "a", Type: "lastpoint", Repeat: 3, Setting: "workers=4", Workers: 2, Queries: 10}
	for range 10 {
		want := []sequence{
			{load, 0, extreme(r, 1+r.IntN(10))},
			{query, 0, extreme(r, blockOps-1+r.IntN(3))},
			{query, 1, closedLoop(r, 2*blockOps+r.IntN(100), 1, 2)},
			{load, 7, extreme(r, 3*blockOps+1)},
		}
		got, err := read(write(t, want...))
		if err != nil {
			t.Fatal(err)
		}
		if !equal(got, want) {
			t.Fatal("other operations were read than written")
		}
	}
}

// small returns a log of several cells and blocks that is short enough to
// try every damage.
func small(t testing.TB) ([]byte, []sequence) {
	r := rand.New(rand.NewPCG(2, 2))
	want := []sequence{
		{Cell{Kind: Load, Target: "a"}, 0, extreme(r, 5)},
		{Cell{Kind: Query, Target: "a", Type: "t"}, 0, closedLoop(r, 12, 0, 1)},
		{Cell{Kind: Query, Target: "b", Type: "t"}, 1, extreme(r, 1)},
	}
	return write(t, want...), want
}

// prefix reports whether got is how want begins.
func prefix(got, want []sequence) bool {
	for i, s := range got {
		if i >= len(want) || s.cell != want[i].cell || s.worker != want[i].worker || len(s.ops) > len(want[i].ops) ||
			!slices.Equal(s.ops, want[i].ops[:len(s.ops)]) {
			return false
		}
	}
	return true
}

// A log that ends anywhere is read up to its last whole block, and says so.
func TestTruncatedAnywhere(t *testing.T) {
	log, want := small(t)
	found := make(map[int]bool)
	for n := range log {
		got, err := read(log[:n])
		if !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at byte %d of %d: error %v, want %v", n, len(log), err, ErrTruncated)
		}
		if !prefix(got, want) {
			t.Fatalf("cut at byte %d of %d: other operations than the first ones", n, len(log))
		}
		total := 0
		for _, s := range got {
			total += len(s.ops)
		}
		found[total] = true
	}
	if len(found) < 4 || !found[18] {
		t.Errorf("numbers of operations read: %v; want several, and up to all 18", found)
	}
}

// No bit can change unnoticed.
func TestFlippedBits(t *testing.T) {
	slowtest.Skip(t)
	log, want := small(t)
	for i := range log {
		for bit := range 8 {
			flipped := bytes.Clone(log)
			flipped[i] ^= 1 << bit
			got, err := read(flipped)
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrTruncated) {
				t.Fatalf("bit %d of byte %d of %d: error %v", bit, i, len(log), err)
			}
			if !prefix(got, want) {
				t.Fatalf("bit %d of byte %d of %d: other operations than the first ones", bit, i, len(log))
			}
		}
	}
	if _, err := read(append(bytes.Clone(log), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte behind the end: error %v", err)
	}
}

// Hostile input ends in an error, and the reader stays small.
func FuzzReader(f *testing.F) {
	log, _ := small(f)
	f.Add(log)
	f.Add(log[:len(log)/2])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader(bytes.NewReader(log))
		if err != nil {
			return
		}
		var op Op
		for err == nil {
			err = r.Next(&op)
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrTruncated) {
			t.Errorf("error %v", err)
		}
		if cap(r.frames.payload) > maxRaw || cap(r.raw) > maxRaw {
			t.Errorf("buffers of %d and %d bytes", cap(r.frames.payload), cap(r.raw))
		}
	})
}

// What passes the checksum may still be made up.
func FuzzBlock(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	var e encoder
	f.Add(e.append(nil, extreme(r, 5)))
	f.Add(e.append(nil, closedLoop(r, 20, 0, 1)))
	f.Add([]byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	var d decoder
	f.Fuzz(func(t *testing.T, b []byte) {
		ops, err := d.decode(b)
		if err != nil || len(ops) == 0 {
			return
		}
		want := slices.Clone(ops)
		got, err := d.decode(e.append(nil, want))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("encoded and decoded again: error %v", err)
		}
	})
}

// A log costs about as much as its durations, which nothing predicts.
func TestBytesAnOperation(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const n, workers = 50_000, 8
	var sequences []sequence
	for worker := range workers {
		sequences = append(sequences, sequence{Cell{Kind: Query, Target: "a", Type: "t"}, worker, closedLoop(r, n/workers, worker, workers)})
	}
	each := float64(len(write(t, sequences...))) / n
	t.Logf("%.2f bytes an operation", each)
	if each > 8 {
		t.Errorf("%.2f bytes an operation, want at most 8", each)
	}
}
