package site

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// rank sets each figure in relation to the best of its column, and orders the rows by the geometric
// mean of these multiples over the ranked columns: the query types with figures of most rows,
// or the loads if there are no types. A row without one of them is not ranked. site.js does the same
// for the systems and columns that a reader chooses.
func (t *table) rank() {
	figures, most, ofTypes := make([]int, len(t.Columns)), 0, false
	for n := range t.Columns {
		for i := range t.Rows {
			if t.Rows[i].Cells[n].Value > 0 {
				figures[n]++
			}
		}
		ofTypes = ofTypes || !t.Columns[n].Rising && figures[n] > 1
	}
	for n := range t.Columns {
		if t.Columns[n].Rising != ofTypes {
			most = max(most, figures[n])
		}
	}
	count := 0
	for n := range t.Columns {
		c := &t.Columns[n]
		if c.Ranked = c.Rising != ofTypes && figures[n] == most && most > 1; c.Ranked {
			count++
		}
		if figures[n] > 1 {
			t.compare(n)
		}
	}
	t.Ranked = fmt.Sprintf("geometric mean of %d of %d columns", count, len(t.Columns))
	ranked := 0
	for i := range t.Rows {
		if t.Rows[i].Mean = t.mean(&t.Rows[i]); t.Rows[i].Mean > 0 {
			ranked++
		}
	}
	if ranked < 2 {
		for i := range t.Rows {
			t.Rows[i].Mean = 0
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b tableRow) int {
		if a.Mean == 0 || b.Mean == 0 {
			return cmp.Compare(b.Mean, a.Mean)
		}
		return cmp.Compare(a.Mean, b.Mean)
	})
}

// compare sets the figures of a column in relation to the best one.
func (t *table) compare(n int) {
	best := math.Inf(1)
	speed := func(v float64) float64 { // less is better
		if t.Columns[n].Rising {
			return 1 / v
		}
		return v
	}
	for i := range t.Rows {
		if v := t.Rows[i].Cells[n].Value; v > 0 {
			best = min(best, speed(v))
		}
	}
	for i := range t.Rows {
		if c := &t.Rows[i].Cells[n]; c.Value > 0 {
			c.Times = speed(c.Value) / best
		}
	}
}

// mean returns the geometric mean of a row's multiples in the ranked columns; 0 if one is missing.
func (t *table) mean(r *tableRow) float64 {
	sum, count := 0.0, 0.0
	for n := range t.Columns {
		if !t.Columns[n].Ranked {
			continue
		}
		if r.Cells[n].Times == 0 {
			return 0
		}
		sum, count = sum+math.Log(r.Cells[n].Times), count+1
	}
	if count == 0 {
		return 0
	}
	return math.Exp(sum / count)
}

// Heat is where a cell is on the scale of colours, in percent: 0 is the best of its column, 100 ten
// times the best or more.
func (c *tableCell) Heat() int { return int(math.Round(100 * min(1, math.Log10(max(1, c.Times))))) }
