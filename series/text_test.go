package series_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/series"
)

// The text of a number is read back as that number, and texts of one length
// are in the order of their numbers.
func TestTextOfNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for length := 1; length <= series.MaxText; length++ {
		count := series.Texts(length)
		for range 1000 {
			a, b := r.Int64N(count), r.Int64N(count)
			first, second := series.AppendText(nil, a, length), series.AppendText(nil, b, length)
			if len(first) != length {
				t.Fatalf("%d to %d characters is %q", a, length, first)
			}
			if read, ok := series.ParseText(first); !ok || read != a {
				t.Fatalf("%q is read as %d, %v; it was %d", first, read, ok, a)
			}
			if (a < b) != (bytes.Compare(first, second) < 0) {
				t.Fatalf("%d and %d are %q and %q", a, b, first, second)
			}
		}
		last := strings.Repeat("z", length)
		if got := string(series.AppendText(nil, count-1, length)); got != last {
			t.Errorf("the last text of %d characters is %q, want %q", length, got, last)
		}
	}
	if got := string(series.AppendText([]byte("x"), 10*62+61, 3)); got != "x0Az" {
		t.Errorf("got %q", got)
	}
}

func TestNoNumberOfText(t *testing.T) {
	for _, text := range []string{"a-", "ä", " ", "00000000000", "{", "@", "["} {
		if n, ok := series.ParseText([]byte(text)); ok {
			t.Errorf("%q is %d, want none", text, n)
		}
	}
}

func BenchmarkAppendText(b *testing.B) {
	text := make([]byte, 0, 16)
	b.ReportAllocs()
	for i := range b.N {
		text = series.AppendText(text[:0], int64(i)%3844, 2)
	}
}

// hard are texts that something may take for its own.
var hard = []string{"", "plain", "it's \"so\"", "two\nlines\\", "Ωμέγα 😀", strings.Repeat("x", series.MaxFreeText), "a\x00b"}

// freeRows fills a batch with a number of rows, each with a free text; every third text is NULL.
func freeRows(b *series.Batch, table *series.Table, rows int) {
	b.Reset()
	run := b.Add(table)
	for row := range rows { // the run grows as it is filled
		run.Grow(row + 1)
		run.Series[row], run.Times[row] = uint32(row), int64(row)
		if row%3 == 2 {
			run.SetNull(0, row)
			continue
		}
		run.Columns[0].SetText(row, []byte("replaced"))
		run.Columns[0].SetText(row, []byte(hard[row%len(hard)]))
	}
}

// Free texts are read as they were set, also where rows are copied into other batches,
// and where the memory of a batch is used again.
func TestFreeTexts(t *testing.T) {
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "note", Type: series.Text}}}
	check := func(of string, b *series.Batch) {
		t.Helper()
		for i := range b.Runs {
			run := &b.Runs[i]
			for row, s := range run.Series {
				c, want := &run.Columns[0], hard[int(s)%len(hard)]
				switch null := run.Lacks(0, row); {
				case null != (s%3 == 2):
					t.Fatalf("%s: NULL is %v in row %d", of, null, s)
				case null:
				case string(c.AppendText([]byte("x"), row, 0)) != "x"+want || c.TextLength(row, 0) != len(want):
					t.Fatalf("%s: row %d has %.40q, want %.40q", of, s, c.Text(row), want)
				}
			}
		}
	}
	var b series.Batch
	parts := make([]series.Batch, 3)
	for round := range 3 {
		freeRows(&b, table, 100-round)
		check("set", &b)
		for p := range parts {
			parts[p].Reset()
		}
		b.Deal(parts, func(run *series.Run, row int) int { return row % 3 })
		for p := range parts {
			check("dealt", &parts[p])
		}
		run := &b.Runs[0]
		if run.FreeBytes() < series.MaxFreeText {
			t.Errorf("%d bytes of texts", run.FreeBytes())
		}
		odd := []uint32{1, 3, 5, 7, 9, 11}
		run.Copy(0, run, odd)
		run.Grow(len(odd))
		check("moved up", &b)
	}
}

// The steady state allocates nothing, whatever the lengths.
func TestFreeTextsAllocateNothing(t *testing.T) {
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "note", Type: series.Text}}}
	var b series.Batch
	texts := make([][]byte, 100)
	for i := range texts {
		texts[i] = []byte(hard[i%len(hard)])
	}
	fill := func() {
		b.Reset()
		run := b.Add(table)
		run.Grow(len(texts))
		for row, text := range texts {
			run.Columns[0].SetText(row, text)
		}
	}
	fill()
	if n := testing.AllocsPerRun(20, fill); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

// Room is what a text takes at most.
func TestRoom(t *testing.T) {
	for want, f := range map[int]series.Field{
		3: {Type: series.Text, Length: 3}, 700: {Type: series.Text, Longest: 700}, series.MaxFreeText: {Type: series.Text},
	} {
		if got := f.Room(); got != want || f.Free() != (f.Length == 0) {
			t.Errorf("%+v has room for %d bytes, want %d", f, got, want)
		}
	}
	if f := (series.Field{Type: series.Int}); f.Free() {
		t.Error("an integer is a free text")
	}
}
