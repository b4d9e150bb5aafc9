package witness

import (
	"math/rand/v2"

	"github.com/tsmark/tsmark/series"
)

// Limits of a sample: windows of consecutive rows, and values.
const (
	maxWindows = 64
	maxValues  = 4 << 20
)

// Sample is rows as the load's reader reads them: all of few, a random choice of many. It
// keeps batches, so that finding the rows costs no pass of its own.
type Sample struct {
	seed    uint64
	windows []*window
	values  int64
	full    bool // a window had to go
	random  *rand.Rand
}

// window is consecutive rows of a file.
type window struct {
	file     int
	first    int64 // row of the file
	rows     int64
	priority uint64 // the largest is removed first if there are too many
	values   int64  // 8 bytes of a text count as one
	batch    series.Batch
}

// NewSample returns an empty sample, whose choice depends on the seed alone.
func NewSample(seed uint64) *Sample {
	return &Sample{seed: seed, random: rand.New(rand.NewPCG(seed, seed))}
}

// Add offers the rows of a batch; first is the number of its first row in the file.
func (s *Sample) Add(file int, first int64, b *series.Batch) {
	priority, rows := s.random.Uint64(), int64(b.Rows())
	if s.full {
		if last := s.last(); priority >= s.windows[last].priority {
			return
		}
	}
	columns := int64(1)
	for i := range b.Runs {
		columns = max(columns, int64(1+len(b.Runs[i].Table.Tags)+len(b.Runs[i].Table.Fields)))
	}
	w := &window{file: file, priority: priority, rows: min(rows, max(maxValues/maxWindows/columns, 16))}
	begin := int64(priority % uint64(rows-w.rows+1))
	w.first, w.values = first+begin, w.rows*columns
	w.take(b, int(begin))
	s.windows, s.values = append(s.windows, w), s.values+w.values
	for len(s.windows) > 1 && (len(s.windows) > maxWindows || s.values > maxValues) {
		s.full = true
		last := s.last()
		s.values -= s.windows[last].values
		s.windows[last] = s.windows[len(s.windows)-1]
		s.windows = s.windows[:len(s.windows)-1]
	}
}

// take copies rows of a batch from one on.
func (w *window) take(b *series.Batch, begin int) {
	var places []uint32
	left := int(w.rows)
	for i := range b.Runs {
		from := &b.Runs[i]
		n := min(from.Rows()-begin, left)
		if n <= 0 {
			begin = max(begin-from.Rows(), 0)
			continue
		}
		places = places[:0]
		for row := range n {
			places = append(places, uint32(begin+row))
		}
		run := w.batch.Add(from.Table)
		run.Grow(n)
		run.Copy(0, from, places)
		w.values += run.FreeBytes() / 8
		begin, left = 0, left-n
	}
}

// last returns the window that goes first.
func (s *Sample) last() int {
	at := 0
	for i, w := range s.windows {
		if w.priority > s.windows[at].priority {
			at = i
		}
	}
	return at
}

// windowsOf returns the windows of a file.
func (s *Sample) windowsOf(file int) []*window {
	var of []*window
	for _, w := range s.windows {
		if w.file == file {
			of = append(of, w)
		}
	}
	return of
}
