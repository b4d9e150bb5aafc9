package encode

import (
	"slices"

	"github.com/tsmark/tsmark/series"
)

// grouping groups rows by series, for formats that contain each series once with all its samples.
// Its memory is reused.
type grouping struct {
	tables []*series.Table
	slots  [][]int32 // by table and series: index of the group plus 1
	groups []group
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

func newGrouping(tables []*series.Table, count int) grouping {
	g := grouping{tables: tables, slots: make([][]int32, len(tables))}
	for i := range g.slots {
		g.slots[i] = make([]int32, count)
	}
	return g
}

// gather sorts the rows of a batch by table and series, in which they keep their
// order.
func (g *grouping) gather(b *series.Batch) {
	g.groups = g.groups[:0]
	rows := 0
	for i := range b.Runs {
		run := &b.Runs[i]
		table := slices.Index(g.tables, run.Table)
		slots := g.slots[table]
		rows += run.Rows()
		for _, s := range run.Series {
			if slots[s] == 0 {
				g.groups = append(g.groups, group{table: table, series: s})
				slots[s] = int32(len(g.groups))
			}
			g.groups[slots[s]-1].rows++
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
	for i := range b.Runs {
		run := &b.Runs[i]
		slots := g.slots[slices.Index(g.tables, run.Table)]
		for row, s := range run.Series {
			at := slots[s] - 1
			g.rows[g.fill[at]] = rowAt{int32(i), int32(row)}
			g.fill[at]++
		}
	}
	for _, of := range g.groups {
		g.slots[of.table][of.series] = 0
	}
}

// rowsOf returns the rows of a group.
func (g *grouping) rowsOf(of *group) []rowAt { return g.rows[of.first:][:of.rows] }

// has reports whether a row has a sample of a field.
func (*grouping) has(run *series.Run, f int, row int32) bool {
	if f == len(run.Columns) {
		return !hasValue(run, int(row))
	}
	return !run.Lacks(f, int(row))
}
