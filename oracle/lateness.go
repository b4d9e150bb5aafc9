package oracle

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Late describes how late rows arrive within their own series: after a newer row of the series. If
// rows have values of one field only, each field is a series.
type Late struct {
	Rows  int64
	Share float64 // of all rows
	// Least and Most are the shares of the series with the smallest and the
	// largest one.
	Least, Most float64
	// Delays are the median, the 90th and the 99th percentile, and the maximum of the late rows'
	// delays, in steps.
	Delays [4]int64
}

// delayShares are the shares of late rows that Late.Delays are of.
var delayShares = [...]float64{0.5, 0.9, 0.99, 1}

// lateness watches how late rows are.
type lateness struct {
	step   int64
	fields int // of a table, where each is a series; else 1
	newest []int64
	rows   []int64 // of each series
	late   []int64 // of these
	delays map[int64]int64
}

func newLateness(s *series.Schema, step time.Duration) *lateness {
	l := &lateness{step: int64(step), fields: 1, delays: map[int64]int64{}}
	for _, t := range s.Tables {
		if !t.Dense {
			l.fields = max(l.fields, len(t.Fields))
		}
	}
	n := int(s.Series) * l.fields
	l.newest, l.rows, l.late = slices.Repeat([]int64{math.MinInt64}, n), make([]int64, n), make([]int64, n)
	return l
}

func (l *lateness) add(run *series.Run) {
	for row, t := range run.Times {
		at := int(run.Series[row]) * l.fields
		for f := 0; l.fields > 1 && f < len(run.Columns); f++ {
			if !run.Lacks(f, row) {
				at += f
				break
			}
		}
		l.rows[at]++
		if t >= l.newest[at] {
			l.newest[at] = t
			continue
		}
		l.late[at]++
		l.delays[(l.newest[at]-t+l.step/2)/l.step]++
	}
}

// result returns the summary; nil if no row is late.
func (l *lateness) result() *Late {
	out := &Late{Least: 1}
	all := int64(0)
	for i, n := range l.rows {
		if n == 0 {
			continue
		}
		all += n
		out.Rows += l.late[i]
		share := float64(l.late[i]) / float64(n)
		out.Least, out.Most = min(out.Least, share), max(out.Most, share)
	}
	if out.Rows == 0 {
		return nil
	}
	out.Share = float64(out.Rows) / float64(all)
	seen, next := int64(0), 0
	for _, steps := range slices.Sorted(maps.Keys(l.delays)) {
		seen += l.delays[steps]
		for next < len(delayShares) && float64(seen) >= delayShares[next]*float64(out.Rows) {
			out.Delays[next] = steps
			next++
		}
	}
	return out
}
