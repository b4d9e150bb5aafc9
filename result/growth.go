package result

import (
	"fmt"

	"github.com/tsmark/tsmark/measure"
)

// Growth is a load in steps. Each step but the first introduces tags and fields that the target's
// tables did not have. It shows whether the system adds the columns, and the cost.
type Growth struct {
	// Unsupported is why the target cannot load in steps: the system's error, or that its driver
	// declares columns in advance. Empty: it can.
	Unsupported string       `json:"unsupported,omitempty"`
	Steps       []GrowthStep `json:"steps"` // the steps, in order
}

// GrowthStep is one step of such a load, with its own clock, which starts when the writers are
// connected. The next step begins once this one has settled.
type GrowthStep struct {
	Tags    []string `json:"tags,omitempty" redact:"-"`   // introduced by the step, each as TABLE.TAG
	Fields  []string `json:"fields,omitempty" redact:"-"` // likewise, each as TABLE.FIELD
	Rows    int64    `json:"rows"`                        // accepted
	Sent    float64  `json:"sent"`                        // as those of a load
	Acked   float64  `json:"acked"`                       // likewise; 0: the protocol does not acknowledge
	Settled float64  `json:"settled"`                     // likewise
	Median  float64  `json:"median"`                      // median seconds of a batch, from handing it over to its acknowledgement
	Slowest float64  `json:"slowest"`                     // likewise, of the slowest batch
}

// UnsupportedReason is why the target cannot be loaded as the experiment requires; empty: it can.
func (l *Load) UnsupportedReason() string {
	if l == nil || l.Growth == nil {
		return ""
	}
	return l.Growth.Unsupported
}

// Extend adds a step to a load whose earlier steps have settled, as if the clock had been stopped
// in between.
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
