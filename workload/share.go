package workload

import (
	"github.com/tsmark/tsmark/series"
)

// Share is one client's part of a phase that several independent clients run: of a sequence, every
// Count-th place from Index on; of a dataset, whole series, so that the rows of a series keep their
// order. The zero value is the whole.
type Share struct {
	Index int `json:"index"` // which client, from 0
	Count int `json:"count"` // how many there are; 0: one
}

// Single reports whether there is one client only.
func (s Share) Single() bool { return s.Count <= 1 }

// Has reports whether a place, 0 or more, of a sequence is the client's.
func (s Share) Has(place int) bool { return s.Single() || place%s.Count == s.Index }

// Place is that in the whole sequence of the i-th one of the client's places.
func (s Share) Place(i int) int {
	if s.Single() {
		return i
	}
	return i*s.Count + s.Index
}

// CountOf returns how many of the first n places of a sequence are the client's.
func (s Share) CountOf(n int) int {
	switch {
	case s.Single():
		return n
	case n <= s.Index:
		return 0
	}
	return (n - s.Index + s.Count - 1) / s.Count
}

// Range returns the client's range of n consecutive items, such as workers, from first to before
// end. Its length is CountOf(n): the first clients have one more if the items cannot be divided evenly.
func (s Share) Range(n int) (first, end int) {
	if s.Single() {
		return 0, n
	}
	first = s.Index*(n/s.Count) + min(s.Index, n%s.Count)
	return first, first + s.CountOf(n)
}

// Divided is a Dataset whose shares are read each by itself, without drawing the rest, as far
// as it can.
type Divided interface {
	Dataset
	// Share returns the rows of a share. No two shares have a series in common. The share of a
	// dealt dataset consists of the rows of the clients in Range, and is dealt to as many clients.
	Share(Share) Dataset
}

// Dataset returns the rows of a share of a dataset, in their order: by itself where the
// dataset is Divided, else the series whose number is a place of the share.
func (s Share) Dataset(d Dataset) Dataset {
	if s.Single() {
		return d
	}
	if divided, ok := d.(Divided); ok {
		return divided.Share(s)
	}
	return s.BySeries(d)
}

// BySeries returns the rows of a dataset's series whose number is a place of the share.
func (s Share) BySeries(d Dataset) Dataset { return FilterSeries(d, s.seriesFilter()) }

// seriesFilter returns a function that reports whether a series, by number, is the client's.
func (s Share) seriesFilter() func(series uint32) bool {
	index, count := uint32(s.Index), uint32(s.Count)
	return func(series uint32) bool { return series%count == index }
}

// Reader returns the rows of a pass over a dataset that belong to the share: those of the series
// whose number is a place of the share.
func (s Share) Reader(r Reader) Reader {
	if s.Single() {
		return r
	}
	return FilterRows(r, s.seriesFilter())
}

// FilterSeries returns the rows of the wanted series of a dataset, in order. All other rows are
// generated too and then dropped, which costs less than encoding them.
func FilterSeries(d Dataset, wanted func(series uint32) bool) Dataset { return filtered{d, wanted} }

type filtered struct {
	Dataset
	wanted func(series uint32) bool
}

// Open implements Dataset.
func (f filtered) Open() Reader { return FilterRows(f.Dataset.Open(), f.wanted) }

// FilterRows returns the rows of the wanted series of a pass over a dataset, in full batches.
func FilterRows(r Reader, wanted func(series uint32) bool) Reader {
	return &filterReader{from: r, wanted: wanted}
}

// filterReader copies the rows that are wanted. It allocates nothing once its batches
// have been as long before.
type filterReader struct {
	from   Reader
	wanted func(series uint32) bool
	drawn  series.Batch
	run    int      // of drawn, that is at hand; it has been looked at
	rows   []uint32 // indexes in it of wanted rows not returned yet
	buffer []uint32 // their memory
	err    error    // that ended the pass
}

// Next implements Reader.
func (f *filterReader) Next(b *series.Batch, max int) error {
	b.Reset()
	var to *series.Run
	for left := max; left > 0; {
		if len(f.rows) == 0 {
			if !f.advance(max) {
				break
			}
			continue
		}
		from, n := &f.drawn.Runs[f.run], min(left, len(f.rows))
		if to == nil || to.Table != from.Table {
			to = b.Add(from.Table)
		}
		had := to.Rows()
		to.Grow(had + n)
		to.Copy(had, from, f.rows[:n])
		f.rows, left = f.rows[n:], left-n
	}
	if b.Rows() > 0 {
		return nil // an error waits until the rows before it are given out
	}
	return f.err
}

// advance moves to the next run, reading further rows if necessary; false: the pass has ended.
func (f *filterReader) advance(max int) bool {
	if f.run++; f.run >= len(f.drawn.Runs) {
		if f.err == nil {
			f.err = f.from.Next(&f.drawn, max)
		}
		if f.err != nil {
			f.drawn.Reset()
			return false
		}
		if f.run = 0; len(f.drawn.Runs) == 0 {
			return true
		}
	}
	f.buffer = f.buffer[:0]
	for row, s := range f.drawn.Runs[f.run].Series {
		if f.wanted(s) {
			f.buffer = append(f.buffer, uint32(row))
		}
	}
	f.rows = f.buffer
	return true
}
