package owndata

import (
	"cmp"
	"slices"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// unit is rows that can be read without those before them: a row group of Parquet, a record
// batch of Arrow, or any other file.
type unit struct {
	file, group int
	rows        int64
	parent      int // one with which it has series in common, maybe by others, or itself; at the end one for all such
}

// pieces are the units of all files, in their order. They find out which have series in common.
type pieces struct {
	all  []unit
	unit []int32 // per series, one that has it; -1: none yet
}

// add adds rows, all of the same row group, behind those before.
func (u *pieces) add(file, group int, b *series.Batch) {
	if n := len(u.all); n == 0 || u.all[n-1].file != file || u.all[n-1].group != group {
		u.all = append(u.all, unit{file: file, group: group, parent: n})
	}
	at := len(u.all) - 1
	u.all[at].rows += int64(b.Rows())
	for i := range b.Runs {
		for _, s := range b.Runs[i].Series {
			for len(u.unit) <= int(s) {
				u.unit = append(u.unit, -1)
			}
			switch before := u.unit[s]; before {
			case int32(at):
			case -1:
				u.unit[s] = int32(at)
			default:
				u.all[u.root(at)].parent = u.root(int(before))
				u.unit[s] = int32(at) // the next row of the series is likely to be here, too
			}
		}
	}
}

// end ends adding. What there is may be read by several goroutines then.
func (u *pieces) end() {
	u.unit = nil
	for i := range u.all {
		u.all[i].parent = u.root(i)
	}
}

// root is the one that stands for all units which have series in common with this one.
func (u *pieces) root(at int) int {
	for u.all[at].parent != at {
		u.all[at].parent = u.all[u.all[at].parent].parent
		at = u.all[at].parent
	}
	return at
}

// uneven limits the largest share of files to this multiple of an even share of the rows. If files
// cannot be divided that evenly, series are divided.
const uneven = 1.2

// divide deals out whole units, so that no series is in two shares: the largest first, to the
// share that has the fewest rows. It returns the share of each unit; nil: they cannot be
// divided, or not evenly.
func (u *pieces) divide(shares int) []int {
	rows := make([]int64, len(u.all)) // of all that have series in common, at their root
	total := int64(0)
	for i := range u.all {
		rows[u.all[i].parent] += u.all[i].rows
		total += u.all[i].rows
	}
	var roots []int
	for i := range u.all {
		if u.all[i].parent == i {
			roots = append(roots, i)
		}
	}
	if len(roots) < shares {
		return nil
	}
	slices.SortStableFunc(roots, func(a, b int) int { return cmp.Compare(rows[b], rows[a]) })
	had, of := make([]int64, shares), make([]int, len(u.all))
	for _, root := range roots {
		to := 0
		for i := range had {
			if had[i] < had[to] {
				to = i
			}
		}
		had[to] += rows[root]
		of[root] = to
	}
	if float64(slices.Max(had)) > uneven*float64(total)/float64(shares) {
		return nil
	}
	for i := range u.all {
		of[i] = of[u.all[i].parent]
	}
	return of
}

// Share implements workload.Divided: files and row groups of the share are read, and no
// others, where these have series of their own. Elsewhere all are read for the share's series.
func (d dataset) Share(s workload.Share) workload.Dataset {
	if s.Single() {
		return d
	}
	of := d.pieces.divide(s.Count)
	if of == nil || d.latest {
		return s.BySeries(d)
	}
	p := part{survey: d.survey, groups: make(map[int]map[int]bool)}
	for i, u := range d.pieces.all {
		if of[i] != s.Index {
			continue
		}
		if p.groups[u.file] == nil {
			p.groups[u.file] = make(map[int]bool)
		}
		p.groups[u.file][u.group] = true
	}
	return p
}

// part is the rows of some row groups of a survey's files, in their order.
type part struct {
	*survey
	groups map[int]map[int]bool // by file
}

// Schema implements workload.Dataset.
func (p part) Schema() *series.Schema { return p.schema }

// Open implements workload.Dataset.
func (p part) Open() workload.Reader {
	r := p.open()
	r.groups = p.groups
	return r
}
