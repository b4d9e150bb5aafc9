package twin

import (
	"cmp"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
)

// leastBlock is the number of rows that a block has at least, on average. Blocks are longer where
// there are many series, since each is looked at in each block.
const leastBlock = 4096

// mostStratified is the number of series up to which the levels of a field are drawn evenly.
const mostStratified = 10_000

// reader is one pass over the rows of all tables.
type reader struct {
	tables   []*tableReader
	from     int64 // when the next block begins
	end      int64
	duration int64 // of a block
	at       int   // table whose rows are returned
	ended    bool
	text     []byte
}

// tableReader draws the rows of a table.
type tableReader struct {
	*table
	states []state
	next   []int64 // time of the next row of each series; math.MaxInt64: it has none
	fields []fieldState
	rows   rows
	order  []uint32 // of rows, by arrival
	starts []uint32 // memory of sort
	at     int      // rows of order that were returned
}

// state is what a series remembers.
type state struct {
	random     splitmix.Stream
	interval   float64
	begin, end int64
	phase      float64
	slot       int64 // of the next row, if rows are regular
	left       int64 // rows from the next one on, if they are events
	last       int64 // time of the last row
}

// rows are the rows of a block, and late rows that will arrive in a later one.
type rows struct {
	arrival, time []int64
	number        []uint32
	columns       []values
}

// values are those of a field.
type values struct {
	ints   []int64
	floats []float64
	null   []bool // of fields that may be missing
}

func newReader(d *Dataset) *reader {
	r := &reader{from: d.start, end: d.end, at: len(d.tables)}
	rate, count, pending := 0.0, 0.0, 0.0 // rate: rows in a nanosecond
	for _, t := range d.tables {
		r.tables = append(r.tables, newTableReader(t))
		own := float64(t.rows) / float64(d.end-d.start)
		rate, count = rate+own, count+float64(t.count)
		pending += float64(own * t.Late.Share * t.delays.Mean())
	}
	want := max(leastBlock, count/8, pending) // rows of a block
	r.duration = int64(min(max(want/rate, 1), float64(d.end-d.start)))
	return r
}

func newTableReader(t *table) *tableReader {
	n := len(t.columns)
	r := &tableReader{
		table: t, states: make([]state, t.count), next: make([]int64, t.count), fields: make([]fieldState, int(t.count)*n), rows: rows{columns: make([]values, n)},
	}
	var places [][]uint32 // of each series among the levels, per field
	if t.count <= mostStratified {
		for f := range n {
			places = append(places, shuffle(t.count, t.seed+uint64(f)))
		}
	}
	independent := make([]float64, n)
	for k := range r.states {
		s := &r.states[k]
		s.random = splitmix.Stream(splitmix.Mix(t.seed + uint64(k)*splitmix.Golden + 2))
		s.interval, s.begin, s.end = t.life(uint32(k))
		s.last = math.MinInt64
		for f := range independent {
			if places == nil {
				independent[f] = t.scores.score(s.random.Next())
				continue
			}
			share := (float64(places[f][k]) + 0.5) / float64(t.count)
			independent[f] = math.Sqrt2 * math.Erfinv(2*share-1)
		}
		t.begin(r.fields[k*n:][:n], independent, &s.random)
		if t.Regular {
			if !t.Aligned {
				s.phase = float64(splitmix.Unit(s.random.Next()) * s.interval)
			}
			s.slot = max(int64(math.Ceil((float64(s.begin-t.start)-s.phase)/s.interval)), 0)
		} else {
			s.left = t.rowsOf(uint32(k))
			s.last = s.begin - t.precision
		}
		r.next[k] = r.nextTime(s)
	}
	return r
}

// shuffle returns the numbers below n in a random order.
func shuffle(n uint32, seed uint64) []uint32 {
	random := splitmix.Stream(splitmix.Mix(seed + 5))
	list := make([]uint32, n)
	for i := range list {
		j := random.Draw(uint64(i + 1))
		list[i], list[j] = list[j], uint32(i)
	}
	return list
}

