package iotdbconfig

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/run/experiment"
)

// mix sets the phase in which queries run while rows are written. A write of the tool, a batch of
// each device of a client, corresponds to several operations here.
func (m *mapping) mix(s *shares) {
	x := &m.out.Mixed
	x.Loaded = 1 // percent: the minimum for queries to have data
	m.setOrigin(proportion, "mixed")
	queried := 1 - s.write
	if ratio := s.write * s.batches / queried; ratio >= 2 {
		x.Writes = experiment.Amount(fmt.Sprintf("%d:1", int(min(math.Round(ratio), experiment.MaxBatches))))
	} else {
		x.Writes = experiment.Amount(strconv.Itoa(min(max(int(math.Round(100*ratio/(1+ratio))), 1), 99)))
	}
	weights := wholes(s.queried)
	if weights == nil {
		m.bad(proportion, "runs a type more than %d times as often as another; leave the rare one out", experiment.MaxWeight)
		return
	}
	if slices.Max(weights) > 1 {
		parts := make([]string, len(weights))
		for i, w := range weights {
			parts[i] = strconv.Itoa(w)
		}
		x.Weights = strings.Join(parts, ":")
	}
}

// wholes returns the smallest whole numbers with the same ratios as the given numbers, or close to
// them; nil: one of them is too large for a weight.
func wholes(of []float64) []int {
	least := slices.Min(of)
	for by := 1.0; ; by++ {
		list, near := make([]int, len(of)), true
		for i, x := range of {
			exact := x / least * by
			list[i] = int(math.Round(exact))
			near = near && math.Abs(exact-math.Round(exact)) < 1e-6
		}
		if slices.Max(list) > experiment.MaxWeight {
			return nil
		}
		if near || by == 10 {
			return list
		}
	}
}

// pace sets rates and time limits.
func (m *mapping) pace(s *shares) {
	m.setTimeLimit(s)
	interval := time.Duration(m.integer("OP_MIN_INTERVAL")) * time.Millisecond
	if m.integer("OP_MIN_INTERVAL") == -1 {
		interval = m.out.Workload.Interval
	}
	if interval == 0 {
		m.becomes(Ignored, "without effect where OP_MIN_INTERVAL is 0", "OP_MIN_INTERVAL_RANDOM")
		return
	}
	if m.truth("OP_MIN_INTERVAL_RANDOM") {
		m.bad("OP_MIN_INTERVAL_RANDOM", "operations come at an even rate here; set it to false")
	}
	if !s.queries() {
		m.bad("OP_MIN_INTERVAL", "a load goes as fast as it can; leave it out, or run queries beside the writes")
		return
	}
	each := float64(s.clients) / interval.Seconds() // operations of all clients
	if !s.writes() {
		m.out.Queries.Rate = rate(each)
		m.setOrigin("OP_MIN_INTERVAL", "queries.rate")
		return
	}
	x := &m.out.Mixed
	x.Writes = ""
	x.RowRate = rate(each * s.write * s.batches * float64(m.out.Load.BatchSize))
	x.QueryRate = rate(each * (1 - s.write))
	m.setOrigin("OP_MIN_INTERVAL", "mixed.row-rate", "mixed.query-rate")
}

// rate formats a schedule.
func rate(perSecond float64) string {
	text := strings.TrimRight(fmt.Sprintf("%.6f", perSecond), "0")
	return strings.TrimSuffix(text, ".") + "/s"
}

// setTimeLimit sets the total time limit.
func (m *mapping) setTimeLimit(s *shares) {
	most := time.Duration(min(m.integer("TEST_MAX_TIME"), int64(maxSpan/time.Millisecond))) * time.Millisecond
	if most == 0 {
		return
	}
	switch {
	case s.writes() && s.queries():
		m.out.Mixed.Duration = most
		m.setOrigin("TEST_MAX_TIME", "mixed.duration")
	case s.queries():
		m.out.Queries.TimeBox = max(most/time.Duration(len(s.queried)), time.Nanosecond)
		m.setOrigin("TEST_MAX_TIME", "queries.time-box")
	default:
		m.bad("TEST_MAX_TIME", "a load is whole, or it has no figures; set it to 0, and lower LOOP")
	}
}
