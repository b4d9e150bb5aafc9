package matrix

import (
	"cmp"
	"slices"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload/iotdb"
)

// Native reports whether a workload is the one of the tool that prints matrices.
func Native(workload string) bool { return workload == iotdb.Workload().Name() }

// blank returns an operation without any figure.
func blank(queryType string) Operation {
	none := result.Absent()
	return Operation{
		Name: cmp.Or(iotdb.Operation(queryType), queryType, iotdb.Ingestion), Type: queryType,
		OK: none, OKPoints: none, Failed: none, FailedPoints: none,
		Elapsed: none, Throughput: none, CostThroughput: none, Latency: unknown(),
	}
}

// ingestion returns the writes of a load that took elapsed seconds by wall clock.
func ingestion(l *result.Load, elapsed float64) Operation {
	o := blank("")
	if o.Withheld = l.Reason(); o.Withheld != "" {
		return o
	}
	o.Unverified = l.Unverified
	o.OK, o.Failed, o.FailedPoints = result.Value(l.Batches.Count), 0, 0
	if l.Metrics > 0 || l.Rows == 0 { // else lines that passed as they were
		o.OKPoints = result.Value(l.Metrics)
	}
	if r := l.Retries; r != nil {
		o.Failed, o.FailedPoints = result.Value(r.Tries), result.Value(r.Values)
		if r.Values == 0 {
			o.FailedPoints = result.Absent()
		}
	}
	o.Latency.fill(&l.Batches, 0)
	o.rates(elapsed, l.Accumulated)
	return o
}

// queries returns a query type that was run by itself.
func queries(q *result.Queries) Operation {
	o := blank(q.Type)
	switch q.Outcome() {
	case result.Unsupported:
		o.Unsupported = q.Unsupported
	case result.Withheld:
		o.Withheld = q.Reason()
	case result.Failed:
		o.Failure = q.Failed.Error()
	case result.NotRun:
		o.NotRun = true
	default:
		o.answers(q.Executed, q.AtLeast, q.Verdict)
		if o.Unverified != "" {
			o.Unverified = q.VerdictText()
		}
		o.Latency.fill(&q.Service, q.AtLeast)
		o.points(q.Values, q.Accumulated)
		o.rates(q.Wall, q.Accumulated)
	}
	return o
}

// mixedType returns a query type of a mixed phase that took elapsed seconds
// by wall clock and may be withheld as a whole.
func mixedType(q *result.MixedType, elapsed float64, withheld string) Operation {
	o := blank(q.Type)
	switch {
	case q.Unsupported != "":
		o.Unsupported = q.Unsupported
	case cmp.Or(withheld, q.Withheld) != "":
		o.Withheld = cmp.Or(withheld, q.Withheld)
	case q.Failed != nil:
		o.Failure = q.Failed.Error()
	case q.Executed == 0:
		o.NotRun = true
	default:
		o.answers(q.Executed, q.AtLeast, q.Verdict)
		if q.AtLeast == 0 || q.Accumulated != nil { // otherwise the number of these with a latency was not recorded
			o.Latency.fill(&q.Service, q.AtLeast)
		}
		o.points(q.Values, q.Accumulated)
		o.rates(elapsed, q.Accumulated)
	}
	return o
}

// answers fills in the numbers of queries that were answered and cut off.
func (o *Operation) answers(executed, cutOff int64, v result.Verdict) {
	o.OK, o.Failed, o.FailedPoints = result.Value(executed-cutOff), result.Value(cutOff), 0
	if v.Checked == 0 {
		o.Unverified = v.String()
	}
}

// points fills in the values of answers, which are recorded where the times of
// clients are.
func (o *Operation) points(values int64, accumulated []float64) {
	if accumulated != nil {
		o.OKPoints = result.Value(values)
	}
}

// rates fills in the figures that depend on time.
func (o *Operation) rates(elapsed float64, accumulated []float64) {
	o.Elapsed = result.Value(elapsed)
	o.Throughput = divide(o.OKPoints, o.Elapsed)
	if len(accumulated) > 0 {
		o.Latency.SlowestThread = result.Value(slices.Max(accumulated))
		o.CostThroughput = divide(o.OKPoints, o.Latency.SlowestThread)
	}
}

func divide(points, seconds result.Value) result.Value {
	if !seconds.IsKnown() || seconds <= 0 {
		return result.Absent()
	}
	return points / seconds
}
