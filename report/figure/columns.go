package figure

import (
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// median is that of figures, if there are any.
func median(figures []float64) any {
	e := stats.Summarize(figures)
	return where(e.N > 0, e.Median)
}

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

// of is a value of a part, which lines without that part do not have.
func of[T any](value func(T) any) func(*csvLine) any {
	return func(l *csvLine) any {
		for _, p := range l.parts {
			if part, ok := p.(T); ok {
				return value(part)
			}
		}
		return nil
	}
}

// either is the first value that a line has.
func either(values ...func(*csvLine) any) func(*csvLine) any {
	return func(l *csvLine) any {
		for _, value := range values {
			if v := value(l); v != nil {
				return v
			}
		}
		return nil
	}
}

// where is a value that there is on a condition.
func where(known bool, value any) any {
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

// quantile is one of a latency, where so many durations tell it.
func quantile(of *result.Latency, q, value float64) any { return where(of.Holds(q), value) }

// Columns are the figures of every file, in their order.
func Columns() []Column {
	return []Column{
		{"kind", "", "what the line is about: load, step, mixed, mixed query, query, agent or overall", func(l *csvLine) any { return l.kind }},
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
		{"options", "", "options that differ from their defaults", func(l *csvLine) any { return facts.Changes(l.target.Changes) }},
		{"verdict", "", "what the check of answers or contents found", func(l *csvLine) any { return l.verdict }},
		{"withheld", "", "why the figures are withheld", func(l *csvLine) any { return l.withheld }},
		{"failed", "", "why there are no figures although no answer was wrong", func(l *csvLine) any { return failureText(l.failed) }},
		{"workers", "", "workers that loaded or queried at the same time", either(of(func(w *result.Load) any { return w.Workers }), of(func(q *result.Queries) any { return q.Workers }))},
		{"rows", "", "rows loaded, or rows of all answers", either(of(func(w csvStored) any { return w.Rows }), of(func(q csvRan) any { return q.Rows }),
			of(func(q csvAnswered) any { return q.Rows }), of(func(s csvStep) any { return s.Rows }))},
		{"count", "", "batches of a load, or queries, that have a time", of(func(s csvCount) any { return s.Count })},
		{"min", "s", "shortest time", of(func(s csvTimed) any { return s.Min })},
		{"mean", "s", "mean time", of(func(s csvTimed) any { return s.Mean })},
		{"stddev", "s", "standard deviation of the times", of(func(s csvTimed) any { return s.StdDev })},
		{"median", "s", "median time; of a query type over the rounds, of the queries that all verified targets answered", either(func(l *csvLine) any { return l.median }, of(func(s csvTimed) any { return s.Median }))},
		{"p90", "s", "90th percentile, of 10 or more", of(func(s csvCount) any { return quantile(s.Latency, 0.9, s.P90) })},
		{"p95", "s", "95th percentile, of 20 or more", of(func(s csvCount) any { return quantile(s.Latency, 0.95, s.P95) })},
		{"p99", "s", "99th percentile, of 100 or more", of(func(s csvCount) any { return quantile(s.Latency, 0.99, s.P99) })},
		{"p999", "s", "99.9th percentile, of 1,000 or more", of(func(s csvCount) any { return quantile(s.Latency, 0.999, s.P999) })},
		{"max", "s", "longest time", either(of(func(s csvTimed) any { return s.Max }), of(func(s csvStep) any { return s.slowest }))},
		{"type", "", "query type", func(l *csvLine) any { return where(l.kind == "query" || l.kind == "mixed query", l.name) }},
		{"queries_drawn", "", "fingerprint of the queries of the type", (*csvLine).queriesDrawn},
		{"texts", "", "origin of query texts that tsmark did not write", of(func(q *result.Queries) any { return q.Texts })},
		{"verified_by", "", "oracle, reference or agreement", of(func(q *result.Queries) any { return q.VerifiedBy() })},
		{"unsupported", "", "why the system cannot run it", func(l *csvLine) any { return l.unsupported }},
		{"difference", "", "first difference between an answer and the expected one", of(func(v *result.Verdict) any { return v.Difference })},
		{"checked", "", "answers compared in full", of(func(v *result.Verdict) any { return v.Checked })},
		{"checked_empty", "", "of these, answers that were empty as expected", of(func(v *result.Verdict) any { return v.Empty })},
		{"executed", "", "queries run", either(of(func(q *result.Queries) any { return q.Executed }), of(func(q *result.MixedType) any { return q.Executed }))},
		{"warm_ups", "", "queries run before the measurement", of(func(q *result.Queries) any { return q.WarmUp.Queries })},
		{"warm_up_time", "s", "time of these queries", of(func(q *result.Queries) any { return q.WarmUp.Seconds })},
		{"burn_in", "", "first queries of each worker that no figure has", of(func(q *result.Queries) any { return q.BurnIn })},
		{"at_least", "", "queries cut off by a limit, so that figures are lower bounds", either(of(func(q *result.Queries) any { return q.AtLeast }), of(func(q *result.MixedType) any { return q.AtLeast }))},
		{"distinct", "", "different queries drawn", of(func(q *result.Queries) any { return q.Distinct })},
		{"time_box", "s", "time limit of a round", of(func(q *result.Queries) any { return q.TimeBox })},
		{"timeout", "s", "time limit of a query", of(func(q *result.Queries) any { return q.Timeout })},
		{"wall", "s", "time from the first query to the last answer", either(of(func(q csvRan) any { return q.Wall }), of(func(m csvDone) any { return m.Wall }))},
		{"per_second", "1/s", "queries answered a second, all workers together", either(of(func(q csvRan) any { return q.PerSecond }), of(func(q csvAnswered) any { return q.PerSecond }))},
		{"bytes", "bytes", "bytes of all answers", either(of(func(q csvRan) any { return q.Bytes }), of(func(q csvAnswered) any { return q.Bytes }))},
		{"batch_size", "", "rows in a batch", of(func(w *result.Load) any { return w.BatchSize })},
		{"metrics", "", "values loaded", of(func(w csvStored) any { return w.Metrics })},
		{"wire_bytes", "bytes", "bytes handed to the target", of(func(w csvStored) any { return w.WireBytes })},
		{"prepare", "s", "time to create the tables, before the clock", of(func(w csvLoaded) any { return w.Prepare })},
		{"sent", "s", "time until the last row was handed over", either(of(func(w csvStored) any { return w.Sent }), of(func(s csvStep) any { return s.Sent }))},
		{"acked", "s", "time until the last row was acknowledged", either(of(func(w csvStored) any { return where(w.Acked > 0, w.Acked) }), of(func(s csvStep) any { return where(s.Acked > 0, s.Acked) }))},
		{"settled", "s", "time until all rows were visible and background work was idle", either(of(func(w csvStored) any { return w.Settled }), of(func(s csvStep) any { return s.Settled }))},
		{"disk_bytes", "bytes", "size on disk after settling", of(func(w csvLoaded) any { return where(w.Disk() >= 0, w.Disk()) })},
		{"disk_left_out", "", "what the size does not count", of(func(w csvLoaded) any { return where(w.DiskBytes >= 0, w.DiskLeftOut) })},
		{"disk_pending", "", "why the size is incomplete", of(func(w csvLoaded) any { return where(w.DiskBytes >= 0, w.DiskPending) })},
		{"raw_bytes", "bytes", "size of the dataset as line protocol", func(l *csvLine) any { return where(l.kind == "load", l.run.Dataset.RawBytes) }},
		{"retries", "", "batches sent again after a failure", of(func(r *result.Retries) any { return r.Tries })},
		{"sent_twice", "", "rows of these batches that may have been stored already", of(func(r *result.Retries) any { return r.SentTwice })},
		{"duplicates", "", "rows that the target holds twice", of(func(w csvLoad) any { return where(len(w.Census) > 0, w.Duplicates()) })},
		{"lost", "", "acknowledged rows that the target does not hold", of(func(w csvLoad) any { return where(len(w.Census) > 0, w.LostRows()) })},
		{"step", "", "number of a step of a load whose rows bring columns, from 1", of(func(s csvStep) any { return s.number })},
		{"new_tags", "", "tags that the step brings", of(func(s csvStep) any { return strings.Join(s.Tags, " ") })},
		{"new_fields", "", "fields that the step brings", of(func(s csvStep) any { return strings.Join(s.Fields, " ") })},
		{"acked_rate", "rows/s", "rows acknowledged a second in the step", of(func(s csvStep) any { return s.acked })},
		{"step_cost", "", "time of a row until settled, as a multiple of the first step's", of(func(s csvStep) any { return where(s.number > 1, s.cost.Ratio) })},
		{"step_cost_low", "", "lower end of its interval", of(func(s csvStep) any { return where(s.number > 1, low(s.cost.Interval)) })},
		{"step_cost_high", "", "upper end of its interval", of(func(s csvStep) any { return where(s.number > 1, high(s.cost.Interval)) })},
		{"aggregate", "", "continuous aggregate that was built or queried", either(of(func(a *result.Aggregate) any { return a.Name }), of(func(r csvFromRows) any { return r.aggregate }))},
		{"aggregate_unsupported", "", "why the system has no such aggregate", of(func(a *result.Aggregate) any { return a.Unsupported })},
		{"aggregate_seconds", "s", "time to build it from all rows", of(func(a csvAggregate) any { return a.seconds })},
		{"aggregate_bytes", "bytes", "its size on disk", of(func(a csvAggregate) any { return where(a.DiskBytes >= 0, a.DiskBytes) })},
		{"aggregate_load_rate", "rows/s", "settled rate of loads while it was maintained", of(func(a csvAggregate) any { return a.rate })},
		{"aggregate_fresh", "s", "time from the last acknowledged row until it had every row", of(func(a csvAggregate) any { return a.fresh })},
		{"from_rows", "", "time of the query type from rows, as a multiple of that from the aggregate", of(func(r csvFromRows) any { return r.Ratio })},
		{"from_rows_low", "", "lower end of its interval", of(func(r csvFromRows) any { return low(r.Interval) })},
		{"from_rows_high", "", "upper end of its interval", of(func(r csvFromRows) any { return high(r.Interval) })},
		{"read_rows", "", "rows that the system read for a query, as it reports", of(func(r *result.Read) any { return where(r.Rows >= 0, r.Rows) })},
		{"read_bytes", "bytes", "bytes that the system read for a query, as it reports", of(func(r *result.Read) any { return where(r.Bytes >= 0, r.Bytes) })},
		{"client_bound", "", "why tsmark itself may have set the pace", func(l *csvLine) any { return l.clientBound }},
		{"client_share", "", "tsmark's share of all cores", of(func(c *rank.ClientUse) any { return c.Share })},
		{"client_query_share", "", "share of the service time in which tsmark used a processor", of(func(q csvRan) any { return q.ClientShare() })},
		{"paused", "", "operations left out because tsmark itself stood still", either(of(func(w csvLoaded) any { return w.Paused }), of(func(q csvRan) any { return q.Paused }))},
		{"client_gc_pause_max", "s", "longest pause of tsmark's garbage collection", of(func(c *rank.ClientUse) any { return c.PauseMax })},
		{"client_scheduling_p99", "s", "99th percentile of tsmark's waits for a processor, worst repeat", of(func(c *rank.ClientUse) any { return c.Scheduling })},
		{"noisy", "", "why the host counts as noisy", func(l *csvLine) any { return l.noisy }},
		{"noise_untold", "", "why noise could not be measured", of(func(n *result.Noise) any { return n.Unknown })},
		{"others_share", "", "share of all cores that other processes used", of(func(n *result.Noise) any { return n.OthersShare() })},
		{"steal_share", "", "share of all cores that the hypervisor gave to other machines", of(func(n *result.Noise) any { return n.StealShare() })},
		{"throttled_share", "", "share of the scheduling periods in which a CPU limit held tsmark back", of(func(n *result.Noise) any { return n.ThrottledShare() })},
		{"memory_wait_share", "", "share of the time in which some process waited for memory", of(func(n *result.Noise) any { return n.MemoryShare() })},
		{"schedule", "", "schedule of an open loop", of(func(o *result.OpenLoop) any { return o.Schedule })},
		{"arrivals", "", "queries that arrived", either(of(func(o *result.OpenLoop) any { return o.Arrivals }), of(func(m csvDone) any { return m.Arrivals }))},
		{"offered", "1/s", "queries that arrived a second", of(func(o *result.OpenLoop) any { return o.Offered })},
		{"dropped", "", "arrivals that found the queue full", either(of(func(o *result.OpenLoop) any { return o.Dropped }), of(func(m csvDone) any { return m.Dropped }))},
		{"waiting", "", "arrivals still in the queue at the end", either(of(func(o *result.OpenLoop) any { return o.Waiting }), of(func(m csvDone) any { return m.Waiting }))},
		{"saturated", "", "why the target did not keep up with the schedule", of(func(o *result.OpenLoop) any { return o.Saturated })},
		{"response_median", "s", "median response time, from when a query was due", of(func(s csvResponse) any { return quantile(s.Latency, 0.5, s.Median) })},
		{"response_p99", "s", "99th percentile of the response time", of(func(s csvResponse) any { return quantile(s.Latency, 0.99, s.P99) })},
		{"response_p999", "s", "99.9th percentile of the response time", of(func(s csvResponse) any { return quantile(s.Latency, 0.999, s.P999) })},
		{"lag_p99", "s", "99th percentile of how late tsmark itself released queries", of(func(s csvLag) any { return quantile(s.Latency, 0.99, s.P99) })},
		{"objective", "", "objective of the search for the highest rate", of(func(s *result.RateSearch) any { return s.Objective })},
		{"highest_rate", "1/s", "highest rate that met the objective", of(func(s *result.RateSearch) any { return s.Kept })},
		{"lowest_failed", "1/s", "lowest rate that did not", of(func(s *result.RateSearch) any { return s.Failed })},
		{"share", "", "share of batches among the operations of a mixed phase", of(func(m csvPhase) any { return where(m.Share > 0, m.Share) })},
		{"row_rate", "", "prescribed rate of rows", of(func(m csvPhase) any { return m.RowRate })},
		{"query_rate", "", "prescribed rate of queries", of(func(m *result.Mixed) any { return m.QueryRate })},
		{"windows", "", "part of the written rows that queries ask for", of(func(m *result.Mixed) any { return m.Windows })},
		{"loaded", "", "rows loaded before the mixed phase", of(func(m csvPhase) any { return m.Loaded })},
		{"rest", "", "rows loaded alone after it", of(func(m csvDone) any { return m.Rest })},
		{"queriers", "", "workers that queried", of(func(q csvQueriers) any { return int(q) })},
		{"early", "", "queries that came before any window fitted", of(func(m csvDone) any { return m.Early })},
		{"counted", "", "answers of which only the number of rows was checked", either(of(func(q *result.MixedType) any { return q.Counted }), of(func(q csvSampled) any { return q.CountedAnswers() }))},
		{"stale", "", "answers that were right for an older state", of(func(q csvAnswered) any { return q.Stale })},
		{"stale_share", "", "their share", of(func(q csvAnswered) any { return q.StaleShare() })},
		{"stale_unmatched", "", "stale answers that match no state that was tried", of(func(q csvAnswered) any { return q.Unmatched })},
		{"unexamined", "", "wrong answers that were not examined", of(func(q *result.MixedType) any { return q.Unexamined })},
		{"fresh_median", "s", "median of how long acknowledged rows were not visible, at least", of(func(q csvFresh) any { return q.Freshness.Median })},
		{"fresh_max", "s", "longest of these times", of(func(q csvFresh) any { return q.Freshness.Max })},
		{"rate", "rows/s", "median of the settled rates of loads or steps", func(l *csvLine) any { return l.rate }},
		{"rounds", "", "rounds or loads that the figures are over", of(func(n csvRounds) any { return int(n) })},
		{"common", "", "different queries that the median is over", of(func(n csvCommon) any { return int(n) })},
		{"types", "", "query types that the ratio of an overall line is over", of(func(n csvTypes) any { return int(n) })},
		{"interval_low", "", "lower end of the interval of the rate or median", of(func(in *stats.Interval) any { return where(in.Lo.Bound == stats.Exact, in.Lo) })},
		{"interval_high", "", "upper end of the interval of the rate or median", of(func(in *stats.Interval) any { return where(in.Hi.Bound == stats.Exact, in.Hi) })},
		{"interval_level", "", "confidence level of the interval", of(func(in *stats.Interval) any { return in.Level })},
		{"against", "", "target that the ratio compares with", func(l *csvLine) any { return l.against }},
		{"ratio", "", "time as a multiple of that target's; more is worse", of(func(f *compare.Figure) any { return f.Ratio })},
		{"ratio_bound", "", "at least or at most, where queries were cut off", of(func(f *compare.Figure) any { return string(f.Ratio.Bound) })},
		{"ratio_low", "", "lower end of the interval of the ratio", of(func(in csvRatio) any { return in.Lo })},
		{"ratio_high", "", "upper end of the interval of the ratio", of(func(in csvRatio) any { return in.Hi })},
		{"ratio_level", "", "confidence level of that interval", of(func(in csvRatio) any { return in.Level })},
		{"p_corrected", "", "p-value, corrected by Holm", of(func(f *compare.Figure) any { return where(f.Decidable(), f.Adjusted) })},
		{"comparison", "", "best, worse, tie, or why there is no verdict", func(l *csvLine) any { return l.comparison }},
		{"stopped", "", "what ended the queries, with the number of repeats where it differs", of(func(s csvStopped) any { return string(s) })},
		{"captured", "", "answers kept during the measurement", of(func(s *result.Sample) any { return s.Captured })},
		{"early_checked", "", "answers compared before the measurement", of(func(s *result.Sample) any { return s.Early })},
		{"found_share", "", "share of wrong answers that the check would find with 95 %", of(func(q csvSampled) any { return where(q.DetectableShare() > 0, q.DetectableShare()) })},
		{"different", "", "different queries that have a time", of(func(s *result.Sample) any { return s.Different })},
		{"repeated", "", "whether rounds repeat the same queries", of(func(s *result.Sample) any { return s.Repeated })},
		{"digest", "", "digest of the rows, if it was computed", func(l *csvLine) any { return l.run.Dataset.Digest }},
		{"sweep", "", "id of the sweep", of(func(r csvSwept) any { return r.Sweep })},
		{"point", "", "number of the point in the sweep", of(func(r csvSwept) any { return r.Point })},
		{"parameters", "", "parameters of the point, as path=value", of(func(r csvSwept) any { return r.Parameters.String() })},
	}
}

// AgentColumns are further columns where a run had agents: of lines of kind agent, one
// for each measurement that agents shared and each of them. Rates are rows or queries a
// second over the time of its own share; network is bytes a second of its machine.
func AgentColumns() []Column {
	clock := func(value func(*result.Clock) any) func(*csvLine) any {
		return of(func(a csvAgent) any {
			if a.who == nil || a.who.Clock() == nil {
				return nil
			}
			return value(a.who.Clock())
		})
	}
	return []Column{
		{"agent", "", "name of the agent", of(func(a csvAgent) any { return a.Name })},
		{"measurement", "", "measurement that agents shared", of(func(a csvAgent) any { return a.measurement })},
		{"shares", "", "shares of the rows or queries that it had", of(func(a csvAgent) any { return a.ShareList() })},
		{"agent_rate", "1/s", "rows or queries a second over the time of its share", of(func(a csvAgent) any { return a.Rate })},
		{"start_skew", "s", "how much later than planned it began", of(func(a csvAgent) any { return a.Skew })},
		{"sent_per_second", "bytes/s", "bytes that its machine sent a second", of(func(a csvAgent) any { return a.Sent })},
		{"received_per_second", "bytes/s", "bytes that its machine received a second", of(func(a csvAgent) any { return a.Received })},
		{"clock_offset", "s", "how far its clock was ahead of the coordinator's", clock(func(c *result.Clock) any { return c.Offset })},
		{"clock_uncertainty", "s", "uncertainty of that offset", clock(func(c *result.Clock) any { return c.Uncertainty })},
		{"agent_lost", "", "why it was lost", of(func(a csvAgent) any { return a.Lost })},
		{"taken_over", "", "agent that loaded its share again", of(func(a csvAgent) any { return a.TakenOver })},
	}
}

// queriesDrawn is the fingerprint of a type's queries.
func (l *csvLine) queriesDrawn() any {
	for _, drawn := range l.run.QuerySets {
		if l.kind == "query" && drawn.Type == l.name {
			return drawn.Fingerprint
		}
	}
	return nil
}