// nextTime draws the time of the next row of a series; math.MaxInt64: it has none.
func (r *tableReader) nextTime(s *state) int64 {
	var t int64
	if r.Regular {
		at := s.phase + float64(float64(s.slot)*s.interval)
		if r.Jitter > 0 { // the time between two rows has the jitter of both
			at += float64((splitmix.Unit(s.random.Next()) - 0.5) * r.Jitter * s.interval * math.Sqrt(6))
		}
		t = r.start + int64(at)
		t = max(t, s.begin)
	} else {
		if s.left == 0 {
			return math.MaxInt64
		}
		// The rows that are left divide the time that is left.
		left := float64(s.end - s.last)
		share := r.Spacing.Value(splitmix.Unit(s.random.Next())) / (float64(s.left) + 0.5)
		t = s.last + int64(left*min(share, 0.98))
	}
	t = max(RoundUp(t-r.precision+1, r.precision), s.last+r.precision)
	if t >= s.end {
		return math.MaxInt64
	}
	return t
}

// Next implements workload.Reader.
func (r *reader) Next(b *series.Batch, most int) error {
	b.Reset()
	for left := most; left > 0; {
		if r.at == len(r.tables) {
			if r.ended {
				break
			}
			r.advance()
			continue
		}
		t := r.tables[r.at]
		if t.at == len(t.order) {
			r.at++
			continue
		}
		n := min(left, len(t.order)-t.at)
		r.emit(b, t, t.order[t.at:][:n])
		t.at, left = t.at+n, left-n
	}
	if b.Rows() == 0 {
		return io.EOF
	}
	return nil
}

// advance draws the rows of the next block.
func (r *reader) advance() {
	end := r.from + r.duration
	if end >= r.end {
		end, r.ended = math.MaxInt64, true // late rows, too
	}
	for _, t := range r.tables {
		t.advance(r.from, end)
	}
	r.from, r.at = end, 0
}

// advance draws the rows from one time to before another, and sorts the rows that arrive until then.
func (r *tableReader) advance(from, end int64) {
	r.keep(from)
	for k, next := range r.next {
		if next < end {
			r.drawRows(k, end)
		}
	}
	r.sort(from, end)
	r.at = 0
}

// keep drops the rows that arrived before a time.
func (r *tableReader) keep(from int64) {
	w, to := &r.rows, 0
	if r.Late.Share > 0 {
		for i, arrival := range w.arrival {
			if arrival < from {
				continue
			}
			w.arrival[to], w.time[to], w.number[to] = arrival, w.time[i], w.number[i]
			for f := range w.columns {
				c := &w.columns[f]
				if len(c.ints) > 0 {
					c.ints[to] = c.ints[i]
				} else {
					c.floats[to] = c.floats[i]
				}
				if len(c.null) > 0 {
					c.null[to] = c.null[i]
				}
			}
			to++
		}
	}
	w.arrival, w.time, w.number = w.arrival[:to], w.time[:to], w.number[:to]
	for f := range w.columns {
		c := &w.columns[f]
		c.ints, c.floats, c.null = c.ints[:min(to, len(c.ints))], c.floats[:min(to, len(c.floats))], c.null[:min(to, len(c.null))]
	}
}

// drawRows draws the rows of a series before a time.
func (r *tableReader) drawRows(k int, end int64) {
	s, n, w := &r.states[k], len(r.columns), &r.rows
	fields := r.fields[k*n:][:n]
	for r.next[k] < end {
		t := r.next[k]
		arrival, late := t, r.Late.Share > 0 && splitmix.Unit(s.random.Next()) < r.Late.Share
		if late {
			arrival += int64(r.delays.Value(splitmix.Unit(s.random.Next()))) + 1 // after the row at that time
		}
		w.arrival, w.time, w.number = append(w.arrival, arrival), append(w.time, t), append(w.number, r.first+uint32(k))
		r.drawValues(s, fields, t)
		s.last = t
		if r.Regular {
			s.slot++
			if r.gap > 0 && splitmix.Unit(s.random.Next()) < r.gap {
				s.slot += int64(r.Gaps.Lengths.Value(splitmix.Unit(s.random.Next())) + 0.5)
			}
		} else {
			s.left--
		}
		r.next[k] = r.nextTime(s)
		if next := r.next[k]; late && next != math.MaxInt64 {
			w.arrival[len(w.arrival)-1] = max(arrival, next+1)
		}
	}
}

