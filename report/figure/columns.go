package figure

import (
	"math"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// median returns the median of figures, if there are any.
func median(figures []float64) any {
	e := stats.Summarize(figures)
	return valueIf(e.N > 0, e.Median)
}

// boundOf returns the bound of the median of figures; empty: it is exact.
func boundOf(figures []float64) any { return string(stats.Summarize(figures).Median.Bound) }

func low(in *stats.Interval) any {
	if in == nil {
		return nil
	}
	return in.Lo
}

func high(in *stats.Interval) any {
	if in == nil {
		return nil
	}
	return in.Hi
}

// Column is a figure of the CSV of runs. Each line is about a load, a query type or
// another part of a run.
type Column write.Column[*csvLine]

// partValue returns a value of a part, or nil for lines without that part.
func partValue[T any](value func(T) any) func(*csvLine) any {
	return func(l *csvLine) any {
		for _, p := range l.parts {
			if part, ok := p.(T); ok {
				return value(part)
			}
		}
		return nil
	}
}

// firstValue returns the first value that a line has.
func firstValue(values ...func(*csvLine) any) func(*csvLine) any {
	return func(l *csvLine) any {
		for _, value := range values {
			if v := value(l); v != nil {
				return v
			}
		}
		return nil
	}
}

// valueIf returns value if it is known, otherwise nil.
func valueIf(known bool, value any) any {
	if !known {
		return nil
	}
	return value
}

func failureText(f *result.Failure) string {
	if f == nil {
		return ""
	}
	return f.Error()
}

// quantile returns a quantile of a latency if it has enough durations for it.
func quantile(of *result.Latency, q, value float64) any { return valueIf(of.Holds(q), value) }

// Columns are the figures of every file, in their order.
func Columns() []Column {
	return []Column{
		{"kind", "", "what the line is about: load, crash, step, mixed, mixed query, event, query, agent or overall", func(l *csvLine) any { return l.kind }},
		{"run", "", "id of the run", func(l *csvLine) any { return l.run.ID }},
		{"run_name", "", "name of the experiment", func(l *csvLine) any { return l.run.Name }},
		{"run_status", "", "complete, incomplete or running", func(l *csvLine) any { return string(l.run.Status) }},
		{"started", "time", "start of the run, UTC", func(l *csvLine) any { return l.run.Started.UTC().Format(time.RFC3339) }},
		{"workload", "", "name of the workload", func(l *csvLine) any { return l.run.Dataset.Spec.Name }},
		{"fingerprint", "", "fingerprint of the dataset", func(l *csvLine) any { return l.run.Dataset.Fingerprint }},
		{"target", "", "name of the target", func(l *csvLine) any { return l.target.Name }},
		{"driver", "", "driver of the target", func(l *csvLine) any { return l.target.Driver }},
		{"version", "", "version and edition of the system", func(l *csvLine) any { return facts.Version(&l.target.Description) }},
		{"system", "", "the system's own name, where it differs from the driver's", func(l *csvLine) any { return l.target.Description.System }},
		{"stand_in", "", "what answered in place of a server of the system", func(l *csvLine) any { return l.target.Description.StandIn }},
		{"origin", "", "imported, for runs that were not measured here", func(l *csvLine) any { return l.run.NotMeasuredHere() }},
		{"durability", "", "level of durability of the target", func(l *csvLine) any { return l.target.Durability }},
		{"acknowledged", "", "where a row is when the system acknowledges it", func(l *csvLine) any { return string(l.target.Description.Safety) }},
		{"options", "", "options that differ from their defaults", func(l *csvLine) any { return facts.Changes(l.target.Changes) }},
		{"verdict", "", "what the check of answers or contents found", func(l *csvLine) any { return l.verdict }},
		{"withheld", "", "why the figures are withheld", func(l *csvLine) any { return l.withheld }},
		{"failed", "", "why there are no figures although no answer was wrong", func(l *csvLine) any { return failureText(l.failed) }},
		{"workers", "", "workers that loaded or queried at the same time", firstValue(partValue(func(w *result.Load) any { return w.Workers }), partValue(func(q *result.Queries) any { return q.Workers }))},
		{"rows", "", "rows loaded, written by an event, or of all answers", firstValue(partValue(func(w csvStored) any { return w.Rows }), partValue(func(q csvRan) any { return q.Rows }),
			partValue(func(q csvAnswered) any { return q.Rows }), partValue(func(s csvStep) any { return s.Rows }),
			partValue(func(e csvEvent) any { return valueIf(e.Rows > 0, e.Rows) }))},
		{"count", "", "batches of a load, or queries, that have a time", partValue(func(s csvCount) any { return s.Count })},
		{"min", "s", "shortest time", partValue(func(s csvTimed) any { return s.Min })},
		{"mean", "s", "mean time", partValue(func(s csvTimed) any { return s.Mean })},
		{"stddev", "s", "standard deviation of the times", partValue(func(s csvTimed) any { return s.StdDev })},
		{"median", "s", "median time, of an event that of queries meanwhile; of a query type over the rounds, of the queries that all verified targets answered", firstValue(func(l *csvLine) any { return l.median }, partValue(func(s csvTimed) any { return s.Median }))},
		{"p90", "s", "90th percentile, of 10 or more", partValue(func(s csvCount) any { return quantile(s.Latency, 0.9, s.P90) })},
		{"p95", "s", "95th percentile, of 20 or more", partValue(func(s csvCount) any { return quantile(s.Latency, 0.95, s.P95) })},
		{"p99", "s", "99th percentile, of 100 or more", firstValue(partValue(func(s csvCount) any { return quantile(s.Latency, 0.99, s.P99) }), partValue(func(e csvEvent) any { return valueIf(e.During.P99 != 0, math.Abs(e.During.P99)) }))},
		{"p999", "s", "99.9th percentile, of 1,000 or more", partValue(func(s csvCount) any { return quantile(s.Latency, 0.999, s.P999) })},
		{"max", "s", "longest time", firstValue(partValue(func(s csvTimed) any { return s.Max }), partValue(func(s csvStep) any { return s.slowest }))},
		{"type", "", "query type", func(l *csvLine) any { return valueIf(l.kind == "query" || l.kind == "mixed query", l.name) }},
		{"queries_drawn", "", "fingerprint of the queries of the type", (*csvLine).queriesDrawn},
		{"texts", "", "origin of query texts that tsmark did not write", partValue(func(q *result.Queries) any { return q.Texts })},
		{"verified_by", "", "oracle, reference or agreement", partValue(func(q *result.Queries) any { return q.VerifiedBy() })},
		{"unsupported", "", "why the system cannot run it", func(l *csvLine) any { return l.unsupported }},
		{"difference", "", "first difference between an answer and the expected one", partValue(func(v *result.Verdict) any { return v.Difference })},
		{"checked", "", "answers compared in full", firstValue(partValue(func(v *result.Verdict) any { return v.Checked }), partValue(func(e csvEvent) any { return e.Checked }))},
		{"checked_empty", "", "of these, answers that were empty as expected", partValue(func(v *result.Verdict) any { return v.Empty })},
		{"checked_documented", "", "of these, answers that differ from Prometheus's as the system documents", partValue(func(v *result.Verdict) any { return v.Documented })},
		{"executed", "", "queries run", firstValue(partValue(func(q *result.Queries) any { return q.Executed }), partValue(func(q *result.MixedType) any { return q.Executed }))},
		{"warm_ups", "", "queries run before the measurement", partValue(func(q *result.Queries) any { return q.WarmUp.Queries })},
		{"warm_up_time", "s", "time of these queries", partValue(func(q *result.Queries) any { return q.WarmUp.Seconds })},
		{"burn_in", "", "first queries of each worker that no figure has", partValue(func(q *result.Queries) any { return q.BurnIn })},
		{"at_least", "", "queries cut off by a limit, so that figures are lower bounds", firstValue(partValue(func(q *result.Queries) any { return q.AtLeast }), partValue(func(q *result.MixedType) any { return q.AtLeast }))},
		{"distinct", "", "different queries drawn", partValue(func(q *result.Queries) any { return q.Distinct })},
		{"time_box", "s", "time limit of a round", partValue(func(q *result.Queries) any { return q.TimeBox })},
		{"timeout", "s", "time limit of a query", partValue(func(q *result.Queries) any { return q.Timeout })},
		{"first_answer", "s", "time from the start of the server to the answer of a cold query, median", partValue(func(q *result.Queries) any {
			if len(q.Starts) == 0 {
				return nil
			}
			return stats.Median(q.Starts)
		})},
		{"wall", "s", "time from the first query to the last answer", firstValue(partValue(func(q csvRan) any { return q.Wall }), partValue(func(m csvDone) any { return m.Wall }))},
		{"per_second", "1/s", "queries answered a second, all workers together", firstValue(partValue(func(q csvRan) any { return q.PerSecond }), partValue(func(q csvAnswered) any { return q.PerSecond }))},
		{"bytes", "bytes", "bytes of all answers", firstValue(partValue(func(q csvRan) any { return q.Bytes }), partValue(func(q csvAnswered) any { return q.Bytes }))},
		{"batch_size", "", "rows in a batch", partValue(func(w *result.Load) any { return w.BatchSize })},
		{"metrics", "", "values loaded", partValue(func(w csvStored) any { return w.Metrics })},
		{"wire_bytes", "bytes", "bytes handed to the target", partValue(func(w csvStored) any { return w.WireBytes })},
		{"prepare", "s", "time to create the tables, before the clock", partValue(func(w csvLoaded) any { return w.Prepare })},
		{"sent", "s", "time until the last row was handed over", firstValue(partValue(func(w csvStored) any { return w.Sent }), partValue(func(s csvStep) any { return s.Sent }))},
		{"acked", "s", "time until the last row was acknowledged", firstValue(partValue(func(w csvStored) any { return valueIf(w.Acked > 0, w.Acked) }), partValue(func(s csvStep) any { return valueIf(s.Acked > 0, s.Acked) }))},
		{"settled", "s", "time until all rows were visible and background work was idle", firstValue(partValue(func(w csvStored) any { return w.Settled }), partValue(func(s csvStep) any { return s.Settled }))},
		{"disk_bytes", "bytes", "size on disk after settling", partValue(func(w csvLoaded) any { return valueIf(w.Disk() >= 0, w.Disk()) })},
		{"disk_excluded", "", "files that the size excludes", partValue(func(w csvLoaded) any { return valueIf(w.DiskBytes >= 0, w.DiskExcluded) })},
		{"disk_pending", "", "why the size is incomplete", partValue(func(w csvLoaded) any { return valueIf(w.DiskBytes >= 0, w.DiskPending) })},
		{"memory_per_series", "bytes", "resident memory that the server gained during its first load, for each series", partValue(func(m csvMemory) any { return float64(m) })},
		{"raw_bytes", "bytes", "size of the dataset as line protocol", func(l *csvLine) any { return valueIf(l.kind == "load", l.run.Dataset.RawBytes) }},
		{"retries", "", "batches sent again after a failure", partValue(func(r *result.Retries) any { return r.Tries })},
		{"sent_twice", "", "rows of these batches that may have been stored already", partValue(func(r *result.Retries) any { return r.SentTwice })},
		{"duplicates", "", "rows that the target holds twice", firstValue(partValue(func(w csvLoad) any { return valueIf(len(w.FinalCensus()) > 0, w.Duplicates()) }), partValue(func(c csvCrashes) any { return c.Doubled }))},
		{"lost", "", "acknowledged rows that the target does not hold", firstValue(partValue(func(w csvLoad) any { return valueIf(len(w.FinalCensus()) > 0, w.LostRows()) }), partValue(func(c csvCrashes) any { return c.Lost }))},
		{"crash", "", "kind of the crashes: kill, pause or power", func(l *csvLine) any { return valueIf(l.kind == "crash", l.name) }},
		{"crashes", "", "crashes of this kind that could be judged", partValue(func(c csvCrashes) any { return c.Count })},
		{"crashes_losing", "", "crashes after which acknowledged rows were missing, torn, wrong or there twice, or the target did not answer", partValue(func(c csvCrashes) any { return c.Losing })},
		{"crashes_failed", "", "further crashes of this kind, which could not be judged", partValue(func(n csvUnjudged) any { return int(n) })},
		{"crashes_bound", "", "share of such crashes that may lose rows, with 95 %, if none did", partValue(func(c csvCrashes) any { return valueIf(c.Losing == 0, c.Bound()) })},
		{"acked_rows", "", "rows acknowledged before the crashes", partValue(func(c csvCrashes) any { return c.Acked })},
		{"repeated_rows", "", "rows that the target held twice after a crash although they had been sent once", partValue(func(c csvCrashes) any { return c.Repeated })},
		{"torn_rows", "", "acknowledged rows that had lost some of their fields after a crash", partValue(func(c csvCrashes) any { return c.Torn })},
		{"wrong_rows", "", "rows with other values after a crash", partValue(func(c csvCrashes) any { return c.Wrong })},
		{"answers_median", "s", "median time from the start of a restart until the target answered", partValue(func(c csvCrashes) any { return median(c.Answers) })},
		{"answers_bound", "", "at least, where that target did not answer in time", partValue(func(c csvCrashes) any { return boundOf(c.Answers) })},
		{"complete_median", "s", "median time until it had every acknowledged row", partValue(func(c csvCrashes) any { return median(c.Complete) })},
		{"complete_bound", "", "at least, where rows were still missing", partValue(func(c csvCrashes) any { return boundOf(c.Complete) })},
		{"step", "", "number of a step of a load whose rows bring columns, from 1", partValue(func(s csvStep) any { return s.number })},
		{"new_tags", "", "tags that the step brings", partValue(func(s csvStep) any { return strings.Join(s.Tags, " ") })},
		{"new_fields", "", "fields that the step brings", partValue(func(s csvStep) any { return strings.Join(s.Fields, " ") })},
		{"acked_rate", "rows/s", "rows acknowledged a second in the step", partValue(func(s csvStep) any { return s.acked })},
		{"step_cost", "", "time of a row until settled, as a multiple of the first step's", partValue(func(s csvStep) any { return valueIf(s.number > 1, s.cost.Ratio) })},
		{"step_cost_low", "", "lower end of its interval", partValue(func(s csvStep) any { return valueIf(s.number > 1, low(s.cost.Interval)) })},
		{"step_cost_high", "", "upper end of its interval", partValue(func(s csvStep) any { return valueIf(s.number > 1, high(s.cost.Interval)) })},
		{"aggregate", "", "continuous aggregate that was built or queried", firstValue(partValue(func(a *result.Aggregate) any { return a.Name }), partValue(func(r csvFromRows) any { return r.aggregate }))},
		{"aggregate_unsupported", "", "why the system has no such aggregate", partValue(func(a *result.Aggregate) any { return a.Unsupported })},
		{"aggregate_seconds", "s", "time to build it from all rows", partValue(func(a csvAggregate) any { return a.seconds })},
		{"aggregate_bytes", "bytes", "its size on disk", partValue(func(a csvAggregate) any { return valueIf(a.DiskBytes >= 0, a.DiskBytes) })},
		{"aggregate_load_rate", "rows/s", "settled rate of loads while it was maintained", partValue(func(a csvAggregate) any { return a.rate })},
		{"aggregate_fresh", "s", "time from the last acknowledged row until it had every row", partValue(func(a csvAggregate) any { return a.fresh })},
		{"from_rows", "", "time of the query type from rows, as a multiple of that from the aggregate", partValue(func(r csvFromRows) any { return r.Ratio })},
		{"from_rows_low", "", "lower end of its interval", partValue(func(r csvFromRows) any { return low(r.Interval) })},
		{"from_rows_high", "", "upper end of its interval", partValue(func(r csvFromRows) any { return high(r.Interval) })},
		{"read_rows", "", "rows that the system read for a query, as it reports", partValue(func(r *result.Read) any { return valueIf(r.Rows >= 0, r.Rows) })},
		{"read_bytes", "bytes", "bytes that the system read for a query, as it reports", partValue(func(r *result.Read) any { return valueIf(r.Bytes >= 0, r.Bytes) })},
		{"client_bound", "", "why tsmark itself may have set the pace", func(l *csvLine) any { return l.clientBound }},
		{"client_user", "s", "CPU time of tsmark itself in programs, all repeats together", partValue(func(c *rank.ClientUse) any { return c.User })},
		{"client_system", "s", "CPU time of tsmark itself in the kernel, all repeats together", partValue(func(c *rank.ClientUse) any { return c.System })},
		{"client_share", "", "tsmark's share of all cores", partValue(func(c *rank.ClientUse) any { return c.Share })},
		{"client_query_share", "", "share of the service time in which tsmark used a processor", partValue(func(q csvRan) any { return q.ClientShare() })},
		{"paused", "", "operations excluded because tsmark itself was paused", firstValue(partValue(func(w csvLoaded) any { return w.Paused }), partValue(func(q csvRan) any { return q.Paused }))},
		{"client_gc_pause_max", "s", "longest pause of tsmark's garbage collection", partValue(func(c *rank.ClientUse) any { return c.PauseMax })},
		{"client_scheduling_p99", "s", "99th percentile of tsmark's waits for a processor, worst repeat", partValue(func(c *rank.ClientUse) any { return c.Scheduling })},
		{"noisy", "", "why the host counts as noisy", func(l *csvLine) any { return l.noisy }},
		{"noise_unknown", "", "why noise could not be measured", partValue(func(n *result.Noise) any { return n.Unknown })},
		{"others_share", "", "share of all cores that other processes used", partValue(func(n *result.Noise) any { return n.OthersShare() })},
		{"steal_share", "", "share of all cores that the hypervisor gave to other machines", partValue(func(n *result.Noise) any { return n.StealShare() })},
		{"throttled_share", "", "share of the scheduling periods in which a CPU limit held tsmark back", partValue(func(n *result.Noise) any { return n.ThrottledShare() })},
		{"memory_wait_share", "", "share of the time in which some process waited for memory", partValue(func(n *result.Noise) any { return n.MemoryShare() })},
		{"schedule", "", "schedule of an open loop", partValue(func(o *result.OpenLoop) any { return o.Schedule })},
		{"arrivals", "", "queries that arrived", firstValue(partValue(func(o *result.OpenLoop) any { return o.Arrivals }), partValue(func(m csvDone) any { return m.Arrivals }))},
		{"offered", "1/s", "queries that arrived a second", partValue(func(o *result.OpenLoop) any { return o.Offered })},
		{"dropped", "", "arrivals that found the queue full", firstValue(partValue(func(o *result.OpenLoop) any { return o.Dropped }), partValue(func(m csvDone) any { return m.Dropped }))},
		{"waiting", "", "arrivals still in the queue at the end", firstValue(partValue(func(o *result.OpenLoop) any { return o.Waiting }), partValue(func(m csvDone) any { return m.Waiting }))},
		{"saturated", "", "why the target did not keep up with the schedule", partValue(func(o *result.OpenLoop) any { return o.Saturated })},
		{"response_median", "s", "median response time, from when a query was due", partValue(func(s csvResponse) any { return quantile(s.Latency, 0.5, s.Median) })},
		{"response_p99", "s", "99th percentile of the response time", partValue(func(s csvResponse) any { return quantile(s.Latency, 0.99, s.P99) })},
		{"response_p999", "s", "99.9th percentile of the response time", partValue(func(s csvResponse) any { return quantile(s.Latency, 0.999, s.P999) })},
		{"lag_p99", "s", "99th percentile of how late tsmark itself released queries", partValue(func(s csvLag) any { return quantile(s.Latency, 0.99, s.P99) })},
		{"objective", "", "objective of the search for the highest rate", partValue(func(s *result.RateSearch) any { return s.Objective })},
		{"highest_rate", "1/s", "highest rate that met the objective", partValue(func(s *result.RateSearch) any { return s.Kept })},
		{"lowest_failed", "1/s", "lowest rate that did not", partValue(func(s *result.RateSearch) any { return s.Failed })},
		{"share", "", "share of batches among the operations of a mixed phase", partValue(func(m csvPhase) any { return valueIf(m.Share > 0, m.Share) })},
		{"row_rate", "", "prescribed rate of rows", partValue(func(m csvPhase) any { return m.RowRate })},
		{"query_rate", "", "prescribed rate of queries", partValue(func(m *result.Mixed) any { return m.QueryRate })},
		{"windows", "", "part of the written rows that the windows of queries cover", partValue(func(m *result.Mixed) any { return m.Windows })},
		{"loaded", "", "rows loaded before the mixed phase", partValue(func(m csvPhase) any { return m.Loaded })},
		{"rest", "", "rows loaded alone after it", partValue(func(m csvDone) any { return m.Rest })},
		{"queriers", "", "workers that queried", partValue(func(q csvQueriers) any { return int(q) })},
		{"early", "", "queries that came before any window fitted", partValue(func(m csvDone) any { return m.Early })},
		{"counted", "", "answers whose number of rows alone was checked", firstValue(partValue(func(q *result.MixedType) any { return q.Counted }), partValue(func(q csvSampled) any { return q.CountedAnswers() }))},
		{"stale", "", "answers that are correct for an older state", partValue(func(q csvAnswered) any { return q.Stale })},
		{"stale_share", "", "their share", partValue(func(q csvAnswered) any { return q.StaleShare() })},
		{"stale_unmatched", "", "stale answers that match no state that was tried", partValue(func(q csvAnswered) any { return q.Unmatched })},
		{"unexamined", "", "wrong answers that were not examined", partValue(func(q *result.MixedType) any { return q.Unexamined })},
		{"fresh_median", "s", "median of how long acknowledged rows were not visible, at least", partValue(func(q csvFresh) any { return q.Freshness.Median })},
		{"fresh_max", "s", "longest of these times", partValue(func(q csvFresh) any { return q.Freshness.Max })},
		{"rate", "rows/s", "median of the settled rates of loads or steps", func(l *csvLine) any { return l.rate }},
		{"rounds", "", "rounds or loads that the figures are over", partValue(func(n csvRounds) any { return int(n) })},
		{"common", "", "different queries that the median is over", partValue(func(n csvCommon) any { return int(n) })},
		{"types", "", "query types that the ratio of an overall line is over", partValue(func(n csvTypes) any { return int(n) })},
		{"interval_low", "", "lower end of the interval of the rate or median", partValue(func(in *stats.Interval) any { return valueIf(in.Lo.Bound == stats.Exact, in.Lo) })},
		{"interval_high", "", "upper end of the interval of the rate or median", partValue(func(in *stats.Interval) any { return valueIf(in.Hi.Bound == stats.Exact, in.Hi) })},
		{"interval_level", "", "confidence level of the interval", partValue(func(in *stats.Interval) any { return in.Level })},
		{"against", "", "target that the ratio compares with", func(l *csvLine) any { return l.against }},
		{"ratio", "", "time as a multiple of that target's; more is worse", partValue(func(f *compare.Figure) any { return f.Ratio })},
		{"ratio_bound", "", "at least or at most, where queries were cut off", partValue(func(f *compare.Figure) any { return string(f.Ratio.Bound) })},
		{"ratio_low", "", "lower end of the interval of the ratio", partValue(func(in csvRatio) any { return in.Lo })},
		{"ratio_high", "", "upper end of the interval of the ratio", partValue(func(in csvRatio) any { return in.Hi })},
		{"ratio_level", "", "confidence level of that interval", partValue(func(in csvRatio) any { return in.Level })},
		{"p_corrected", "", "p-value, corrected by Holm", partValue(func(f *compare.Figure) any { return valueIf(f.Decidable(), f.Adjusted) })},
		{"comparison", "", "best, worse, tie, or why there is no verdict", func(l *csvLine) any { return l.comparison }},
		{"stopped", "", "what ended the queries, with the number of repeats where it differs", partValue(func(s csvStopped) any { return string(s) })},
		{"captured", "", "answers kept during the measurement", partValue(func(s *result.Sample) any { return s.Captured })},
		{"early_checked", "", "answers compared before the measurement", partValue(func(s *result.Sample) any { return s.Early })},
		{"found_share", "", "share of wrong answers that the check would find with 95 %", partValue(func(q csvSampled) any { return valueIf(q.DetectableShare() > 0, q.DetectableShare()) })},
		{"different", "", "different queries that have a time", partValue(func(s *result.Sample) any { return s.Different })},
		{"repeated", "", "whether rounds repeat the same queries", partValue(func(s *result.Sample) any { return s.Repeated })},
		{"digest", "", "digest of the rows, if it was computed", func(l *csvLine) any { return l.run.Dataset.Digest }},
		{"sweep", "", "id of the sweep", partValue(func(r csvSwept) any { return r.Sweep })},
		{"point", "", "number of the point in the sweep", partValue(func(r csvSwept) any { return r.Point })},
		{"parameters", "", "parameters of the point, as path=value", partValue(func(r csvSwept) any { return r.Parameters.String() })},
	}
}

// eventBounds names the figures of an event that are lower bounds.
func eventBounds(e csvEvent) any {
	var names []string
	for _, f := range []struct {
		column string
		value  float64
	}{{"median", e.During.Median}, {"p99", e.During.P99}, {"before_median", e.Before.Median}, {"after_median", e.After.Median}, {"slower", e.Slower}} {
		if f.value < 0 {
			names = append(names, f.column)
		}
	}
	return strings.Join(names, " ")
}

// EventColumns are further columns where a target had a life: of lines of kind event.
func EventColumns() []Column {
	figure := func(known func(csvEvent) bool, value func(csvEvent) any) func(*csvLine) any {
		return partValue(func(e csvEvent) any {
			if !known(e) {
				return nil
			}
			return value(e)
		})
	}
	size := func(of func(csvEvent) int64) func(*csvLine) any {
		return figure(func(e csvEvent) bool { return of(e) >= 0 }, func(e csvEvent) any { return of(e) })
	}
	known := func(of func(csvEvent) float64) func(*csvLine) any {
		return figure(func(e csvEvent) bool { return of(e) != 0 }, func(e csvEvent) any { return math.Abs(of(e)) })
	}
	return []Column{
		{"event", "", "the event; one that comes again has its number", func(l *csvLine) any { return valueIf(l.kind == "event", l.name) }},
		{"event_at", "s", "its start, since the life began", partValue(func(e csvEvent) any { return e.Begin })},
		{"event_took", "s", "time until it had ended", partValue(func(e csvEvent) any { return e.End - e.Begin })},
		{"before_median", "s", "median response time of the dashboards in the ten seconds before it", known(func(e csvEvent) float64 { return e.Before.Median })},
		{"after_median", "s", "median response time in the ten seconds after it", known(func(e csvEvent) float64 { return e.After.Median })},
		{"slower", "", "response time during it as a multiple of the time before, median of queries", known(func(e csvEvent) float64 { return e.Slower })},
		{"event_bounds", "", "which of median, p99, before_median, after_median and slower are lower bounds, since queries were cut off", partValue(eventBounds)},
		{"usual_limit", "", "largest multiple that counts as usual; empty: unknown", known(func(e csvEvent) float64 { return e.Limit })},
		{"usual_after", "s", "time from its start until queries were as usual again; empty: unknown, or not before the next event", figure(func(e csvEvent) bool { return e.Limit > 0 && e.UsualAfter >= 0 }, func(e csvEvent) any { return e.UsualAfter })},
		{"unanswered", "", "queries without an answer during it and in the ten seconds after", partValue(func(e csvEvent) any { return e.During.Failed + e.After.Failed })},
		{"event_fresh", "s", "longest time during it until an acknowledged row was visible", figure(func(e csvEvent) bool { return e.During.Freshness != 0 }, func(e csvEvent) any { return math.Abs(e.During.Freshness) })},
		{"event_fresh_bound", "", "at least, where that row was not visible yet", figure(func(e csvEvent) bool { return e.During.Freshness < 0 }, func(csvEvent) any { return string(stats.AtLeast) })},
		{"disk_before", "bytes", "size on disk before it", size(func(e csvEvent) int64 { return e.DiskBefore })},
		{"disk_after", "bytes", "size on disk when it ended", size(func(e csvEvent) int64 { return e.DiskAfter })},
		{"disk_least", "bytes", "least size on disk from its end to the next event", size(func(e csvEvent) int64 { return e.DiskLeast })},
		{"disk_least_after", "s", "time from its start until that size", figure(func(e csvEvent) bool { return e.DiskLeast >= 0 }, func(e csvEvent) any { return e.DiskLeastAfter })},
		{"event_written", "bytes", "bytes that the target wrote to disk during it", size(func(e csvEvent) int64 { return e.WrittenBytes })},
		{"backlog_before", "", "background work that the system had still to do before it", partValue(func(e csvBacklog) any { return e.BacklogBefore })},
		{"backlog_most", "", "most of it until the next event", partValue(func(e csvBacklog) any { return valueIf(e.BacklogMost >= 0, e.BacklogMost) })},
		{"backlog_back", "s", "time from the start of the event until no more was to do than before; empty: not before the next event", partValue(func(e csvBacklog) any { return valueIf(e.BacklogBack >= 0, e.BacklogBack) })},
		{"undecided", "", "answers during it that match neither the state before nor the one after, and were not checked", partValue(func(e csvEvent) any { return e.Undecided })},
	}
}

// AgentColumns are further columns where a run had agents: of lines of kind agent, one
// for each measurement that agents shared and each of them. Rates are rows or queries a
// second over the time of its own share; network is bytes a second of its machine.
func AgentColumns() []Column {
	clock := func(value func(*result.Clock) any) func(*csvLine) any {
		return partValue(func(a csvAgent) any {
			if a.who == nil || a.who.Clock() == nil {
				return nil
			}
			return value(a.who.Clock())
		})
	}
	return []Column{
		{"agent", "", "name of the agent", partValue(func(a csvAgent) any { return a.Name })},
		{"measurement", "", "measurement that agents shared", partValue(func(a csvAgent) any { return a.measurement })},
		{"shares", "", "shares of the rows or queries that it had", partValue(func(a csvAgent) any { return a.ShareList() })},
		{"agent_rate", "1/s", "rows or queries a second over the time of its share", partValue(func(a csvAgent) any { return a.Rate })},
		{"start_skew", "s", "how much later than planned it began", partValue(func(a csvAgent) any { return a.Skew })},
		{"sent_per_second", "bytes/s", "bytes that its machine sent a second", partValue(func(a csvAgent) any { return a.Sent })},
		{"received_per_second", "bytes/s", "bytes that its machine received a second", partValue(func(a csvAgent) any { return a.Received })},
		{"clock_offset", "s", "how far its clock was ahead of the coordinator's", clock(func(c *result.Clock) any { return c.Offset })},
		{"clock_uncertainty", "s", "uncertainty of that offset", clock(func(c *result.Clock) any { return c.Uncertainty })},
		{"agent_lost", "", "why it was lost", partValue(func(a csvAgent) any { return a.Lost })},
		{"taken_over", "", "agent that loaded its share again", partValue(func(a csvAgent) any { return a.TakenOver })},
	}
}

// queriesDrawn returns the fingerprint of a type's queries.
func (l *csvLine) queriesDrawn() any {
	if drawn := l.run.QuerySet(l.name); l.kind == "query" && drawn != nil {
		return drawn.Fingerprint
	}
	return nil
}
