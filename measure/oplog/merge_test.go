package oplog

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

// logAt returns the log of a client that began so long after noon.
func logAt(t *testing.T, after time.Duration, sequences ...sequence) []byte {
	t.Helper()
	var out bytes.Buffer
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	w, err := NewWriter(&out, Header{Start: noon.Add(after), Run: "r", Client: after.String()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sequences {
		section := w.Section(s.cell)
		r := section.Recorder(s.worker, noon.Add(after))
		for _, op := range s.ops {
			r.Record(op)
		}
		r.Close()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func merge(t *testing.T, logs ...[]byte) ([]byte, Merged) {
	t.Helper()
	var out bytes.Buffer
	var readers []*Reader
	for _, log := range logs {
		r, err := NewReader(bytes.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	merged, err := Merge(&out, readers...)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), merged
}

// Logs meet on the wall clock; workers stay apart, equal cells become one.
func TestMerge(t *testing.T) {
	a, b := Cell{Kind: Query, Target: "a", Type: "t"}, Cell{Kind: Query, Target: "b", Type: "t"}
	op := func(at time.Duration) Op { return Op{Start: at, Intended: at - 1, Duration: 3} }
	late := logAt(t, 2*time.Second, sequence{a, 0, []Op{op(5), op(10)}}, sequence{b, 1, []Op{op(20)}})
	early := logAt(t, 0, sequence{b, 0, []Op{op(7)}}, sequence{a, 0, []Op{op(2*time.Second + 6)}})
	log, merged := merge(t, late, early)
	got, err := read(log)
	if err != nil {
		t.Fatal(err)
	}
	second := 2 * time.Second
	want := []sequence{
		{b, 0, []Op{op(7)}},
		{a, 1, []Op{op(second + 5), op(second + 10)}},
		{a, 0, []Op{op(second + 6)}},
		{b, 2, []Op{op(second + 20)}},
	}
	if !equal(got, want) || merged.Operations != 5 || merged.Truncated != nil {
		t.Errorf("%+v\nmerged to %+v\nwant %+v", merged, got, want)
	}
	r, err := NewReader(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Header(); h.Start.Hour() != 12 || h.Start.Second() != 0 || h.Run != "r" || h.Client != "" {
		t.Errorf("header %+v", h)
	}
}

// The contents of a truncated log are merged, and the truncation is reported.
func TestMergeTruncated(t *testing.T) {
	cell := Cell{Kind: Load, Target: "a"}
	one := logAt(t, 0, sequence{cell, 0, []Op{{Rows: 1}}})
	two := logAt(t, 0, sequence{cell, 0, []Op{{Rows: 2}, {Rows: 3}}})
	log, merged := merge(t, one, two[:len(two)-1])
	if merged.Operations != 3 || !errors.Is(merged.Truncated[1], ErrTruncated) || merged.Truncated[0] != nil {
		t.Errorf("merged %+v", merged)
	}
	_, again := merge(t, log)
	if again.Operations != 3 || !errors.Is(again.Truncated[0], ErrTruncated) {
		t.Errorf("merged again %+v", again)
	}
	damaged := bytes.Clone(two)
	damaged[len(damaged)-1] ^= 1
	r, err := NewReader(bytes.NewReader(damaged))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(&bytes.Buffer{}, r); !errors.Is(err, ErrDamaged) {
		t.Errorf("merging a damaged log: error %v", err)
	}
}
