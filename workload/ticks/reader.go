package ticks

import (
	"container/heap"
	"errors"
	"io"
	"math/bits"
	"time"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
)

// leastBlock is the number of rows that a block has at least, on average. Blocks are longer where there
// are many symbols, since each is looked at in each block.
const leastBlock = 2048

// symbol is the state of a symbol.
type symbol struct {
	random   splitmix.Stream
	number   uint32
	event    int32  // the next one of the session, from 0
	events   int32  // of the session
	part     uint64 // the share of the session of an event between the first two and the last, as a fraction of 2^64
	tick     int32  // in units of 0.0001
	anchor   int32  // the mean price, in ticks, as the others
	middle   int32
	bid, ask int32
	price    int32 // of the last trade
	size     int32
	last     int64 // time of the last event
}

// row is a row of a block. Prices are in units of 0.0001.
type row struct {
	arrival, time int64
	symbol        uint32
	low, high     int32 // bid and ask, or price
	size, other   int32 // bid and ask size, or size and condition
}

// reader is one pass over the rows of some symbols.
type reader struct {
	*Dataset
	symbols []symbol
	next    []int64 // time of the next event of each symbol

	session, block, blocks int // the block to make next
	curve                  curve
	from                   int64 // when the block begins
	pending                lateReports

	quotes, trades rows
	at             int // rows of the block that were returned
	conditions     struct{ regular, odd, opening, closing, cancelled, corrected int32 }
}

// rows are those of a table in a block.
type rows struct {
	drawn, sorted []row
	starts        []uint32 // memory of sort
}

func newReader(d *Dataset) *reader {
	r := &reader{Dataset: d, session: -1}
	c := &r.conditions
	c.regular, c.odd, c.opening = conditionNumber(regular), conditionNumber(oddLot), conditionNumber(opening)
	c.closing, c.cancelled, c.corrected = conditionNumber(closing), conditionNumber(cancelled), conditionNumber(corrected)
	for n := uint64(d.first); n < uint64(len(d.weights)); n += uint64(d.step) {
		r.symbols = append(r.symbols, newSymbol(d.seed, uint32(n)))
	}
	r.next = make([]int64, len(r.symbols))
	return r
}

// newSymbol draws the tick and the mean price of a symbol: 1,000 to 32,000 ticks of 0.01, or of 0.05 for
// a tenth of the symbols, and of 0.0001 for a twentieth.
func newSymbol(seed uint64, number uint32) symbol {
	s := symbol{random: splitmix.Stream(splitmix.Mix(seed + uint64(number)*splitmix.Golden + 1)), number: number, tick: 100}
	switch x := s.random.Draw(20); {
	case x < 2:
		s.tick = 500
	case x == 2:
		s.tick = 1
	}
	s.anchor = 1000 << s.random.Draw(5)
	s.anchor += int32(s.random.Draw(uint64(s.anchor)))
	s.middle = s.anchor
	return s
}

// Next implements workload.Reader.
func (r *reader) Next(b *series.Batch, most int) error {
	b.Reset()
	for left := most; left > 0; {
		quotes := len(r.quotes.sorted)
		if r.at == quotes+len(r.trades.sorted) {
			if err := r.advance(); errors.Is(err, io.EOF) {
				break
			}
			continue
		}
		table, from := r.quote, r.quotes.sorted
		if from = from[min(r.at, quotes):]; len(from) == 0 {
			table, from = r.trade, r.trades.sorted[r.at-quotes:]
		}
		from = from[:min(len(from), left)]
		r.emit(b, table, from)
		r.at, left = r.at+len(from), left-len(from)
	}
	if b.Rows() == 0 {
		return io.EOF
	}
	return nil
}

// emit adds rows of a table to a batch.
func (r *reader) emit(b *series.Batch, table *series.Table, from []row) {
	n := len(b.Runs)
	if n == 0 || b.Runs[n-1].Table != table {
		b.Add(table)
		n++
	}
	run := &b.Runs[n-1]
	at := run.Rows()
	run.Grow(at + len(from))
	numbers, times := run.Series[at:][:len(from)], run.Times[at:][:len(from)]
	if table == r.quote {
		bidPrices, askPrices := run.Columns[0].Floats[at:][:len(from)], run.Columns[1].Floats[at:][:len(from)]
		bidSizes, askSizes := run.Columns[2].Ints[at:][:len(from)], run.Columns[3].Ints[at:][:len(from)]
		for i := range from {
			f := &from[i]
			numbers[i], times[i] = f.symbol, f.time
			bidPrices[i], askPrices[i] = decimal(f.low), decimal(f.high)
			bidSizes[i], askSizes[i] = int64(f.size), int64(f.other)
		}
		return
	}
	prices, sizes, conditions := run.Columns[0].Floats[at:][:len(from)], run.Columns[1].Ints[at:][:len(from)], run.Columns[2].Ints[at:][:len(from)]
	for i := range from {
		f := &from[i]
		numbers[i], times[i] = f.symbol, f.time
		prices[i], sizes[i], conditions[i] = decimal(f.low), int64(f.size), int64(f.other)
	}
}

