package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// csvLine is a line of the CSV, with the parts of a run that it is about: of a load,
// a step of it, a query type, all query types together, the writes of a mixed phase, or a
// query type in it. Parts whose figures do not stand are left out.
type csvLine struct {
	kind        string
	run         *result.Run
	target      *result.Target
	name        string // query type, or the subject of a load or phase
	verdict     string
	withheld    string
	failed      *result.Failure
	unsupported string
	clientBound string
	noisy       string
	rate        any // in the column where its estimate belongs, or median
	median      any
	against     string
	comparison  string
	parts       []any
}

// Parts that are more than their type says.
type (
	csvLoad     struct{ *result.Load } // not the writes of a mixed phase
	csvLoaded   struct{ *result.Load } // likewise, with figures
	csvStored   struct{ *result.Load } // of both, with figures
	csvSampled  struct{ *result.Queries }
	csvRan      struct{ *result.Queries }
	csvPhase    struct{ *result.Mixed } // not a type in it
	csvDone     struct{ *result.Mixed } // likewise, with figures
	csvAnswered struct{ *result.MixedType }
	csvFresh    struct{ *result.MixedType } // with stale answers
	csvCount    struct{ *result.Latency }
	csvTimed    struct{ *result.Latency } // of which there are some
	csvResponse struct{ *result.Latency }
	csvLag      struct{ *result.Latency }
	csvRatio    struct{ *stats.Interval }
	csvRounds   int
	csvCommon   int
	csvTypes    int
	csvQueriers int
	csvSwept    struct{ *result.Run }
	csvStopped  string
	// csvAggregate is an aggregate, with medians over the loads.
	csvAggregate struct {
		*result.Aggregate
		seconds, rate, fresh any
	}
	// csvStep is a step of a load whose rows bring columns, with medians over the loads
	// and how many times as long a row takes as in the first step.
	csvStep struct {
		*result.GrowthStep
		number         int // from 1
		acked, slowest any
		cost           stats.Comparison
	}
	// csvAgent is what one agent of a run did of a measurement.
	csvAgent struct {
		*agentUse
		who         *result.Agent // nil: the run does not have it
		measurement string
	}
	csvFromRows struct {
		aggregate string
		stats.Comparison
	}
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

func (l *csvLine) about(parts ...any) { l.parts = append(l.parts, parts...) }

// latency adds latencies as columns count to max have them.
func (l *csvLine) latency(s *result.Latency) {
	if l.about(csvCount{s}); s.Count > 0 {
		l.about(csvTimed{s})
	}
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
		{"driver", func(l *csvLine) any { return l.target.Kind }},
		{"version", func(l *csvLine) any { return version(&l.target.Description) }},
		{"system", func(l *csvLine) any { return l.target.Description.System }},
		{"stand_in", func(l *csvLine) any { return l.target.Description.StandIn }},
		{"origin", func(l *csvLine) any { return l.run.NotMeasuredHere() }},
		{"options", func(l *csvLine) any { return changesFact(l.target.Changes) }},
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
		{"lost", of(func(w csvLoad) any { return where(len(w.Census) > 0, w.Lost()) })},
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
		{"client_share", of(func(c *clientUse) any { return c.Share })},
		{"client_query_share", of(func(q csvRan) any { return q.ClientShare() })},
		{"paused", either(of(func(w csvLoaded) any { return w.Paused }), of(func(q csvRan) any { return q.Paused }))},
		{"client_gc_pause_max", of(func(c *clientUse) any { return c.PauseMax })},
		{"client_scheduling_p99", of(func(c *clientUse) any { return c.Scheduling })},
		// The host: why it was noisy, what could not be told, and shares of all
		// cores, of the scheduling periods and of the time.
		{"noisy", func(l *csvLine) any { return l.noisy }},
		{"noise_untold", of(func(n *result.Noise) any { return n.Untold })},
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
		{"counted", either(of(func(q *result.MixedType) any { return q.Counted }), of(func(q csvSampled) any { return q.Counted() }))},
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
		{"found_share", of(func(q csvSampled) any { return where(q.Found() > 0, q.Found()) })},
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
		{"shares", of(func(a csvAgent) any { return a.shareList() })},
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

// writeCSV writes a line per load, step of a load, mixed phase and query type, and one of each
// target for all types together, where targets are compared. One kind of line
// leaves the columns of the other empty; a line whose figures do not stand has none.
func (p *Report) writeCSV(w io.Writer) error {
	out, columns := newCSVWriter(w), csvColumns()
	if slices.ContainsFunc(p.runs, func(r *result.Run) bool { return len(r.Agents) > 0 }) {
		columns = append(columns, agentColumns()...)
	}
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	if err := out.Write(cells); err != nil {
		return err
	}
	for i, r := range p.runs {
		for _, line := range csvLines(p.own[i], r) {
			for i, c := range columns {
				cells[i] = csvText(c.value(line))
			}
			if err := out.Write(cells); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// csvText writes of numbers nine digits: more than any clock gives, and the same on
// all processors.
func csvText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 9, 64)
	case result.Value:
		if v.Known() {
			return csvText(float64(v))
		}
	case stats.Value:
		if v.Bound != stats.Unknown {
			return csvText(v.Figure)
		}
	}
	return ""
}

// csvLines are the lines of a run.
func csvLines(g *group, r *result.Run) []*csvLine {
	var lines []*csvLine
	for i := range r.Targets {
		t := &r.Targets[i]
		add := func(kind, name string) *csvLine {
			line := &csvLine{kind: kind, run: r, target: t, name: name}
			if r.Sweep != "" {
				line.about(csvSwept{r})
			}
			lines = append(lines, line)
			return line
		}
		if t.Load != nil {
			line := add("load", compare.LoadSubject)
			line.ofLoad(t.Load)
			if line.withheld == "" {
				line.rate = line.estimated(g, i, g.rankLoads())
			}
		}
		if t.Load.Stands() && t.Load.Growth != nil {
			for step := range t.Load.Growth.Steps {
				add("step", compare.LoadSubject).ofStep(step)
			}
		}
		if t.Load != nil && t.Load.Mixed != nil {
			m := t.Load.Mixed
			add("mixed", compare.MixedSubject).ofPhase(m)
			for j := range m.Types {
				add("mixed query", m.Types[j].Type).ofPart(m, &m.Types[j])
			}
		}
		for j := range t.Queries {
			q := &t.Queries[j]
			line := add("query", q.Type)
			line.ofQueries(q)
			if stands(q) {
				sample := g.samples(q.Type)[i]
				line.about(csvRounds(len(sample)), csvCommon(sample.Queries()))
				line.median = line.estimated(g, i, g.rankType(q.Type))
			}
		}
		for _, s := range sharedIn(t) {
			for _, u := range s.uses() {
				add("agent", s.Name).ofAgent(&s, &u)
			}
		}
		if overall := g.rankOverall(); i == overall.Reference || overall.Figures[i] != nil || terms.Unranked(t) != "" {
			add("overall", compare.AllTypes).ofAllTypes(g, i, overall)
		}
	}
	return lines
}

func (l *csvLine) ofLoad(w *result.Load) {
	l.about(csvLoad{w}, w)
	if retries := w.AllRetries(); retries != nil {
		l.about(retries)
	}
	if l.unsupported = w.Unsupported(); l.unsupported != "" {
		return
	}
	if l.withheld = w.Reason(); !w.Stands() {
		return
	}
	if a := w.Aggregate; a != nil {
		l.about(a)
		if a.Unsupported == "" {
			of := func(figure func(*result.Aggregate) float64) any { return median(estimate.Aggregates(l.target, figure)) }
			l.about(csvAggregate{a, of(estimate.Building), of(estimate.KeptRate), of(estimate.Fresh)})
		}
	}
	l.about(csvLoaded{w}, csvStored{w}, csvRounds(len(estimate.Loads(l.target, estimate.Settled))))
	l.latency(&w.Batches)
	l.verdict = cmp.Or(w.Unverified, l.run.Dataset.Unverified)
	if why := w.Unexcluded(); why != "" && l.verdict == "" {
		l.verdict = "losses cannot be excluded: " + why
	}
	l.observed()
}

func (l *csvLine) ofStep(at int) {
	of := func(figure func(*result.GrowthStep) float64) any {
		return median(estimate.Growth(l.target, at, figure))
	}
	settled := estimate.Growth(l.target, at, estimate.StepSettled)
	l.about(csvRounds(len(settled)), csvStep{
		GrowthStep: &l.target.Load.Growth.Steps[at], number: at + 1,
		acked: of(estimate.StepAcked), slowest: of(func(s *result.GrowthStep) float64 { return s.Slowest }),
		cost: stats.Compare(settled, estimate.Growth(l.target, 0, estimate.StepSettled)),
	})
	l.median, l.rate = of(func(s *result.GrowthStep) float64 { return s.Median }), median(settled)
	if e := stats.Summarize(settled); e.Interval != nil {
		l.about(e.Interval)
	}
	l.observed()
}

func (l *csvLine) ofPhase(m *result.Mixed) {
	l.about(m, csvPhase{m}, csvQueriers(m.Queriers), &m.Writes)
	if l.withheld = l.target.Load.Reason(); !l.target.Load.Stands() {
		return
	}
	l.about(csvDone{m}, csvStored{&m.Writes})
	l.latency(&m.Writes.Batches)
	if m.Response != nil {
		l.about(csvResponse{m.Response})
	}
	if m.Lag != nil {
		l.about(csvLag{m.Lag})
	}
	l.observed()
}

func (l *csvLine) ofPart(m *result.Mixed, q *result.MixedType) {
	l.about(m)
	if l.unsupported = q.Unsupported; q.Unsupported != "" {
		return
	}
	l.about(q, &q.Verdict, csvQueriers(m.Queriers))
	l.verdict = q.Verdict.String()
	if l.withheld = cmp.Or(q.Withheld, l.target.Load.Withheld); l.withheld != "" {
		return
	}
	if l.failed = q.Failed; l.failed != nil {
		return
	}
	l.about(csvAnswered{q})
	l.latency(&q.Service)
	if q.Response != nil {
		l.about(csvResponse{q.Response})
	}
	if q.Freshness.Count > 0 {
		l.about(csvFresh{q})
	}
}

func (l *csvLine) ofQueries(q *result.Queries) {
	if l.unsupported = q.Unsupported; q.Unsupported != "" {
		return
	}
	l.about(q, &q.Verdict)
	l.verdict = q.VerdictText()
	if q.Sample.Wanted > 0 {
		l.about(csvSampled{q}, &q.Sample)
	}
	if q.Outcome() == result.Withheld {
		l.withheld = q.Reason()
		return
	}
	if l.failed = q.Failed; l.failed != nil {
		return
	}
	l.about(csvRan{q}, csvStopped(stopText(l.target, q.Type)))
	l.latency(&q.Service)
	if rows, aggregate := result.RawType(q.Type); aggregate && l.target.Load != nil && l.target.Load.Aggregate != nil {
		l.about(csvFromRows{l.target.Load.Aggregate.Name, estimate.FromRows(l.target, rows, q.Type)})
	}
	if q.Read != nil {
		l.about(q.Read)
	}
	if o := q.Open; o != nil {
		l.about(o, csvResponse{&o.Response}, csvLag{&o.Lag})
		if o.Search != nil {
			l.about(o.Search)
		}
	}
	l.observed()
}

func (l *csvLine) ofAgent(s *shared, u *agentUse) {
	l.about(csvAgent{u, l.run.Agent(u.Name), s.Name}, &clientUse{Share: u.CPU, PauseMax: u.PauseMax, Scheduling: u.Scheduling})
	l.latency(&u.Latency)
	l.clientBound, l.noisy = u.Bound, u.Noisy
}

// ofAllTypes is the place of the subject in the headline of reports.
func (l *csvLine) ofAllTypes(g *group, at int, r ranking) {
	l.estimated(g, at, r)
	for i, f := range r.Figures {
		if f != nil && (i == at || at == r.Reference) {
			l.about(csvTypes(f.Types), csvRounds(f.B.N))
		}
	}
	in := func(marked map[string]string) string {
		if n := len(typesAmong(l.target, marked)); n > 0 {
			return fmt.Sprintf("in %d of %s", n, plural(len(l.target.Queries), "query type"))
		}
		return ""
	}
	l.clientBound, l.noisy = in(clientBounds(l.target)), in(noisyIn(l.target))
}

// observed looks at what the client and others took of the machine.
func (l *csvLine) observed() {
	for _, m := range measurements(l.target) {
		if use, known := m.client(); known && m.Name == l.name && l.kind != "mixed" {
			l.clientBound = m.clientBound()
			l.about(&use)
		}
	}
	for _, h := range heardIn(l.target) {
		if h.Name == l.name {
			l.noisy = h.noisy()
			l.about(result.AddNoise(h.Phases...))
		}
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

// estimated adds what is estimated of the subject at a place of a ranking, how it
// compares, and returns the estimate itself.
func (l *csvLine) estimated(g *group, at int, r ranking) any {
	e, f := &r.Estimates[at], r.Figures[at]
	if e.Interval != nil {
		l.about(e.Interval)
	}
	if f != nil {
		l.against = g.subjects[r.Reference].name
		if l.about(f); f.Interval != nil {
			l.about(csvRatio{f.Interval})
		}
	}
	switch why := g.unranked(at); {
	case why != "":
		l.comparison = notRanked + ": " + why
	case f != nil || at == r.Reference:
		l.comparison = r.verdict(at)
	}
	return where(e.N > 0 && e.Median.Bound != stats.Unknown, e.Median)
}
