package oracle

import (
	"math"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// keeps says which data a family keeps of the rows of a cell, in addition to their number.
type keeps uint8

const (
	aggregates keeps = iota // of fields
	digests                 // the sum of the rows' hashes
	newestRows              // the newest row
	nothing
	everything // each query takes the rows itself: it keeps them in any case
)

// keepsFor returns the data that the answer to a query is made of.
func keepsFor(e *evaluator) keeps {
	switch {
	case e.role == takesNewest:
		return newestRows
	case e.role != takes:
		return aggregates
	case e.needed > 0:
		return nothing // any rows are correct if their number is
	case e.order != query.Unordered || e.set != nil:
		return everything
	}
	return digests
}

// part stores the data that a family keeps of its cells.
type part interface {
	// demand registers a query, before rows are added.
	demand(*evaluator)
	// grow adds a cell, where the strand now is.
	grow(*strand)
	// add adds rows to cells: each of the rows to the cell at the same place.
	add(run *series.Run, rows, cells []int32)
}

// counted keeps nothing: the family itself counts rows.
type counted struct{}

func (counted) demand(*evaluator)                 {}
func (counted) grow(*strand)                      {}
func (counted) add(*series.Run, []int32, []int32) {}

// rowSums keeps the sums of the rows' hashes, which are the same for all queries
// with the same columns.
type rowSums struct {
	of   *evaluator // one of the queries
	sums []uint64
}

func (k *rowSums) demand(*evaluator) {}

func (k *rowSums) grow(*strand) { k.sums = append(k.sums, 0) }

func (k *rowSums) add(run *series.Run, rows, cells []int32) {
	group := int32(0)
	for i, row := range rows {
		if k.of.groups != nil {
			group = k.of.groups.of[run.Series[row]]
		}
		k.sums[cells[i]] += k.of.digest.Hash(k.of.fill(run, int(row), group))
	}
}

// newestCells keeps a newest row of each cell, and whether others share its time.
type newestCells struct {
	of      *evaluator  // one of the queries
	rows    []newestRow // by cell
	tied    []bool      // per cell, several rows have the time of its newest
	times   []int64     // per cell, of its newest row
	winner  []int32     // per cell, its newest row in this run
	touched []int32     // cells that the run has a newer row for
}

func (k *newestCells) demand(*evaluator) {}

func (k *newestCells) grow(*strand) {
	k.rows, k.tied, k.times, k.winner = append(k.rows, newestRow{}), append(k.tied, false), append(k.times, math.MinInt64), append(k.winner, -1)
}

// add copies only those rows that stay the newest until the run's end.
func (k *newestCells) add(run *series.Run, rows, cells []int32) {
	k.touched = k.touched[:0]
	for i, row := range rows {
		cell, t := cells[i], run.Times[row]
		if t < k.times[cell] {
			continue
		}
		if k.winner[cell] < 0 {
			k.touched = append(k.touched, cell)
		}
		k.tied[cell] = t == k.times[cell]
		k.times[cell], k.winner[cell] = t, row
	}
	for _, cell := range k.touched {
		s := run.Series[k.winner[cell]]
		k.rows[cell].copy(k.of.fill(run, int(k.winner[cell]), k.of.groups.of[s]), len(k.of.fields), s)
		k.winner[cell] = -1
	}
}

// deliveries keeps which queries need each cell.
type deliveries struct {
	family *family
	to     [][]*evaluator // per cell
}

func (k *deliveries) demand(*evaluator) {}

func (k *deliveries) grow(s *strand) {
	var to []*evaluator
	for _, e := range s.demand.members {
		if e.start <= s.from && s.from < e.end {
			to = append(to, e)
		}
	}
	k.to = append(k.to, to)
}

func (k *deliveries) add(run *series.Run, rows, cells []int32) {
	for i, row := range rows {
		for _, e := range k.to[cells[i]] {
			e.addRow(run, int(row))
		}
	}
}