// decimal returns the double nearest to a number of units of 0.0001: the quotient is rounded once.
func decimal(units int32) float64 { return float64(units) / 10_000 }

// auction is the time at the beginning and at the end of a session in which each symbol has its first
// quote and the opening trade, and the closing trade.
const auction = int64(time.Second)

// beginSession starts the next session.
func (r *reader) beginSession() error {
	if r.session == len(r.sessions)-1 {
		return io.EOF
	}
	r.session++
	s := r.sessions[r.session]
	r.curve.fill(s.open+auction, s.close-auction)
	least := int64(max(leastBlock, len(r.weights)/8))
	r.block, r.blocks, r.from = 0, int(r.rowsOf(s)/least)+1, s.open
	for i := range r.symbols {
		of := &r.symbols[i]
		of.event, of.events = 0, int32(r.symbolRows(of.number, s))
		if between := uint64(of.events - leastRows); between > 0 {
			of.part = ^uint64(0) / between
		}
		// The price jumps overnight by up to 1/64 of its mean.
		of.middle = of.bound(of.middle + int32(of.random.Draw(uint64(of.anchor/32))) - of.anchor/64)
		of.last = s.open - r.unit
		r.next[i] = r.eventTime(of)
	}
	return nil
}

// advance makes the next block. Reports that are late when a session ends are in a block of their own.
func (r *reader) advance() error {
	for r.session < 0 || r.block > r.blocks {
		if err := r.beginSession(); err != nil {
			return err
		}
	}
	end := r.sessions[r.session].close
	switch {
	case r.block == r.blocks:
		for i := range r.pending {
			end = max(end, r.pending[i].arrival+1)
		}
	case r.block < r.blocks-1:
		end = r.curve.time(^uint64(0) / uint64(r.blocks) * uint64(r.block+1))
	}
	r.quotes.drawn, r.trades.drawn, r.at = r.quotes.drawn[:0], r.trades.drawn[:0], 0
	for i, next := range r.next {
		if next < end && r.block < r.blocks {
			r.drawEvents(i, end)
		}
	}
	for len(r.pending) > 0 && r.pending[0].arrival < end {
		r.trades.drawn = append(r.trades.drawn, r.pending.take())
	}
	r.quotes.sort(r.from, end)
	r.trades.sort(r.from, end)
	r.from = end
	r.block++
	return nil
}

// time returns the time at which a share of a session, as a fraction of 2^64, is over.
func (c *curve) time(share uint64) int64 {
	k := share >> (64 - knotBits)
	inside, _ := bits.Mul64(share<<knotBits, uint64(c[k+1]-c[k]))
	return c[k] + int64(inside)
}

// eventTime draws the time of a symbol's next event.
func (r *reader) eventTime(s *symbol) int64 {
	x := s.random.Next()
	var at int64
	switch of := r.sessions[r.session]; {
	case s.event == 0:
		at = of.open + int64(splitmix.Scale(x, uint64(auction/2)))
	case s.event == 1:
		at = of.open + auction/2 + int64(splitmix.Scale(x, uint64(auction/2)))
	case s.event == s.events-1:
		at = of.close - auction + int64(splitmix.Scale(x, uint64(auction)))
	default:
		// Each event has a part of the session to itself, and a random place in it.
		at = r.curve.time(s.part*uint64(s.event-2) + splitmix.Scale(x, s.part))
		// Most events follow the one before them at once.
		if x&3 != 0 {
			at = min(at, s.last+int64(2<<(10+(x>>2)&15))+int64(x>>6&1023))
		}
	}
	return max(at-at%r.unit, s.last+r.unit)
}

// drawEvents draws the events of a symbol before a time.
func (r *reader) drawEvents(i int, end int64) {
	s := &r.symbols[i]
	for {
		at := r.next[i]
		to := row{arrival: at, time: at, symbol: s.number}
		trades := r.drawEvent(s, &to)
		if at >= r.start && at < r.end {
			switch {
			case !trades:
				r.quotes.drawn = append(r.quotes.drawn, to)
			case to.arrival > at:
				r.pending.add(to)
			default:
				r.trades.drawn = append(r.trades.drawn, to)
			}
		}
		s.last = at
		if s.event++; s.event == s.events {
			r.next[i] = r.sessions[r.session].close
			return
		}
		if r.next[i] = r.eventTime(s); r.next[i] >= end {
			return
		}
	}
}

