package result

import (
	"fmt"

	"github.com/tsmark/tsmark/measure"
)

// Growth is a load in steps, of which each but the first brings tags and fields that its
// target's tables did not have: whether the system makes the columns, and what that costs.
type Growth struct {
	// Unsupported is why the target was not loaded so: what its system answered, or that
	// its driver names the columns beforehand. Empty: it was.
	Unsupported string       `json:"unsupported,omitempty"`
	Steps       []GrowthStep `json:"steps"` // the steps, in order
}

// GrowthStep is a part of such a load, on a clock of its own, which starts when the
// writers are connected. The next part begins when this one has settled.
type GrowthStep struct {
	Tags    []string `json:"tags,omitempty" redact:"-"`   // that it brings, each as TABLE.TAG
	Fields  []string `json:"fields,omitempty" redact:"-"` // likewise, each as TABLE.FIELD
	Rows    int64    `json:"rows"`                        // accepted
	Sent    float64  `json:"sent"`                        // as those of a load
	Acked   float64  `json:"acked"`                       // likewise; 0: the protocol does not acknowledge
	Settled float64  `json:"settled"`                     // likewise
	Median  float64  `json:"median"`                      // seconds of a batch: from handing it over to its acknowledgement
	Slowest float64  `json:"slowest"`                     // likewise, of the batch that took longest
}

// UnsupportedReason is why the target cannot be loaded as the experiment wants; empty: it can.
func (l *Load) UnsupportedReason() string {
	if l == nil || l.Growth == nil {
		return ""
	}
	return l.Growth.Unsupported
}

// Extend adds a further step to a load whose steps before it have settled: as if the clock
// had stood still between them.
func (l *Load) Extend(next *Load) error {
	before := l.Settled
	after := func(was, seconds float64) float64 {
		if was == 0 || seconds == 0 {
			return 0
		}
		return before + seconds
	}
	l.Rows, l.Metrics, l.WireBytes = l.Rows+next.Rows, l.Metrics+next.Metrics, l.WireBytes+next.WireBytes
	l.Sent, l.Acked, l.Settled = after(l.Sent, next.Sent), after(l.Acked, next.Acked), after(l.Settled, next.Settled)
	for _, p := range next.Rates {
		l.Rates = append(l.Rates, RatePoint{At: before + p.At, Rows: p.Rows})
	}
	for i := range min(len(l.Accumulated), len(next.Accumulated)) {
		l.Accumulated[i] += next.Accumulated[i]
	}
	l.Retries = l.Retries.Add(next.Retries)
	batches, err := measure.Restore(l.Batches.Histogram, l.Batches.Summary)
	var more *measure.Latency
	if err == nil {
		more, err = measure.Restore(next.Batches.Histogram, next.Batches.Summary)
	}
	if err == nil {
		batches.Merge(more)
		l.Batches, err = LatencyOf(batches)
	}
	if err != nil {
		return fmt.Errorf("adding up the batches of steps: %w", err)
	}
	return nil
}
