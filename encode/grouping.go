package encode

import (
	"math/bits"
	"slices"

	"github.com/tsmark/tsmark/series"
)

// grouping groups rows by series, for formats that contain each series once with all its samples.
// Its memory is reused, and does not grow with the number of series of the dataset.
type grouping struct {
	tables tableIndex
	slots  []int32 // open hash table of groups: index of the group plus 1
	groups []group
	at     []int32 // per row of the batch, its group
	rows   []rowAt // of the groups, one group after the other
	fill   []int32 // per group, number of rows so far
}

// group is the rows of one table and series in the batch.
type group struct {
	table       int
	series      uint32
	first, rows int32
}

type rowAt struct{ run, row int32 }

func newGrouping(tables []*series.Table) grouping {
	return grouping{tables: newTableIndex(tables)}
}

// gather sorts the rows of a batch by table and series, in which they keep their
// order.
func (g *grouping) gather(b *series.Batch) {
	rows := b.Rows()
	width := bits.Len(uint(2*rows | 15))
	if len(g.slots) < 1<<width {
		g.slots = make([]int32, 1<<width)
	}
	slots, mask := g.slots[:1<<width], uint64(1<<width-1)
	clear(slots)
	g.groups, g.at = g.groups[:0], g.at[:0]
	for i := range b.Runs {
		run := &b.Runs[i]
		table := g.tables.lookUp(run.Table)
		for _, s := range run.Series {
			hash := (uint64(table)<<32 | uint64(s)) * 0x9e3779b97f4a7c15 >> (64 - width)
			for slots[hash] != 0 {
				if of := &g.groups[slots[hash]-1]; of.series == s && of.table == table {
					break
				}
				hash = (hash + 1) & mask
			}
			if slots[hash] == 0 {
				g.groups = append(g.groups, group{table: table, series: s})
				slots[hash] = int32(len(g.groups))
			}
			at := slots[hash] - 1
			g.groups[at].rows++
			g.at = append(g.at, at)
		}
	}
	first := int32(0)
	g.fill = g.fill[:0]
	for i := range g.groups {
		g.groups[i].first = first
		g.fill = append(g.fill, first)
		first += g.groups[i].rows
	}
	g.rows = slices.Grow(g.rows[:0], rows)[:rows]
	n := 0
	for i := range b.Runs {
		for row := range b.Runs[i].Series {
			at := g.at[n]
			g.rows[g.fill[at]] = rowAt{int32(i), int32(row)}
			g.fill[at]++
			n++
		}
	}
}

// rowsOf returns the rows of a group.
func (g *grouping) rowsOf(of *group) []rowAt { return g.rows[of.first:][:of.rows] }

// hasSample reports whether a row has a sample of a field; that after the last field is for rows without
// any value.
func hasSample(run *series.Run, f int, row int32) bool {
	if f == len(run.Columns) {
		return !hasValue(run, int(row))
	}
	return !run.Lacks(f, int(row))
}