// drawEvent draws the values of a symbol's next event, and reports whether it is a trade.
func (r *reader) drawEvent(s *symbol, to *row) (trades bool) {
	x := s.random.Next()
	switch last := s.event == s.events-1; {
	case s.event == 1 || last:
		s.trade(x, to)
		if to.other = r.conditions.opening; last {
			to.other = r.conditions.closing
		}
		return true
	case s.event == 0 || splitmix.Scale(x, r.perTrade+1) > 0:
		s.quote(x, to)
		return false
	case x&511 == 0: // the trade before this one is cancelled
		to.low, to.size, to.other = s.price, s.size, r.conditions.cancelled
	case x&511 == 1:
		to.low, to.size, to.other = s.price+s.tick, s.size, r.conditions.corrected
	default:
		s.trade(x, to)
		if to.other = r.conditions.regular; x>>35&7 < 3 { // fewer shares than a round lot
			s.size = 1 + int32((x>>38&0xFFFF)*99>>16)
			to.size, to.other = s.size, r.conditions.odd
		}
	}
	if r.late > 0 {
		if y := s.random.Next(); splitmix.Unit(y) < r.late {
			to.arrival += r.leastDelay + int64(s.random.Draw(uint64(r.mostDelay-r.leastDelay)+1))
		}
	}
	return true
}

// bound returns a price within half and twice the mean.
func (s *symbol) bound(price int32) int32 { return min(max(price, s.anchor/2), 2*s.anchor) }

// quote draws a quote: every other time the price moves by a tick.
func (s *symbol) quote(x uint64, to *row) {
	switch x & 3 {
	case 0:
		s.middle = s.bound(s.middle - 1)
	case 1:
		s.middle = s.bound(s.middle + 1)
	}
	spread := int32(1 + bits.TrailingZeros8(uint8(x>>2)|1<<6))
	s.bid = s.middle - spread/2
	s.ask = s.bid + spread
	to.low, to.high = s.bid*s.tick, s.ask*s.tick
	to.size, to.other = 100*(1+int32(x>>10&15)), 100*(1+int32(x>>14&15))
}

// trade draws the price of a trade and its size: at the prevailing bid or ask, or between them.
func (s *symbol) trade(x uint64, to *row) {
	price := s.bid
	switch {
	case x>>9&7 == 0:
		price += int32(x>>12&63) * (s.ask - s.bid) / 63
	case x>>18&1 == 1:
		price = s.ask
	}
	s.price, s.size = price*s.tick, 100*(1+int32(bits.TrailingZeros16(uint16(x>>19)|1<<9)))
	to.low, to.size = s.price, s.size
}

// sort sorts the rows by their arrival, from one time to before another. Rows that arrive at the same time stay
// in the order in which they were drawn.
func (r *rows) sort(from, end int64) {
	n := len(r.drawn)
	if cap(r.sorted) < n {
		r.sorted = make([]row, n+n/4)
	}
	r.sorted = r.sorted[:n]
	// The time is divided into about as many parts as there are rows.
	shift := max(0, bits.Len64(uint64(end-from))-bits.Len(uint(n)))
	parts := int((end-from)>>shift) + 1
	if cap(r.starts) < parts+1 {
		r.starts = make([]uint32, 2*parts)
	}
	starts := r.starts[:parts+1]
	clear(starts)
	for i := range r.drawn {
		starts[(r.drawn[i].arrival-from)>>shift+1]++
	}
	for p := 1; p <= parts; p++ {
		starts[p] += starts[p-1]
	}
	for i := range r.drawn {
		p := (r.drawn[i].arrival - from) >> shift
		r.sorted[starts[p]] = r.drawn[i]
		starts[p]++
	}
	for i := 1; i < n; i++ { // few rows share a part
		if r.sorted[i].arrival >= r.sorted[i-1].arrival {
			continue
		}
		moved, to := r.sorted[i], i
		for ; to > 0 && r.sorted[to-1].arrival > moved.arrival; to-- {
			r.sorted[to] = r.sorted[to-1]
		}
		r.sorted[to] = moved
	}
}

// lateReports are trades whose reports are to come: a heap by arrival. Its order is total, so that it does not
// depend on the heap.
type lateReports []row

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (l lateReports) Len() int { return len(l) }
func (l lateReports) Less(i, j int) bool {
	a, b := &l[i], &l[j]
	switch {
	case a.arrival != b.arrival:
		return a.arrival < b.arrival
	case a.symbol != b.symbol:
		return a.symbol < b.symbol
	}
	return a.time < b.time
}
func (l lateReports) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *lateReports) Push(any)     { panic("see add") }
func (l *lateReports) Pop() any     { panic("see take") }

// add adds a trade without the allocation of heap.Push.
func (l *lateReports) add(added row) {
	*l = append(*l, added)
	heap.Fix(l, len(*l)-1)
}

// take removes the trade that is reported first.
func (l *lateReports) take() row {
	first, last := (*l)[0], len(*l)-1
	(*l)[0] = (*l)[last]
	if *l = (*l)[:last]; last > 0 {
		heap.Fix(l, 0)
	}
	return first
}
