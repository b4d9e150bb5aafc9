// Package tsbs provides the use cases of the Time Series Benchmark Suite: the
// same rows, to the byte, and the same questions about the same hosts and
// windows. Where a comment says "TSBS", timescale/tsbs at 37fced79 is meant.
package tsbs

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// CPUOnly returns the cpu-only use case: ten integers a host and epoch.
func CPUOnly() workload.Workload { return cpuOnly{} }

type cpuOnly struct{}

func (cpuOnly) Name() string { return "cpu-only" }

func (cpuOnly) Help() string {
	return "TSBS's cpu-only: one table cpu, ten integer fields, a row a host and interval"
}

// maxScale keeps epochs × scale × tables within 64 bits for any span that
// nanoseconds can hold, and host numbers within 32.
const maxScale = 1_000_000_000

func (cpuOnly) Check(s workload.Spec) error {
	bad := func(setting, format string, args ...any) error {
		return &workload.SpecError{Setting: setting, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case s.Scale < 1:
		return bad("scale", "must be 1 or more")
	case s.Scale > maxScale:
		return bad("scale", "%d is more than %d", s.Scale, maxScale)
	case s.InitialScale > s.Scale:
		return bad("initial-scale", "%d hosts at the start are more than --scale %d; lower it, or raise --scale", s.InitialScale, s.Scale)
	case !inNanoseconds(s.Start):
		return bad("timestamp-start", "%s is outside the years 1678 to 2261 that 64-bit nanoseconds hold", s.Start.Format(time.RFC3339))
	case !inNanoseconds(s.End):
		return bad("timestamp-end", "%s is outside the years 1678 to 2261 that 64-bit nanoseconds hold", s.End.Format(time.RFC3339))
	case !s.End.After(s.Start):
		return bad("timestamp-end", "%s is not after --timestamp-start %s", s.End.Format(time.RFC3339), s.Start.Format(time.RFC3339))
	case s.Interval <= 0:
		return bad("log-interval", "must be longer than 0, such as 10s")
	case s.End.Sub(s.Start) < s.Interval:
		return bad("log-interval", "%s is longer than the whole span of %s, so there are no rows; shorten it, or move --timestamp-end", s.Interval, s.End.Sub(s.Start))
	case s.Groups > 0 && s.Group >= s.Groups:
		return bad("interleaved-generation-group-id", "%d must be less than --interleaved-generation-groups %d", s.Group, s.Groups)
	case s.Groups == 0 && s.Group > 0:
		return bad("interleaved-generation-group-id", "%d needs --interleaved-generation-groups greater than it", s.Group)
	}
	return nil
}

func inNanoseconds(t time.Time) bool { return t.Year() >= 1678 && t.Year() <= 2261 }

func (c cpuOnly) Dataset(s workload.Spec) (workload.Dataset, error) {
	if err := c.Check(s); err != nil {
		return nil, err
	}
	return newCPUDataset(s), nil
}

func (cpuOnly) QueryTypes() []workload.QueryType {
	types := devopsTypes()
	listed := make([]workload.QueryType, len(types))
	for i := range types {
		listed[i] = workload.QueryType{Name: types[i].name, Help: types[i].help}
	}
	return listed
}

func (cpuOnly) Queries(s workload.Spec, queryType string, n int) ([]query.Query, error) {
	var names []string
	for _, t := range devopsTypes() {
		if t.name == queryType {
			return t.draw(s, n)
		}
		names = append(names, t.name)
	}
	return nil, fmt.Errorf("unknown query type %q%s", queryType, suggest.Among(queryType, names))
}

// Workloads lists the use cases of this package.
func Workloads() []workload.Workload { return []workload.Workload{CPUOnly()} }
