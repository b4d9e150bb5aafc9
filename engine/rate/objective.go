// Package rate has objectives for response times and the search for the highest rate that keeps one.
package rate

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure"
)

// Objective is a bound that a statistic of the response time must stay below.
type Objective struct {
	Statistic string        // p50, p90, p95, p99, p999, mean or max
	Below     time.Duration // above 0
}

// Parse parses an objective as users write it: p99<10ms. An error is one line that describes the
// expected form.
func Parse(text string) (Objective, error) {
	name, bound, ok := strings.Cut(text, "<")
	o := Objective{Statistic: strings.TrimSpace(name)}
	if _, known := o.statistic(measure.Summary{}); !ok || !known {
		return Objective{}, fmt.Errorf("objective %q: want p50, p90, p95, p99, p999, mean or max, < and a time, such as p99<10ms", text)
	}
	var err error
	if o.Below, err = time.ParseDuration(strings.TrimSpace(bound)); err != nil || o.Below <= 0 {
		return Objective{}, fmt.Errorf("objective %q: want a time above 0 with its unit behind the <, such as p99<10ms", text)
	}
	return o, nil
}

// String returns the objective in the form that Parse reads.
func (o Objective) String() string { return o.Statistic + "<" + o.Below.String() }

// MinimumCount returns the number of answers that determine the statistic: 100 for p99. See
// measure.Holds.
func (o Objective) MinimumCount() int64 {
	for _, p := range measure.Percentiles() {
		if p.Name == o.Statistic {
			return measure.MinimumSamples(p.Quantile)
		}
	}
	return 1
}

// MissedBy says in which way response times do not keep the objective; empty:
// they do. Where nothing was recorded nothing is kept, nor where so few answers
// do not tell the statistic.
func (o Objective) MissedBy(response measure.Summary) string {
	seconds, _ := o.statistic(response)
	switch {
	case response.Count == 0:
		return "nothing was answered"
	case response.Count < o.MinimumCount():
		return fmt.Sprintf("%s needs at least %d answers, and %d count: allow a longer time box (--time-box) or more queries (--queries)", o.Statistic, o.MinimumCount(), response.Count)
	case seconds < o.Below.Seconds():
		return ""
	}
	return fmt.Sprintf("%s of the response time is %v, not below %v", o.Statistic, time.Duration(seconds*float64(time.Second)), o.Below)
}

// statistic returns the statistic in seconds, and whether there is one of that name.
func (o Objective) statistic(s measure.Summary) (seconds float64, known bool) {
	for _, p := range measure.Percentiles() {
		if p.Name == o.Statistic {
			return p.Of(&s), true
		}
	}
	seconds, known = map[string]float64{"p50": s.Median, "mean": s.Mean, "max": s.Max}[o.Statistic]
	return seconds, known
}
