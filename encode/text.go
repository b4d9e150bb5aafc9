package encode

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/series"
)

// maxCachedSeries bounds the series whose text before the fields is kept
// ready. Beyond it the text is put together row by row, so that memory does
// not grow with the tags of millions of series.
const maxCachedSeries = 1 << 16

// seriesText holds the text that begins every row of a series of one table.
type seriesText struct {
	build func(dst []byte, series uint32) []byte
	text  []byte   // of all series, one after the other; nil: not cached
	ends  []uint32 // per series, where its text ends
}

func newSeriesText(count uint32, build func(dst []byte, series uint32) []byte) seriesText {
	s := seriesText{build: build}
	if count > maxCachedSeries {
		return s
	}
	s.ends = make([]uint32, count)
	for i := range s.ends {
		s.text = build(s.text, uint32(i))
		s.ends[i] = uint32(len(s.text))
	}
	return s
}

// append appends the text of the series.
func (s *seriesText) append(dst []byte, series uint32) []byte {
	if s.ends == nil {
		return s.build(dst, series)
	}
	start := uint32(0)
	if series > 0 {
		start = s.ends[series-1]
	}
	return append(dst, s.text[start:s.ends[series]]...)
}

// smallInts is one more than the largest integer whose text is kept ready.
const smallInts = 1024

// intText appends integers followed by a fixed suffix. A small integer's text
// lies ready in a word: seven bytes of text, and their number in the eighth.
type intText struct {
	words  [smallInts]uint64
	suffix string
}

// newIntText prepares the small integers with the suffix, of at most three
// bytes.
func newIntText(suffix string) *intText {
	t := &intText{suffix: suffix}
	for i := range t.words {
		var b [8]byte
		b[7] = byte(copy(b[:7], strconv.Itoa(i)+suffix))
		t.words[i] = binary.LittleEndian.Uint64(b[:])
	}
	return t
}

// intRoom is the room that put needs, whatever the integer.
const intRoom = 24

// put writes v and the suffix to dst, which must have intRoom bytes, and
// returns how many it wrote.
func (t *intText) put(dst []byte, v int64) int {
	if uint64(v) < smallInts {
		w := t.words[v]
		binary.LittleEndian.PutUint64(dst, w)
		return int(w >> 56)
	}
	return len(append(strconv.AppendInt(dst[:0], v, 10), t.suffix...))
}

// appendFloat appends v as TSBS does: the shortest digits that give v back,
// never with an exponent.
func appendFloat(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// room makes sure that n bytes can be appended in place.
func room(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return slices.Grow(dst, n)
}

// timeText appends times. Rows of an epoch share their time, so its text is
// made once.
type timeText struct {
	time int64
	text [20]byte
	n    int
}

func (t *timeText) append(dst []byte, time int64) []byte {
	if t.n == 0 || time != t.time {
		t.time = time
		t.n = len(strconv.AppendInt(t.text[:0], time, 10))
	}
	return append(dst, t.text[:t.n]...)
}

// tables finds the encoder of a run's table.
type tables[T any] struct {
	keys   []*series.Table
	values []T
}

func newTables[T any](s *series.Schema, make func(*series.Table) T) tables[T] {
	var t tables[T]
	for _, table := range s.Tables {
		t.keys = append(t.keys, table)
		t.values = append(t.values, make(table))
	}
	return t
}

func (t *tables[T]) of(table *series.Table) *T {
	return &t.values[slices.Index(t.keys, table)]
}
