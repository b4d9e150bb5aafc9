package encode

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/series"
)

// An encoder precomputes the text before the fields of rows for at most maxReadySeries series and
// maxReadyText bytes in all tables. Beyond that it builds the text for each row, so that memory
// does not grow with the tags of millions of series.
const (
	maxReadySeries = 1 << 18
	maxReadyText   = 64 << 20
)

// seriesText holds the text that begins every row of a series of one table.
type seriesText struct {
	build func(dst []byte, series uint32) []byte
	first uint32   // series of the table
	text  []byte   // of all series, one after the other; nil: not kept
	ends  []uint32 // per series, where its text ends
}

func newSeriesText(of *series.Schema, t *series.Table, build func(dst []byte, series uint32) []byte) seriesText {
	own := of.Range(t)
	s := seriesText{build: build, first: own.First}
	if of.Series > maxReadySeries || own.First == own.End {
		return s
	}
	count, all := int(own.End-own.First), 0
	for _, t := range of.Tables {
		of := of.Range(t)
		all += int(of.End - of.First)
	}
	most := int(int64(maxReadyText) * int64(count) / int64(all))
	for i := own.First; i < own.End; i++ {
		s.text = build(s.text, i)
		if i == own.First { // others are about as long
			if whole := len(s.text) * count; whole <= most {
				s.text, s.ends = slices.Grow(s.text, whole), make([]uint32, 0, count)
			} else {
				return seriesText{build: build}
			}
		}
		if len(s.text) > most {
			return seriesText{build: build}
		}
		s.ends = append(s.ends, uint32(len(s.text)))
	}
	return s
}

// append appends the text of the series.
func (s *seriesText) append(dst []byte, series uint32) []byte {
	if s.ends == nil {
		return s.build(dst, series)
	}
	start, n := uint32(0), series-s.first
	if n > 0 {
		start = s.ends[n-1]
	}
	return append(dst, s.text[start:s.ends[n]]...)
}

// smallInts is one more than the largest integer whose text is kept ready.
const smallInts = 1024

// intText appends integers followed by a fixed suffix. The text of a small integer is precomputed
// in a word: seven bytes of text, and their number in the eighth. Larger integers consist of a
// small one and groups of four digits.
type intText struct {
	words  [smallInts]uint64
	fours  [10_000]uint32 // four digits each
	suffix string
	tail   uint32 // the suffix as bytes of a word
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
	for i := range t.fours {
		t.fours[i] = uint32('0'+i/1000) | uint32('0'+i/100%10)<<8 | uint32('0'+i/10%10)<<16 | uint32('0'+i%10)<<24
	}
	var b [4]byte
	copy(b[:], suffix)
	t.tail = binary.LittleEndian.Uint32(b[:])
	return t
}

// intRoom is the room that put needs, whatever the integer.
const intRoom = 24

// put writes v and the suffix to dst, which must have intRoom bytes, and
// returns how many it wrote.
func (t *intText) put(dst []byte, v int64) int {
	dst = dst[:intRoom]
	switch u := uint64(v); {
	case u < smallInts:
		w := t.words[u]
		binary.LittleEndian.PutUint64(dst, w)
		return int(w >> 56)
	case u < 1e4:
		return t.writeTail(dst, 0, u)
	case u < smallInts*1e4:
		return t.writeTail(dst, t.head(dst, u/1e4), u%1e4)
	case u < 1e8:
		return t.writeTail(dst, t.group(dst, 0, u/1e4), u%1e4)
	case u < smallInts*1e8:
		return t.writeTail(dst, t.group(dst, t.head(dst, u/1e8), u/1e4%1e4), u%1e4)
	case u < 1e12:
		return t.writeTail(dst, t.group(dst, t.group(dst, 0, u/1e8), u/1e4%1e4), u%1e4)
	case u < smallInts*1e12:
		return t.writeTail(dst, t.group(dst, t.group(dst, t.head(dst, u/1e12), u/1e8%1e4), u/1e4%1e4), u%1e4)
	}
	return len(append(strconv.AppendInt(dst[:0], v, 10), t.suffix...))
}

// length returns how many bytes put writes.
func (t *intText) length(v int64) int {
	if u := uint64(v); u < smallInts {
		return int(t.words[u] >> 56)
	}
	return intLength(v) + len(t.suffix)
}

// intLength returns the length of an integer's text.
func intLength(v int64) int {
	if v < 0 {
		return 1 + digits(-uint64(v))
	}
	return digits(uint64(v))
}

// digits returns how many decimal digits a number has.
func digits(u uint64) int {
	n := 1
	for ; u >= 1e4; u /= 1e4 {
		n += 4
	}
	switch {
	case u >= 1e3:
		return n + 3
	case u >= 100:
		return n + 2
	case u >= 10:
		return n + 1
	}
	return n
}

// head writes a small integer without its suffix.
func (t *intText) head(dst []byte, small uint64) int {
	w := t.words[small]
	binary.LittleEndian.PutUint64(dst, w)
	return int(w>>56) - len(t.suffix)
}

// group writes four digits at n and returns the index after them.
func (t *intText) group(dst []byte, n int, four uint64) int {
	binary.LittleEndian.PutUint32(dst[n:], t.fours[four])
	return n + 4
}

