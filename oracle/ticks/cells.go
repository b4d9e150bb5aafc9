package ticks

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// place is a bucket of a series.
type place struct {
	series uint32
	bucket int64
}

// ends are the first and the last value of a series in a bucket or a window.
type ends struct {
	first, last           int64
	open, close           uint64
	openTied, closingTied bool // another value has the same time
}

// add takes a value. The first call makes it both ends.
func (e *ends) add(t int64, v uint64, isNew bool) {
	if isNew {
		*e = ends{first: t, last: t, open: v, close: v}
		return
	}
	switch {
	case t < e.first:
		e.first, e.open, e.openTied = t, v, false
	case t == e.first && v != e.open:
		e.openTied = true
	}
	switch {
	case t > e.last:
		e.last, e.close, e.closingTied = t, v, false
	case t == e.last && v != e.close:
		e.closingTied = true
	}
}

// tie returns the time of several values at an end; nil: no tie.
func (e *ends) tie(t *series.Table, series uint32) *tie {
	switch {
	case e.openTied:
		return &tie{t, series, e.first}
	case e.closingTied:
		return &tie{t, series, e.last}
	}
	return nil
}

// candles answers query.Candles.
type candles struct {
	price, size number
	width       time.Duration
	cells       map[place]*candle
}

type candle struct {
	ends
	low, high uint64
	volume    sum
}

func newCandles(t *series.Table, s query.Candles) *candles {
	return &candles{numberOf(t, s.Price), numberOf(t, s.Size), s.Width, map[place]*candle{}}
}

func (c *candles) add(run *series.Run, row int) {
	if !complete(run, row, c.price, c.size) {
		return
	}
	t, v := run.Times[row], c.price.bits(run, row)
	key := place{run.Series[row], query.BucketOf(t, c.width)}
	cell, known := c.cells[key]
	if !known {
		cell = &candle{low: v, high: v}
		c.cells[key] = cell
	}
	cell.ends.add(t, v, !known)
	if c.price.isLess(v, cell.low) {
		cell.low = v
	}
	if c.price.isLess(cell.high, v) {
		cell.high = v
	}
	cell.volume.add(c.size.wholeNumber(c.size.bits(run, row)))
}

func (c *candles) answer(of *Collector, emit func([]query.Value)) error {
	var first *tie
	for key, cell := range c.cells {
		by, ok := of.seriesName(key.series)
		if !ok {
			continue
		}
		if first == nil {
			first = cell.tie(of.table, key.series)
		}
		emit([]query.Value{timeValue(key.bucket), by, c.price.value(cell.open), c.price.value(cell.high), c.price.value(cell.low),
			c.price.value(cell.close), double(cell.volume.value(c.size.scale))})
	}
	return of.tieError(first)
}

// weighted answers query.Weighted.
type weighted struct {
	of, weight number
	width      time.Duration
	cells      map[place]*weights
}

type weights struct{ products, weights sum }

func newWeighted(t *series.Table, s query.Weighted) *weighted {
	return &weighted{numberOf(t, s.Value), numberOf(t, s.Weight), s.Width, map[place]*weights{}}
}

func (w *weighted) add(run *series.Run, row int) {
	if !complete(run, row, w.of, w.weight) {
		return
	}
	key := place{run.Series[row], query.BucketOf(run.Times[row], w.width)}
	cell := w.cells[key]
	if cell == nil {
		cell = &weights{}
		w.cells[key] = cell
	}
	weight := w.weight.wholeNumber(w.weight.bits(run, row))
	cell.products.addProduct(w.of.wholeNumber(w.of.bits(run, row)), weight)
	cell.weights.add(weight)
}

func (w *weighted) answer(of *Collector, emit func([]query.Value)) error {
	for key, cell := range w.cells {
		by, ok := of.seriesName(key.series)
		if !ok {
			continue
		}
		row := []query.Value{timeValue(key.bucket), by, {}}
		if all := cell.weights.value(1); all != 0 {
			row[2] = double(cell.products.value(w.of.scale) / all)
		}
		emit(row)
	}
	return nil
}

