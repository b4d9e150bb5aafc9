package life

import (
	"errors"
	"io"
	"math"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// absence is a set of rows of the dataset that the target does not have: rows of some series, from
// one place in the dataset on to another, and of times before a bound. The zero value of a bound is
// none, so that no row is absent.
type absence struct {
	from, to   int64     // numbers of rows in the dataset; to is exclusive
	of         seriesSet // nil: all
	tag, value string    // only in tables where these series have the value in the tag; no tag: in all
	before     int64     // nanoseconds since 1970; exclusive
}

func (a *absence) has(n int64, run *series.Run, row int) bool {
	return n >= a.from && n < a.to && run.Times[row] < a.before && (a.of == nil || a.of.has(run.Series[row])) &&
		(a.tag == "" || hasTag(run.Table, run.Series[row], a.tag, a.value))
}

// hasTag reports whether a series has a value in a tag of a table.
func hasTag(t *series.Table, id uint32, tag, value string) bool {
	found := t.Tag(tag)
	if found == nil {
		return false
	}
	text, ok := found.Values.Append(nil, id)
	return ok && string(text) == value
}

// always is a bound that excludes nothing.
const always = math.MaxInt64

// seriesSet has a bit for each series.
type seriesSet []uint64

func (s seriesSet) has(id uint32) bool { return s[id/64]>>(id%64)&1 != 0 }

// chooseSeries returns the series of a schema that a function selects.
func chooseSeries(s *series.Schema, chosen func(id uint32) bool) (seriesSet, int) {
	set, n := make(seriesSet, s.Series/64+1), 0
	for id := range uint32(s.Series) {
		if chosen(id) {
			set[id/64] |= 1 << (id % 64)
			n++
		}
	}
	return set, n
}

// chooseShare returns a percentage of the series for which free is true, at least one if there are any.
// The number of the choice makes it differ from others.
func chooseShare(s *series.Schema, percent int, choice int, free func(id uint32) bool) (seriesSet, int) {
	rank := func(id uint32) uint64 { return splitmix.Mix(uint64(id) + uint64(choice)<<32 + splitmix.Golden) }
	set, n := chooseSeries(s, func(id uint32) bool { return rank(id)%100 < uint64(percent) && free(id) })
	if n > 0 {
		return set, n
	}
	one, found := uint32(0), false
	for id := range uint32(s.Series) {
		if free(id) && (!found || rank(id) < rank(one)) {
			one, found = id, true
		}
	}
	return chooseSeries(s, func(id uint32) bool { return found && id == one })
}

// correction replaces values of rows: those before a place in the dataset, of some series.
type correction struct {
	to int64
	of seriesSet
}

func (c *correction) has(n int64, run *series.Run, row int) bool {
	return n < c.to && c.of.has(run.Series[row])
}

// apply changes the numbers of a row: another parity of whole numbers, another sign of others. A
// second correction restores them.
func (c *correction) apply(run *series.Run, row int) {
	for f := range run.Table.Fields {
		switch t, column := run.Table.Fields[f].Type, &run.Columns[f]; {
		case run.Lacks(f, row):
		case t.Integer() || t == series.Bool:
			column.Ints[row] ^= 1
		case t.Numeric():
			column.Floats[row] = -column.Floats[row]
		}
	}
}

// isCorrected reports whether apply has changed the value of a field in a row, which has one: zero has no other sign.
func isCorrected(run *series.Run, field, row int) bool {
	t := run.Table.Fields[field].Type
	return t.Integer() || t == series.Bool || t.Numeric() && run.Columns[field].Floats[row] != 0
}

// rows is a part of a dataset: some rows from one place to another, with corrections.
type rows struct {
	workload.Dataset
	from, to int64
	keep     func(n int64, run *series.Run, row int) bool
	fixed    []*correction
	growth   *growth // nil: rows have the dataset's own fields
}

// Schema implements workload.Dataset.
func (r *rows) Schema() *series.Schema {
	if r.growth != nil {
		return r.growth.schema
	}
	return r.Dataset.Schema()
}

// Open implements workload.Dataset.
func (r *rows) Open() workload.Reader { return &rowReader{of: r, from: r.Dataset.Open()} }

type rowReader struct {
	of     *rows
	from   workload.Reader
	next   int64 // number of the next row
	batch  series.Batch
	chosen []uint32
}

// Next implements workload.Reader. It fills at least half of a batch, for targets to which a change costs as much of few
// rows as of many.
func (r *rowReader) Next(b *series.Batch, max int) error {
	b.Reset()
	for b.Rows() < (max+1)/2 && r.next < r.of.to {
		err := r.from.Next(&r.batch, int(min(int64(max-b.Rows()), r.of.to-r.next)))
		if errors.Is(err, io.EOF) {
			r.next = r.of.to
			break
		}
		if err != nil {
			return err
		}
		n := r.next
		r.next += int64(r.batch.Rows())
		if r.next <= r.of.from {
			continue
		}
		copyRows(b, &r.batch, n, &r.chosen, func(n int64, run *series.Run, row int) bool {
			return n >= r.of.from && (r.of.keep == nil || r.of.keep(n, run, row))
		}, r.of.fixed, r.of.growth)
	}
	if b.Rows() == 0 {
		return io.EOF
	}
	return nil
}

// copyRows copies the rows to keep of a batch, whose first row has number n, with the field of a growth,
// and corrects the copies. chosen is memory.
func copyRows(to, from *series.Batch, n int64, chosen *[]uint32, keep func(n int64, run *series.Run, row int) bool, fixed []*correction, g *growth) {
	for i := range from.Runs {
		run := &from.Runs[i]
		*chosen = (*chosen)[:0]
		for row := range run.Times {
			if keep(n+int64(row), run, row) {
				*chosen = append(*chosen, uint32(row))
			}
		}
		if len(*chosen) > 0 {
			copied := g.add(to, run)
			copied.Grow(len(*chosen))
			copied.Copy(0, run, *chosen)
			for at, row := range *chosen {
				g.fill(copied, at, n+int64(row))
			}
			for _, c := range fixed {
				for at, row := range *chosen {
					if c.has(n+int64(row), run, int(row)) {
						c.apply(copied, at)
					}
				}
			}
		}
		n += int64(run.Rows())
	}
}

// baseReader reads the rows of the base. It leaves out absent rows from the place on where the reader
// was when an event began. It is used by one goroutine.
type baseReader struct {
	from   workload.Reader
	life   *life
	batch  series.Batch
	chosen []uint32
}

// Next implements workload.Reader.
func (r *baseReader) Next(b *series.Batch, max int) error {
	for {
		b.Reset()
		if err := r.from.Next(&r.batch, max); err != nil {
			return err
		}
		if err := r.life.lockOpen(); err != nil {
			return err
		}
		n := r.life.next
		copyRows(b, &r.batch, n, &r.chosen, r.keep, nil, r.life.growth)
		r.life.noteRead(int64(r.batch.Rows()), int64(b.Rows()))
		r.life.mu.Unlock()
		if b.Rows() > 0 {
			return nil
		}
	}
}

func (r *baseReader) keep(n int64, run *series.Run, row int) bool {
	return !anyHas(r.life.never, n, run, row)
}

func anyHas(absent []*absence, n int64, run *series.Run, row int) bool {
	for _, a := range absent {
		if a.has(n, run, row) {
			return true
		}
	}
	return false
}
