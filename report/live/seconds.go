package live

import (
	"time"

	"github.com/tsmark/tsmark/report/live/page"
)

// seconds are the newest of the seconds since the beginning, by number.
type seconds [page.Window + 2*late]second

type second struct {
	number         int64
	rows, queries  int64
	batches, query page.Latency
}

// late is the number of seconds after which a second is complete: the operation log is
// written every second.
const late = 2

// newest returns the newest complete second, which is negative before the first one.
func newest(passed time.Duration) int64 { return int64(passed/time.Second) - late }

// find returns a second, or nil if it is too long ago, or before the beginning.
func (s *seconds) find(number int64) *second {
	if number < 0 {
		return nil
	}
	e := &s[number%int64(len(s))]
	switch {
	case e.number > number:
		return nil
	case e.number < number:
		*e = second{number: number}
	}
	return e
}

// secondsUpTo returns the seconds up to last, including those in which nothing ended.
func (s *seconds) secondsUpTo(last int64) []page.Second {
	list := make([]page.Second, 0, min(last+1, page.Window))
	for n := max(0, last+1-page.Window); n <= last; n++ {
		e := s[n%int64(len(s))]
		if e.number != n {
			e = second{}
		}
		list = append(list, page.Second{Rows: e.rows, Queries: e.queries, Batches: e.batches, Query: e.query})
	}
	return list
}
