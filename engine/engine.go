// Package engine drives targets: it loads datasets and asks queries with a
// number of workers, and measures what that takes.
package engine

import (
	"sync/atomic"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// Progress is called with the rows or queries done since its last call, from
// several goroutines.
type Progress func(n int)

// latencyOf returns a histogram's figures as results keep them.
func latencyOf(l *measure.Latency) (result.Latency, error) {
	encoded, err := l.Encode()
	return result.Latency{Summary: l.Summary(), Histogram: encoded}, err
}

// largest keeps the largest of the values it is given.
type largest struct{ v atomic.Int64 }

func (l *largest) add(v int64) {
	for {
		old := l.v.Load()
		if v <= old || l.v.CompareAndSwap(old, v) {
			return
		}
	}
}
