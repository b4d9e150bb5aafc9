package report

import (
	"cmp"
	"io"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// csvColumns is the head of the CSV. One kind of line leaves the columns of the
// other empty; a line whose figures do not stand has none.
func csvColumns() []string {
	return []string{
		// Every line.
		"kind", "run", "run_name", "run_status", "started", "workload", "fingerprint", "target", "target_kind", "version", "options",
		"verdict", "withheld", "workers", "rows", "count", "min", "mean", "stddev", "median", "p90", "p95", "p99", "p999", "max",
		// Lines of kind query.
		"type", "questions", "unsupported", "difference", "checked", "checked_empty", "asked", "burn_in", "at_least", "distinct", "time_box", "timeout",
		"wall", "per_second", "bytes",
		// Lines of kind load.
		"batch_size", "metrics", "wire_bytes", "prepare", "sent", "acked", "settled", "disk_bytes", "disk_left_out", "raw_bytes",
		"retries", "sent_twice", "duplicates", "lost",
		// Both: the client; the worst of the repeats, but for its share of all cores.
		"client_bound", "client_share", "client_gc_pause_max", "client_scheduling_p99",
		// The host: why it was noisy, what could not be told, and shares of all
		// cores, of the scheduling periods and of the time.
		"noisy", "noise_untold", "others_share", "steal_share", "throttled_share", "memory_wait_share",
		// Open loops.
		"schedule", "arrivals", "offered", "dropped", "waiting", "saturated", "response_median", "response_p99", "response_p999", "lag_p99",
		"objective", "highest_rate", "lowest_failed",
		// Mixed phases: lines of kind mixed, one a phase, whose rows and latencies
		// are those of the writes and whose arrivals are those of all queries, and
		// of kind mixed query.
		"share", "row_rate", "query_rate", "windows", "loaded", "rest", "queriers", "early",
		"counted", "stale", "unexamined", "fresh_median", "fresh_max",
		// Of loads the median of their settled rates, in rows a second. The median
		// column of a query line is that over the rounds, of common queries; its
		// other latencies are of all queries run. See package estimate.
		"rate",
		// How many rounds or loads these are over, and how many different queries.
		"rounds", "common",
		// Where the rate, or the median of queries in seconds, lies: with this level.
		"interval_low", "interval_high", "interval_level",
		// How many times the figure of another target of the run it is, so that more
		// is worse; where that ratio lies, and what was shown.
		"against", "ratio", "ratio_bound", "ratio_low", "ratio_high", "ratio_level", "p_corrected", "comparison",
		// What ended the queries, with the number of repeats where it differs.
		"stopped",
		// Of the answers compared (checked) and counted: answers taken in the measured
		// phase, compared before it, and the share of wrong answers that would be found
		// with 95 %; different queries that have a time, and whether repeats run the same.
		"captured", "early_checked", "found_share", "different", "repeated",
		// Every line, where it was asked for.
		"digest",
		// Every line of a sweep; parameters as path=value, separated by commas.
		"sweep", "point", "parameters",
	}
}

// writeCSV writes a line per load, mixed phase and query type. Durations are seconds;
// count to max are of batches in a load, and of queries.
func writeCSV(w io.Writer, runs []*result.Run) error {
	out := newCSVWriter(w)
	if err := out.Write(csvColumns()); err != nil {
		return err
	}
	for _, r := range runs {
		g := groupOf(r)
		for i := range r.Targets {
			t := &r.Targets[i]
			if t.Load != nil {
				line := loadLine(r, t)
				if line["withheld"] == "" {
					line.estimate(g, i, g.rankLoads(), "rate")
				}
				if err := out.Write(line.cells()); err != nil {
					return err
				}
			}
			lines := mixedLines(r, t)
			for j := range t.Queries {
				line, q := queryLine(r, t, &t.Queries[j]), &t.Queries[j]
				if stands(q) {
					sample := g.samples(q.Type)[i]
					line.ints(map[string]int64{"rounds": int64(len(sample)), "common": int64(sample.Queries())})
					line.estimate(g, i, g.rankType(q.Type), "median")
				}
				lines = append(lines, line)
			}
			for _, line := range lines {
				if err := out.Write(line.cells()); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// csvLine holds values by column.
type csvLine map[string]string

func (l csvLine) cells() []string {
	names := csvColumns()
	cells := make([]string, len(names))
	for i, name := range names {
		cells[i] = l[name]
	}
	return cells
}

func (l csvLine) ints(values map[string]int64) {
	for name, v := range values {
		l[name] = strconv.FormatInt(v, 10)
	}
}

// floats writes nine digits: more than any clock gives, and the same on all
// processors.
func (l csvLine) floats(values map[string]float64) {
	for name, v := range values {
		l[name] = strconv.FormatFloat(v, 'g', 9, 64)
	}
}

func (l csvLine) latency(s *result.Latency) {
	l.ints(map[string]int64{"count": s.Count})
	if s.Count > 0 {
		l.floats(map[string]float64{"min": s.Min, "mean": s.Mean, "stddev": s.StdDev, "median": s.Median, "max": s.Max})
	}
	for _, p := range measure.Percentiles() {
		l.percentile(s, p.Name, p.Quantile, p.Of(&s.Summary))
	}
}

// percentile writes a quantile, where so many durations tell it.
func (l csvLine) percentile(of *result.Latency, column string, quantile, seconds float64) {
	if of.Holds(quantile) {
		l.floats(map[string]float64{column: seconds})
	}
}

func newLine(kind string, r *result.Run, t *result.Target) csvLine {
	line := csvLine{
		"kind": kind, "run": r.ID, "run_name": r.Name, "run_status": string(r.Status), "started": r.Started.UTC().Format(time.RFC3339),
		"workload": r.Dataset.Spec.Name, "fingerprint": r.Dataset.Fingerprint, "digest": r.Dataset.Digest,
		"target": t.Name, "target_kind": t.Kind, "version": version(&t.Description),
		"options": changesFact(t.Changes),
	}
	if r.Sweep != "" {
		line["sweep"], line["parameters"] = r.Sweep, r.Parameters.String()
		line.ints(map[string]int64{"point": int64(r.Point)})
	}
	return line
}

func loadLine(r *result.Run, t *result.Target) csvLine {
	line, l := newLine("load", r, t), t.Load
	line.ints(map[string]int64{"workers": int64(l.Workers), "batch_size": int64(l.BatchSize), "raw_bytes": r.Dataset.RawBytes})
	if len(l.Census) > 0 {
		line.ints(map[string]int64{"duplicates": l.Duplicates(), "lost": l.Lost()})
	}
	if retries := l.AllRetries(); retries != nil {
		line.ints(map[string]int64{"retries": retries.Tries, "sent_twice": retries.SentTwice})
	}
	if line["withheld"] = l.Reason(); !l.Stands() {
		return line
	}
	line["verdict"] = cmp.Or(l.Unverified, r.Dataset.Unverified)
	if why := l.Unexcluded(); why != "" && line["verdict"] == "" {
		line["verdict"] = "losses cannot be excluded: " + why
	}
	line.ints(map[string]int64{"rows": l.Rows, "metrics": l.Metrics, "wire_bytes": l.WireBytes})
	line.floats(map[string]float64{"prepare": l.Prepare, "sent": l.Sent, "settled": l.Settled})
	if l.Acked > 0 {
		line.floats(map[string]float64{"acked": l.Acked})
	}
	if l.DiskBytes >= 0 {
		line.ints(map[string]int64{"disk_bytes": l.DiskBytes})
		line["disk_left_out"] = l.DiskLeftOut
	}
	line.latency(&l.Batches)
	line.ints(map[string]int64{"rounds": int64(len(estimate.Loads(t, estimate.Settled)))})
	line.client(t, compare.LoadSubject)
	line.noise(t, compare.LoadSubject)
	return line
}

func queryLine(r *result.Run, t *result.Target, q *result.Queries) csvLine {
	line := newLine("query", r, t)
	line["type"] = q.Type
	for _, drawn := range r.QuerySets {
		if drawn.Type == q.Type {
			line["questions"] = drawn.Fingerprint
		}
	}
	if line["unsupported"] = q.Unsupported; q.Unsupported != "" {
		return line
	}
	line["verdict"], line["difference"] = q.Verdict.String(), q.Verdict.Difference
	line.ints(map[string]int64{
		"workers": int64(q.Workers), "checked": int64(q.Verdict.Checked), "checked_empty": int64(q.Verdict.Empty),
		"asked": q.Executed, "burn_in": q.BurnIn, "at_least": q.AtLeast, "distinct": int64(q.Distinct),
	})
	line.floats(map[string]float64{"time_box": q.TimeBox, "timeout": q.Timeout})
	if s := &q.Sample; s.Wanted > 0 {
		line["repeated"] = strconv.FormatBool(s.Repeated)
		line.ints(map[string]int64{"captured": s.Captured, "early_checked": int64(s.Early), "different": int64(s.Different), "counted": q.Counted()})
		if share := q.Found(); share > 0 {
			line.floats(map[string]float64{"found_share": share})
		}
	}
	if q.Outcome() == result.Withheld {
		line["withheld"] = q.Reason()
		return line
	}
	line.ints(map[string]int64{"rows": q.Rows, "bytes": q.Bytes})
	line.floats(map[string]float64{"wall": q.Wall, "per_second": q.PerSecond})
	line.latency(&q.Service)
	line["stopped"] = stopText(t, q.Type)
	line.client(t, q.Type)
	line.noise(t, q.Type)
	line.open(q.Open)
	return line
}

// estimate writes the estimate of a subject in a column, where it lies, and how
// it compares.
func (l csvLine) estimate(g *group, at int, r ranking, column string) {
	e := &r.Estimates[at]
	known := func(column string, v stats.Value) {
		if v.Bound != stats.Unknown {
			l.floats(map[string]float64{column: v.Figure})
		}
	}
	if e.N > 0 {
		known(column, e.Median)
	}
	if in := e.Interval; in != nil {
		for column, v := range map[string]stats.Value{"interval_low": in.Lo, "interval_high": in.Hi} {
			if v.Bound == stats.Exact {
				known(column, v)
			}
		}
		l.floats(map[string]float64{"interval_level": in.Level})
	}
	f := r.Figures[at]
	if f == nil {
		if at == r.Reference {
			l["comparison"] = r.verdict(at)
		}
		return
	}
	l["against"], l["ratio_bound"], l["comparison"] = g.subjects[r.Reference].Label, string(f.Ratio.Bound), r.verdict(at)
	known("ratio", f.Ratio)
	if in := f.Interval; in != nil {
		known("ratio_low", in.Lo)
		known("ratio_high", in.Hi)
		l.floats(map[string]float64{"ratio_level": in.Level})
	}
	if f.Decidable() {
		l.floats(map[string]float64{"p_corrected": f.Adjusted})
	}
}

// client writes what a load or type cost the client.
func (l csvLine) client(t *result.Target, name string) {
	for _, m := range measurements(t) {
		use, known := m.client()
		if m.Name != name || !known {
			continue
		}
		l["client_bound"] = m.clientBound()
		for column, v := range map[string]result.Value{
			"client_share": use.Share, "client_gc_pause_max": use.PauseMax, "client_scheduling_p99": use.Scheduling,
		} {
			if v.Known() {
				l.floats(map[string]float64{column: float64(v)})
			}
		}
	}
}

// open writes what only an open loop has.
func (l csvLine) open(o *result.OpenLoop) {
	if o == nil {
		return
	}
	l["schedule"], l["saturated"] = o.Schedule, o.Saturated
	l.ints(map[string]int64{"arrivals": o.Arrivals, "dropped": o.Dropped, "waiting": o.Waiting})
	l.floats(map[string]float64{"offered": o.Offered})
	l.response(&o.Response)
	l.percentile(&o.Lag, "lag_p99", 0.99, o.Lag.P99)
	if s := o.Search; s != nil {
		l["objective"] = s.Objective
		l.floats(map[string]float64{"highest_rate": s.Kept, "lowest_failed": s.Failed})
	}
}
