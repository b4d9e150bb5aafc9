package report

import (
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/rank"
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

// csvColumn is a column and its value in a line: a text, a number, or nil.
type csvColumn struct {
	name  string
	value func(*csvLine) any
}

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

// csvColumns are the columns in their order. Durations are seconds; count to max
// are of batches in a load, and of queries.
func csvColumns() []csvColumn {
	return []csvColumn{
		// Every line.
		{"kind", func(l *csvLine) any { return l.kind }},
		{"run", func(l *csvLine) any { return l.run.ID }},
		{"run_name", func(l *csvLine) any { return l.run.Name }},
		{"run_status", func(l *csvLine) any { return string(l.run.Status) }},
		{"started", func(l *csvLine) any { return l.run.Started.UTC().Format(time.RFC3339) }},
		{"workload", func(l *csvLine) any { return l.run.Dataset.Spec.Name }},
		{"fingerprint", func(l *csvLine) any { return l.run.Dataset.Fingerprint }},
		{"target", func(l *csvLine) any { return l.target.Name }},
		{"driver", func(l *csvLine) any { return l.target.Driver }},
		{"version", func(l *csvLine) any { return facts.Version(&l.target.Description) }},
		{"system", func(l *csvLine) any { return l.target.Description.System }},
		{"stand_in", func(l *csvLine) any { return l.target.Description.StandIn }},
		{"origin", func(l *csvLine) any { return l.run.NotMeasuredHere() }},
		{"options", func(l *csvLine) any { return facts.Changes(l.target.Changes) }},
		{"verdict", func(l *csvLine) any { return l.verdict }},
		{"withheld", func(l *csvLine) any { return l.withheld }},
		// Why there are no figures although no answer was wrong: "> 1 min: …" or "failed: …".
		{"failed", func(l *csvLine) any { return failureText(l.failed) }},
		{"workers", either(of(func(w *result.Load) any { return w.Workers }), of(func(q *result.Queries) any { return q.Workers }))},
		{"rows", either(of(func(w csvStored) any { return w.Rows }), of(func(q csvRan) any { return q.Rows }),
			of(func(q csvAnswered) any { return q.Rows }), of(func(s csvStep) any { return s.Rows }))},
		{"count", of(func(s csvCount) any { return s.Count })},
		{"min", of(func(s csvTimed) any { return s.Min })},
		{"mean", of(func(s csvTimed) any { return s.Mean })},
		{"stddev", of(func(s csvTimed) any { return s.StdDev })},
		// Of a query line that over the rounds, of common queries; its other
		// latencies are of all queries run. See package estimate.
		{"median", either(func(l *csvLine) any { return l.median }, of(func(s csvTimed) any { return s.Median }))},
		{"p90", of(func(s csvCount) any { return quantile(s.Latency, 0.9, s.P90) })},
		{"p95", of(func(s csvCount) any { return quantile(s.Latency, 0.95, s.P95) })},
		{"p99", of(func(s csvCount) any { return quantile(s.Latency, 0.99, s.P99) })},
		{"p999", of(func(s csvCount) any { return quantile(s.Latency, 0.999, s.P999) })},
		{"max", either(of(func(s csvTimed) any { return s.Max }), of(func(s csvStep) any { return s.slowest }))},
		// Lines of kind query.
		{"type", func(l *csvLine) any { return where(l.kind == "query" || l.kind == "mixed query", l.name) }},
		{"queries_drawn", (*csvLine).queriesDrawn},
		{"texts", of(func(q *result.Queries) any { return q.Texts })},
		{"verified_by", of(func(q *result.Queries) any { return q.VerifiedBy() })},
		{"unsupported", func(l *csvLine) any { return l.unsupported }},
		{"difference", of(func(v *result.Verdict) any { return v.Difference })},
		{"checked", of(func(v *result.Verdict) any { return v.Checked })},
		{"checked_empty", of(func(v *result.Verdict) any { return v.Empty })},
		{"executed", either(of(func(q *result.Queries) any { return q.Executed }), of(func(q *result.MixedType) any { return q.Executed }))},
		{"warm_ups", of(func(q *result.Queries) any { return q.WarmUp.Queries })},
		{"warm_up_time", of(func(q *result.Queries) any { return q.WarmUp.Seconds })},
		{"burn_in", of(func(q *result.Queries) any { return q.BurnIn })},
		{"at_least", either(of(func(q *result.Queries) any { return q.AtLeast }), of(func(q *result.MixedType) any { return q.AtLeast }))},
		{"distinct", of(func(q *result.Queries) any { return q.Distinct })},
		{"time_box", of(func(q *result.Queries) any { return q.TimeBox })},
		{"timeout", of(func(q *result.Queries) any { return q.Timeout })},
		{"wall", either(of(func(q csvRan) any { return q.Wall }), of(func(m csvDone) any { return m.Wall }))},
		{"per_second", either(of(func(q csvRan) any { return q.PerSecond }), of(func(q csvAnswered) any { return q.PerSecond }))},
		{"bytes", either(of(func(q csvRan) any { return q.Bytes }), of(func(q csvAnswered) any { return q.Bytes }))},
		// Lines of kind load.
		{"batch_size", of(func(w *result.Load) any { return w.BatchSize })},
		{"metrics", of(func(w csvStored) any { return w.Metrics })},
		{"wire_bytes", of(func(w csvStored) any { return w.WireBytes })},
		{"prepare", of(func(w csvLoaded) any { return w.Prepare })},
		{"sent", either(of(func(w csvStored) any { return w.Sent }), of(func(s csvStep) any { return s.Sent }))},
		{"acked", either(of(func(w csvStored) any { return where(w.Acked > 0, w.Acked) }), of(func(s csvStep) any { return where(s.Acked > 0, s.Acked) }))},
		{"settled", either(of(func(w csvStored) any { return w.Settled }), of(func(s csvStep) any { return s.Settled }))},
		{"disk_bytes", of(func(w csvLoaded) any { return where(w.Disk() >= 0, w.Disk()) })},
		{"disk_left_out", of(func(w csvLoaded) any { return where(w.DiskBytes >= 0, w.DiskLeftOut) })},
		{"disk_pending", of(func(w csvLoaded) any { return where(w.DiskBytes >= 0, w.DiskPending) })},
		{"raw_bytes", func(l *csvLine) any { return where(l.kind == "load", l.run.Dataset.RawBytes) }},
		{"retries", of(func(r *result.Retries) any { return r.Tries })},
		{"sent_twice", of(func(r *result.Retries) any { return r.SentTwice })},
		{"duplicates", of(func(w csvLoad) any { return where(len(w.Census) > 0, w.Duplicates()) })},
		{"lost", of(func(w csvLoad) any { return where(len(w.Census) > 0, w.LostRows()) })},
		// Lines of kind step, one a step of loads whose rows bring columns: its number, what
		// it brings, the rows a second that were acknowledged, and how many times as long a
		// row takes as in the first step until all have settled. Their max is that of batches.
		{"step", of(func(s csvStep) any { return s.number })},
		{"new_tags", of(func(s csvStep) any { return strings.Join(s.Tags, " ") })},
		{"new_fields", of(func(s csvStep) any { return strings.Join(s.Fields, " ") })},
		{"acked_rate", of(func(s csvStep) any { return s.acked })},
		{"step_cost", of(func(s csvStep) any { return where(s.number > 1, s.cost.Ratio) })},
		{"step_cost_low", of(func(s csvStep) any { return where(s.number > 1, low(s.cost.Interval)) })},
		{"step_cost_high", of(func(s csvStep) any { return where(s.number > 1, high(s.cost.Interval)) })},
		// The continuous aggregate: of lines of kind load what making it took, its size, the
		// settled rate of loads while it was kept up and how soon it had every row; of query
		// types that are answered from it how many times as long they take from rows.
		{"aggregate", either(of(func(a *result.Aggregate) any { return a.Name }), of(func(r csvFromRows) any { return r.aggregate }))},
		{"aggregate_unsupported", of(func(a *result.Aggregate) any { return a.Unsupported })},
		{"aggregate_seconds", of(func(a csvAggregate) any { return a.seconds })},
		{"aggregate_bytes", of(func(a csvAggregate) any { return where(a.DiskBytes >= 0, a.DiskBytes) })},
		{"aggregate_load_rate", of(func(a csvAggregate) any { return a.rate })},
		{"aggregate_fresh", of(func(a csvAggregate) any { return a.fresh })},
		{"from_rows", of(func(r csvFromRows) any { return r.Ratio })},
		{"from_rows_low", of(func(r csvFromRows) any { return low(r.Interval) })},
		{"from_rows_high", of(func(r csvFromRows) any { return high(r.Interval) })},
		{"read_rows", of(func(r *result.Read) any { return where(r.Rows >= 0, r.Rows) })},
		{"read_bytes", of(func(r *result.Read) any { return where(r.Bytes >= 0, r.Bytes) })},
		// Both: the client; the worst of the repeats, but for its share of all cores.
		{"client_bound", func(l *csvLine) any { return l.clientBound }},
		{"client_share", of(func(c *rank.ClientUse) any { return c.Share })},
		{"client_query_share", of(func(q csvRan) any { return q.ClientShare() })},
		{"paused", either(of(func(w csvLoaded) any { return w.Paused }), of(func(q csvRan) any { return q.Paused }))},
		{"client_gc_pause_max", of(func(c *rank.ClientUse) any { return c.PauseMax })},
		{"client_scheduling_p99", of(func(c *rank.ClientUse) any { return c.Scheduling })},
		// The host: why it was noisy, what could not be told, and shares of all
		// cores, of the scheduling periods and of the time.
		{"noisy", func(l *csvLine) any { return l.noisy }},
		{"noise_untold", of(func(n *result.Noise) any { return n.Unknown })},
		{"others_share", of(func(n *result.Noise) any { return n.OthersShare() })},
		{"steal_share", of(func(n *result.Noise) any { return n.StealShare() })},
		{"throttled_share", of(func(n *result.Noise) any { return n.ThrottledShare() })},
		{"memory_wait_share", of(func(n *result.Noise) any { return n.MemoryShare() })},
		// Open loops.
		{"schedule", of(func(o *result.OpenLoop) any { return o.Schedule })},
		{"arrivals", either(of(func(o *result.OpenLoop) any { return o.Arrivals }), of(func(m csvDone) any { return m.Arrivals }))},
		{"offered", of(func(o *result.OpenLoop) any { return o.Offered })},
		{"dropped", either(of(func(o *result.OpenLoop) any { return o.Dropped }), of(func(m csvDone) any { return m.Dropped }))},
		{"waiting", either(of(func(o *result.OpenLoop) any { return o.Waiting }), of(func(m csvDone) any { return m.Waiting }))},
		{"saturated", of(func(o *result.OpenLoop) any { return o.Saturated })},
		{"response_median", of(func(s csvResponse) any { return quantile(s.Latency, 0.5, s.Median) })},
		{"response_p99", of(func(s csvResponse) any { return quantile(s.Latency, 0.99, s.P99) })},
		{"response_p999", of(func(s csvResponse) any { return quantile(s.Latency, 0.999, s.P999) })},
		{"lag_p99", of(func(s csvLag) any { return quantile(s.Latency, 0.99, s.P99) })},
		{"objective", of(func(s *result.RateSearch) any { return s.Objective })},
		{"highest_rate", of(func(s *result.RateSearch) any { return s.Kept })},
		{"lowest_failed", of(func(s *result.RateSearch) any { return s.Failed })},
		// Mixed phases: lines of kind mixed, one a phase, whose rows and latencies
		// are those of the writes and whose arrivals are those of all queries, and
		// of kind mixed query.
		{"share", of(func(m csvPhase) any { return where(m.Share > 0, m.Share) })},
		{"row_rate", of(func(m csvPhase) any { return m.RowRate })},
		{"query_rate", of(func(m *result.Mixed) any { return m.QueryRate })},
		{"windows", of(func(m *result.Mixed) any { return m.Windows })},
		{"loaded", of(func(m csvPhase) any { return m.Loaded })},
		{"rest", of(func(m csvDone) any { return m.Rest })},
		{"queriers", of(func(q csvQueriers) any { return int(q) })},
		{"early", of(func(m csvDone) any { return m.Early })},
		{"counted", either(of(func(q *result.MixedType) any { return q.Counted }), of(func(q csvSampled) any { return q.CountedAnswers() }))},
		{"stale", of(func(q csvAnswered) any { return q.Stale })},
		{"stale_share", of(func(q csvAnswered) any { return q.StaleShare() })},
		{"stale_unmatched", of(func(q csvAnswered) any { return q.Unmatched })},
		{"unexamined", of(func(q *result.MixedType) any { return q.Unexamined })},
		{"fresh_median", of(func(q csvFresh) any { return q.Freshness.Median })},
		{"fresh_max", of(func(q csvFresh) any { return q.Freshness.Max })},
		// Of loads, and of steps of loads, the median of their settled rates, in rows a second.
		{"rate", func(l *csvLine) any { return l.rate }},
		// How many rounds or loads these are over, and how many different queries.
		{"rounds", of(func(n csvRounds) any { return int(n) })},
		{"common", of(func(n csvCommon) any { return int(n) })},
		// How many query types the ratio of a line of kind overall is over: it is of the
		// geometric means over them, as in the headline of reports.
		{"types", of(func(n csvTypes) any { return int(n) })},
		// Where the rate, or the median of queries in seconds, lies: with this level.
		{"interval_low", of(func(in *stats.Interval) any { return where(in.Lo.Bound == stats.Exact, in.Lo) })},
		{"interval_high", of(func(in *stats.Interval) any { return where(in.Hi.Bound == stats.Exact, in.Hi) })},
		{"interval_level", of(func(in *stats.Interval) any { return in.Level })},
		// How many times the figure of another target of the run it is, so that more
		// is worse; where that ratio lies, and what was shown.
		{"against", func(l *csvLine) any { return l.against }},
		{"ratio", of(func(f *compare.Figure) any { return f.Ratio })},
		{"ratio_bound", of(func(f *compare.Figure) any { return string(f.Ratio.Bound) })},
		{"ratio_low", of(func(in csvRatio) any { return in.Lo })},
		{"ratio_high", of(func(in csvRatio) any { return in.Hi })},
		{"ratio_level", of(func(in csvRatio) any { return in.Level })},
		{"p_corrected", of(func(f *compare.Figure) any { return where(f.Decidable(), f.Adjusted) })},
		{"comparison", func(l *csvLine) any { return l.comparison }},
		// What ended the queries, with the number of repeats where it differs.
		{"stopped", of(func(s csvStopped) any { return string(s) })},
		// Of the answers compared (checked) and counted: answers taken in the measured
		// phase, compared before it, and the share of wrong answers that would be found
		// with 95 %; different queries that have a time, and whether repeats run the same.
		{"captured", of(func(s *result.Sample) any { return s.Captured })},
		{"early_checked", of(func(s *result.Sample) any { return s.Early })},
		{"found_share", of(func(q csvSampled) any { return where(q.DetectableShare() > 0, q.DetectableShare()) })},
		{"different", of(func(s *result.Sample) any { return s.Different })},
		{"repeated", of(func(s *result.Sample) any { return s.Repeated })},
		// Every line, where it was asked for.
		{"digest", func(l *csvLine) any { return l.run.Dataset.Digest }},
		// Every line of a sweep; parameters as path=value, separated by commas.
		{"sweep", of(func(r csvSwept) any { return r.Sweep })},
		{"point", of(func(r csvSwept) any { return r.Point })},
		{"parameters", of(func(r csvSwept) any { return r.Parameters.String() })},
	}
}

// agentColumns are further columns where a run had agents: of lines of kind agent, one
// for each measurement that agents shared and each of them. Rates are rows or queries a
// second over the time of its own share; network is bytes a second of its machine.
func agentColumns() []csvColumn {
	clock := func(value func(*result.Clock) any) func(*csvLine) any {
		return of(func(a csvAgent) any {
			if a.who == nil || a.who.Clock() == nil {
				return nil
			}
			return value(a.who.Clock())
		})
	}
	return []csvColumn{
		{"agent", of(func(a csvAgent) any { return a.Name })},
		{"measurement", of(func(a csvAgent) any { return a.measurement })},
		{"shares", of(func(a csvAgent) any { return a.ShareList() })},
		{"agent_rate", of(func(a csvAgent) any { return a.Rate })},
		{"start_skew", of(func(a csvAgent) any { return a.Skew })},
		{"sent_per_second", of(func(a csvAgent) any { return a.Sent })},
		{"received_per_second", of(func(a csvAgent) any { return a.Received })},
		{"clock_offset", clock(func(c *result.Clock) any { return c.Offset })},
		{"clock_uncertainty", clock(func(c *result.Clock) any { return c.Uncertainty })},
		{"agent_lost", of(func(a csvAgent) any { return a.Lost })},
		{"taken_over", of(func(a csvAgent) any { return a.TakenOver })},
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
