package oracle

import (
	"math"
	"slices"

	"github.com/tsmark/tsmark/query"
)

// newest holds the newest row of each of several numbered kinds of rows.
type newest struct {
	rows   [][]query.Value // nil: none so far
	texts  [][]byte        // memory of the rows' texts
	series []uint32        // whose row it is
}

// wins reports whether a row of that time is the kind's newest. Of rows with the
// same time the one that arrived last counts.
func (n *newest) wins(kind int, t int64) bool {
	return kind >= len(n.rows) || n.rows[kind] == nil || t >= n.rows[kind][0].Int
}

// keep copies the row, whose last columns are so many fields and whose texts
// may lie in memory that is used again.
func (n *newest) keep(kind int, row []query.Value, fields int, series uint32) {
	if short := kind + 1 - len(n.rows); short > 0 {
		n.rows = append(n.rows, make([][]query.Value, short)...)
		n.texts = append(n.texts, make([][]byte, short)...)
		n.series = append(n.series, make([]uint32, short)...)
	}
	kept := append(slices.Grow(n.rows[kind][:0], len(row)), row...)
	n.rows[kind] = kept
	n.texts[kind] = ownTexts(kept[len(kept)-fields:], n.texts[kind])
	n.series[kind] = series
}

// at returns the time of the kind's newest row, the smallest int64 where there
// is none.
func (n *newest) at(kind int) int64 {
	if kind >= len(n.rows) || n.rows[kind] == nil {
		return math.MinInt64
	}
	return n.rows[kind][0].Int
}
