package ingest

import (
	"hash/maphash"
	"math/bits"

	"github.com/tsmark/tsmark/series"
)

// seriesIndex finds the series of a known table by the text that begins its
// rows. It keeps few bytes a series: the texts are put together again to
// compare them.
type seriesIndex struct {
	seed  maphash.Seed
	slots []uint32 // series and one, by hash; 0: free
	text  func(dst []byte, series uint32) []byte
	tmp   []byte
}

func newSeriesIndex(count uint32, text func(dst []byte, series uint32) []byte) *seriesIndex {
	x := &seriesIndex{seed: maphash.MakeSeed(), text: text}
	x.slots = make([]uint32, 1<<bits.Len64(2*uint64(count)))
	for s := range count {
		x.tmp = text(x.tmp[:0], s)
		at := x.slot(x.tmp)
		for x.slots[at] != 0 {
			at = (at + 1) % uint64(len(x.slots))
		}
		x.slots[at] = s + 1
	}
	return x
}

func (x *seriesIndex) slot(text []byte) uint64 {
	return maphash.Bytes(x.seed, text) % uint64(len(x.slots))
}

// find returns the first series that has the text.
func (x *seriesIndex) find(text []byte) (uint32, bool) {
	for at := x.slot(text); x.slots[at] != 0; at = (at + 1) % uint64(len(x.slots)) {
		s := x.slots[at] - 1
		if x.tmp = x.text(x.tmp[:0], s); string(x.tmp) == string(text) {
			return s, true
		}
	}
	return 0, false
}

// rowBegin returns what puts together the text before the values of a row, as
// package encode writes it.
func rowBegin(f Format, t *series.Table) func(dst []byte, s uint32) []byte {
	if f == TimescaleDB {
		return func(dst []byte, s uint32) []byte {
			dst = append(dst, "tags"...)
			for i := range t.Tags {
				dst = append(append(append(dst, ','), t.Tags[i].Key...), '=')
				dst, _ = t.Tags[i].Values.Append(dst, s)
			}
			return append(append(append(dst, '\n'), t.Name...), ',')
		}
	}
	tag := func(dst []byte, t *series.Tag, s uint32, before, after string) []byte {
		start := len(dst)
		dst = append(append(append(dst, before...), t.Key...), '=')
		dst, ok := t.Values.Append(dst, s)
		if !ok {
			return dst[:start]
		}
		return append(dst, after...)
	}
	return func(dst []byte, s uint32) []byte {
		dst = append(dst, t.Name...)
		for i := range t.Tags {
			if !t.Tags[i].Numeric() {
				dst = tag(dst, &t.Tags[i], s, ",", "")
			}
		}
		dst = append(dst, ' ')
		for i := range t.Tags {
			if t.Tags[i].Numeric() {
				dst = tag(dst, &t.Tags[i], s, "", ",")
			}
		}
		return dst
	}
}
