package iotdb

import (
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// precisePoint is the query type whose window is a moment.
const precisePoint = "precise-point"

// sourceOf returns the source of the first device and sensor that a query names.
func (s *settings) sourceOf(q *query.Query) source {
	number := func(name, prefix string) uint32 {
		n, _ := strconv.ParseUint(strings.TrimPrefix(name, prefix), 10, 32) // this package wrote it
		return uint32(n)
	}
	src := source{device: number(q.In.Values[0], "d_")}
	if s.unaligned {
		src.sensor = number(q.NamedFields()[0], "s_")
	}
	return src
}

// OnRow implements workload.Momentary.
func (d *Dataset) OnRow(q *query.Query, before time.Time) {
	if q.Type != precisePoint {
		return
	}
	s := d.settings
	src, at := s.sourceOf(q), q.Start.UnixNano()
	k := min((at-s.start)/s.step, s.rows-1)
	if k > 0 && s.time(src, k) > at {
		k--
	}
	if row := time.Unix(0, s.time(src, k)).UTC(); row.Before(before) {
		q.Start, q.End = row, row.Add(instant)
	}
}