// writeTail writes the last four digits and the suffix at n.
func (t *intText) writeTail(dst []byte, n int, four uint64) int {
	n = t.group(dst, n, four)
	binary.LittleEndian.PutUint32(dst[n:], t.tail)
	return n + len(t.suffix)
}

// appendFloat appends v as TSBS does: the shortest digits that give v back,
// never with an exponent.
func appendFloat(dst []byte, v float64) []byte {
	n, ok := scaleDecimals(v)
	if !ok {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	if v < 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, n/decimals, 10)
	if n %= decimals; n == 0 {
		return dst
	}
	end := len(dst) + 6
	dst = append(dst, '.', '0'+byte(n/1e4), '0'+byte(n/1e3%10), '0'+byte(n/100%10), '0'+byte(n/10%10), '0'+byte(n%10))
	for dst[end-1] == '0' {
		end--
	}
	return dst[:end]
}

// floatLength returns the number of bytes that appendFloat appends. It may write to memory, which
// it returns, extended if necessary.
func floatLength(v float64, memory []byte) (int, []byte) {
	n, ok := scaleDecimals(v)
	if !ok {
		memory = strconv.AppendFloat(memory[:0], v, 'f', -1, 64)
		return len(memory), memory
	}
	length := digits(n / decimals)
	if v < 0 {
		length++
	}
	if n %= decimals; n == 0 {
		return length, memory
	}
	for length += 6; n%10 == 0; n /= 10 {
		length--
	}
	return length, memory
}

// decimals is the number of parts per unit of a fixed-point number.
const decimals = 1e5

// scaleDecimals returns, without its sign, how often 1/decimals is in v, where that
// number's digits are the shortest that give v back.
//
// Simulated readings have few decimals. Of two different decimals of at most 15
// digits no two are the same double, so one of them that gives v back is, less
// the zeros at its end, the shortest.
func scaleDecimals(v float64) (uint64, bool) {
	positive := math.Abs(v)
	scaled := positive * decimals
	if !(scaled > 0 && scaled < 1e15) {
		return 0, false
	}
	n := uint64(scaled + 0.5)
	return n, float64(n)/decimals == positive
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
	unit int64 // that times are counted in, in nanoseconds; 0: one
	time int64
	text [20]byte
	n    int
}

func (t *timeText) append(dst []byte, time int64) []byte {
	if t.n == 0 || time != t.time {
		t.time = time
		t.n = len(strconv.AppendInt(t.text[:0], time/max(t.unit, 1), 10))
	}
	return append(dst, t.text[:t.n]...)
}

// tableIndex finds the position of a table among those of a schema.
type tableIndex struct {
	tables []*series.Table
	places map[*series.Table]int // nil: there are few
}

func newTableIndex(tables []*series.Table) tableIndex {
	x := tableIndex{tables: tables}
	if len(tables) > 16 {
		x.places = map[*series.Table]int{}
		for i, t := range tables {
			x.places[t] = i
		}
	}
	return x
}

func (x *tableIndex) lookUp(table *series.Table) int {
	if x.places != nil {
		return x.places[table]
	}
	return slices.Index(x.tables, table)
}

// tables finds the encoder of a run's table.
type tables[T any] struct {
	keys   []*series.Table
	index  tableIndex
	values []T
}

func newTables[T any](s *series.Schema, make func(*series.Table) T) tables[T] {
	t := tables[T]{keys: s.Tables, index: newTableIndex(s.Tables)}
	for _, table := range s.Tables {
		t.values = append(t.values, make(table))
	}
	return t
}

func (t *tables[T]) lookUp(table *series.Table) *T { return &t.values[t.index.lookUp(table)] }

// appendSingle is appendFloat of a float of 32 bits: the shortest digits that
// give it back.
func appendSingle(dst []byte, v float64) []byte { return strconv.AppendFloat(dst, v, 'f', -1, 32) }

// appendDate appends a number of days since 1970-01-01 as 2006-01-02.
func appendDate(dst []byte, days int64) []byte {
	return time.Unix(days*24*60*60, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// appendValues appends the values of a row, each but the last followed by the
// separator, which is also the suffix of ints, and the end of the line. A field
// without a value leaves its place empty. Of types that TSBS does not have, a
// Bool is true or false, a Float32 the float of 64 bits that equals it, a
// Timestamp its nanoseconds, as the row's time, and a Date 2006-01-02.
func appendValues(dst []byte, run *series.Run, row int, ints *intText, separator byte) []byte {
	for f := range run.Table.Width(run.Series[row]) {
		c := &run.Columns[f]
		if c.Nulls.Has(row) {
			dst = append(dst, separator)
			continue
		}
		switch field := &run.Table.Fields[f]; field.Type {
		case series.Float, series.Float32:
			dst = append(appendFloat(dst, c.Floats[row]), separator)
		case series.Bool:
			dst = append(strconv.AppendBool(dst, c.Ints[row] != 0), separator)
		case series.Text, series.Blob:
			dst = append(series.AppendText(dst, c.Ints[row], field.Length), separator) // there are no free ones: see fixedTexts
		case series.Date:
			dst = append(appendDate(dst, c.Ints[row]), separator)
		default:
			dst = room(dst, intRoom)
			n := len(dst)
			dst = dst[:n+ints.put(dst[n:n+intRoom], c.Ints[row])]
		}
	}
	dst[len(dst)-1] = '\n'
	return dst
}
