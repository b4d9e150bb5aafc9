package oracle

import (
	"math"
	"slices"

	"github.com/tsmark/tsmark/query"
)

// newest holds the newest row of each of several numbered kinds of rows, and the rows that
// share its time.
type newest struct {
	kinds [][]newestRow // by kind; empty: no row so far
}

// newestRow is a row of its own memory.
type newestRow struct {
	values []query.Value
	texts  []byte
	series uint32 // whose row it is
}

// wins reports whether a row of that time is one of the kind's newest.
func (n *newest) wins(kind int, t int64) bool { return t >= n.newestTime(kind) }

// keep copies a winning row, which ends with the given number of field columns. The memory of its
// texts may be reused by the caller.
func (n *newest) keep(kind int, row []query.Value, fields int, series uint32) {
	if short := kind + 1 - len(n.kinds); short > 0 {
		n.kinds = append(n.kinds, make([][]newestRow, short)...)
	}
	rows := n.kinds[kind]
	if len(rows) > 0 && row[0].Int > rows[0].values[0].Int {
		rows = rows[:0]
	}
	if len(rows) == cap(rows) {
		rows = append(rows, newestRow{})
	} else {
		rows = rows[:len(rows)+1] // with the memory of an older row
	}
	rows[len(rows)-1].copy(row, fields, series)
	n.kinds[kind] = rows
}

// copy makes the row a copy of another one, in its own memory.
func (r *newestRow) copy(row []query.Value, fields int, series uint32) {
	r.values = append(slices.Grow(r.values[:0], len(row)), row...)
	r.texts = ownTexts(r.values[len(row)-fields:], r.texts)
	r.series = series
}

// newestTime returns the time of the kind's newest rows, the smallest int64 if there are no rows.
func (n *newest) newestTime(kind int) int64 {
	if kind >= len(n.kinds) || len(n.kinds[kind]) == 0 {
		return math.MinInt64
	}
	return n.kinds[kind][0].values[0].Int
}