// movers answers query.Movers.
type movers struct {
	of    number
	top   int
	cells map[uint32]*ends
}

func newMovers(t *series.Table, s query.Movers) *movers {
	return &movers{numberOf(t, s.Field), s.Top, map[uint32]*ends{}}
}

func (m *movers) add(run *series.Run, row int) {
	if !complete(run, row, m.of) {
		return
	}
	cell, known := m.cells[run.Series[row]]
	if !known {
		cell = &ends{}
		m.cells[run.Series[row]] = cell
	}
	cell.add(run.Times[row], m.of.bits(run, row), !known)
}

func (m *movers) answer(of *Collector, emit func([]query.Value)) error {
	var first *tie
	var rows [][]query.Value
	for _, s := range slices.Sorted(maps.Keys(m.cells)) {
		by, ok := of.seriesName(s)
		cell := m.cells[s]
		if !ok {
			continue
		}
		if first == nil {
			first = cell.tie(of.table, s)
		}
		if open := m.of.double(cell.open); open != 0 {
			rows = append(rows, []query.Value{by, double(m.of.double(cell.close)/open - 1)})
		}
	}
	slices.SortFunc(rows, func(a, b []query.Value) int {
		return cmp.Or(-cmp.Compare(a[1].Float, b[1].Float), bytes.Compare(a[0].Text, b[0].Text))
	})
	for _, row := range rows[:min(m.top, len(rows))] {
		emit(row)
	}
	return of.tieError(first)
}

// gaps answers query.Gaps. Of each series it keeps stretches of time: the rows of one are at most the length of a gap
// apart, those of different ones further.
type gaps struct {
	of        number
	longer    int64
	stretches map[uint32][]stretch // ascending
}

type stretch struct{ first, last int64 }

func newGaps(t *series.Table, s query.Gaps) *gaps {
	return &gaps{number{field: t.FieldIndex(s.Field)}, int64(s.Longer), map[uint32][]stretch{}}
}

func (g *gaps) add(run *series.Run, row int) {
	if !complete(run, row, g.of) {
		return
	}
	s, t := run.Series[row], run.Times[row]
	all := g.stretches[s]
	// The first stretch that reaches as far as t, or to less than a gap before it.
	at := len(all)
	for at > 0 && t-all[at-1].last <= g.longer { // rows are hardly ever late
		at--
	}
	if at == len(all) || all[at].first-t > g.longer {
		g.stretches[s] = slices.Insert(all, at, stretch{t, t})
		return
	}
	one := &all[at]
	one.first, one.last = min(one.first, t), max(one.last, t)
	for next := at + 1; next < len(all) && all[next].first-one.last <= g.longer; {
		one.last = max(one.last, all[next].last)
		all = slices.Delete(all, next, next+1)
	}
	g.stretches[s] = all
}

func (g *gaps) answer(of *Collector, emit func([]query.Value)) error {
	for s, all := range g.stretches {
		by, ok := of.seriesName(s)
		for i := 1; ok && i < len(all); i++ {
			emit([]query.Value{timeValue(all[i-1].last), by, timeValue(all[i].first)})
		}
	}
	return nil
}

// profile answers query.Profile.
type profile struct {
	of    number
	width time.Duration
	sums  map[int64]*sum // by the second of the day
}

func newProfile(t *series.Table, s query.Profile) *profile {
	return &profile{numberOf(t, s.Field), s.Width, map[int64]*sum{}}
}

func (p *profile) add(run *series.Run, row int) {
	if !complete(run, row, p.of) {
		return
	}
	t := run.Times[row]
	second := (query.BucketOf(t, p.width) - query.BucketOf(t, 24*time.Hour)) / int64(time.Second)
	if p.sums[second] == nil {
		p.sums[second] = &sum{}
	}
	p.sums[second].add(p.of.wholeNumber(p.of.bits(run, row)))
}

func (p *profile) answer(_ *Collector, emit func([]query.Value)) error {
	for second, all := range p.sums {
		emit([]query.Value{{Kind: query.Int, Int: second}, double(all.value(p.of.scale))})
	}
	return nil
}