// drawValues draws the values of a row.
func (r *tableReader) drawValues(s *state, fields []fieldState, t int64) {
	p, found := placeOf(t), false
	for f := range r.columns {
		c, to := &r.columns[f], &r.rows.columns[f]
		x := s.random.Next()
		if c.kind.UsesInts() {
			to.ints = append(to.ints, c.integer(&fields[f], r.scores, x, p, t))
		} else {
			to.floats = append(to.floats, c.number(&fields[f], r.scores, x, p, t))
		}
		null := false
		if c.Null > 0 || c.Absent > 0 {
			null = fields[f].absent || c.Null > 0 && splitmix.Unit(s.random.Next()) < c.Null
			to.null = append(to.null, null)
		}
		found = found || !null
	}
	if !found { // no system stores a row without values
		null := r.rows.columns[0].null
		null[len(null)-1] = false
	}
}

// sort sorts the rows that arrive before a time. Rows that arrive at the same time stay in the order
// in which they were drawn.
func (r *tableReader) sort(from, end int64) {
	arrivals := r.rows.arrival
	last := from
	n := 0
	for _, a := range arrivals {
		if a < end {
			last = max(last, a)
			n++
		}
	}
	if cap(r.order) < n {
		r.order = make([]uint32, n+n/4)
	}
	r.order = r.order[:n]
	// The time is divided into about as many parts as there are rows.
	shift := max(0, bits.Len64(uint64(last-from))-bits.Len(uint(n)))
	parts := int((last-from)>>shift) + 1
	if cap(r.starts) < parts+1 {
		r.starts = make([]uint32, 2*parts)
	}
	starts := r.starts[:parts+1]
	clear(starts)
	for _, a := range arrivals {
		if a < end {
			starts[(a-from)>>shift+1]++
		}
	}
	for p := 1; p <= parts; p++ {
		starts[p] += starts[p-1]
	}
	for i, a := range arrivals {
		if a < end {
			p := (a - from) >> shift
			r.order[starts[p]] = uint32(i)
			starts[p]++
		}
	}
	begin := uint32(0)
	for p := range parts {
		r.sortPart(r.order[begin:starts[p]])
		begin = starts[p]
	}
}

// sortPart sorts rows by their arrival, and by their place if they arrive at the same time.
func (r *tableReader) sortPart(order []uint32) {
	arrivals := r.rows.arrival
	if len(order) > 16 {
		slices.SortFunc(order, func(a, b uint32) int {
			if c := cmp.Compare(arrivals[a], arrivals[b]); c != 0 {
				return c
			}
			return cmp.Compare(a, b)
		})
		return
	}
	for i := 1; i < len(order); i++ {
		moved, to := order[i], i
		for ; to > 0 && arrivals[order[to-1]] > arrivals[moved]; to-- {
			order[to] = order[to-1]
		}
		order[to] = moved
	}
}

// emit adds rows of a table to a batch.
func (r *reader) emit(b *series.Batch, t *tableReader, order []uint32) {
	n := len(b.Runs)
	if n == 0 || b.Runs[n-1].Table != t.schema {
		b.Add(t.schema)
		n++
	}
	run, w := &b.Runs[n-1], &t.rows
	at := run.Rows()
	run.Grow(at + len(order))
	numbers, times := run.Series[at:][:len(order)], run.Times[at:][:len(order)]
	for i, row := range order {
		numbers[i], times[i] = w.number[row], w.time[row]
	}
	for f := range w.columns {
		from, to := &w.columns[f], &run.Columns[f]
		free := t.schema.Fields[f].Free()
		if t.columns[f].kind.UsesInts() {
			ints := to.Ints[at:][:len(order)]
			for i, row := range order {
				ints[i] = from.ints[row]
				if free && (len(from.null) == 0 || !from.null[row]) {
					r.text = t.columns[f].appendText(r.text[:0], from.ints[row], t.scores)
					to.SetText(at+i, r.text)
				}
			}
		} else {
			floats := to.Floats[at:][:len(order)]
			for i, row := range order {
				floats[i] = from.floats[row]
			}
		}
		if len(from.null) > 0 {
			for i, row := range order {
				if from.null[row] {
					run.SetNull(f, at+i)
				}
			}
		}
	}
}
