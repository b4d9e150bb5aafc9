package report

import (
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
)

// mixedLines are the CSV lines of a mixed phase: one of its writes, and one of
// each query type.
func mixedLines(r *result.Run, t *result.Target) []csvLine {
	if t.Load == nil || t.Load.Mixed == nil {
		return nil
	}
	lines := []csvLine{mixedLine(r, t)}
	for i := range t.Load.Mixed.Types {
		lines = append(lines, mixedQueryLine(r, t, &t.Load.Mixed.Types[i]))
	}
	return lines
}

func mixedLine(r *result.Run, t *result.Target) csvLine {
	line, m := newLine("mixed", r, t), t.Load.Mixed
	w := &m.Writes
	line["row_rate"], line["query_rate"], line["windows"] = m.RowRate, m.QueryRate, m.Windows
	line.ints(map[string]int64{"workers": int64(w.Workers), "batch_size": int64(w.BatchSize), "queriers": int64(m.Queriers), "loaded": m.Loaded})
	if m.Share > 0 {
		line.floats(map[string]float64{"share": m.Share})
	}
	if line["withheld"] = t.Load.Reason(); !t.Load.Stands() {
		return line
	}
	line.ints(map[string]int64{
		"rows": w.Rows, "metrics": w.Metrics, "wire_bytes": w.WireBytes, "rest": m.Rest,
		"arrivals": m.Arrivals, "dropped": m.Dropped, "waiting": m.Waiting, "early": m.Early,
	})
	line.floats(map[string]float64{"wall": m.Wall, "sent": w.Sent, "settled": w.Settled})
	if w.Acked > 0 {
		line.floats(map[string]float64{"acked": w.Acked})
	}
	line.latency(&w.Batches)
	line.noise(t, compare.MixedSubject)
	line.response(m.Response)
	if m.Lag != nil {
		line.percentile(m.Lag, "lag_p99", 0.99, m.Lag.P99)
	}
	return line
}

func mixedQueryLine(r *result.Run, t *result.Target, q *result.MixedType) csvLine {
	line, m := newLine("mixed query", r, t), t.Load.Mixed
	line["type"], line["query_rate"], line["windows"] = q.Type, m.QueryRate, m.Windows
	if line["unsupported"] = q.Unsupported; q.Unsupported != "" {
		return line
	}
	line["verdict"], line["difference"] = q.Verdict.String(), q.Verdict.Difference
	line.ints(map[string]int64{
		"queriers": int64(m.Queriers), "checked": int64(q.Verdict.Checked), "checked_empty": int64(q.Verdict.Empty), "counted": q.Counted,
		"asked": q.Executed, "at_least": q.AtLeast, "unexamined": q.Unexamined,
	})
	if line["withheld"] = q.Withheld; q.Withheld == "" {
		line["withheld"] = t.Load.Withheld
	}
	if line["withheld"] != "" {
		return line
	}
	line.ints(map[string]int64{"rows": q.Rows, "bytes": q.Bytes, "stale": q.Stale})
	line.floats(map[string]float64{"per_second": q.PerSecond})
	line.latency(&q.Service)
	line.response(q.Response)
	if q.Freshness.Count > 0 {
		line.floats(map[string]float64{"fresh_median": q.Freshness.Median, "fresh_max": q.Freshness.Max})
	}
	return line
}

// response writes times from when something was due; nil: no rate was set.
func (l csvLine) response(r *result.Latency) {
	if r == nil {
		return
	}
	l.percentile(r, "response_median", 0.5, r.Median)
	l.percentile(r, "response_p99", 0.99, r.P99)
	l.percentile(r, "response_p999", 0.999, r.P999)
}
