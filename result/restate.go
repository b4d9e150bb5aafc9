package result

import "github.com/tsmark/tsmark/measure"

// restate takes median and percentiles of all that was recorded from the
// histograms anew. Early versions recorded percentiles that were one rank too
// low in a third of cases, and those of fewer operations than tell them; of what
// later ones recorded it changes nothing. Where there is no readable histogram,
// figures stay as they are.
func (t *Target) restate() {
	for i := range t.Repeats {
		r := &t.Repeats[i]
		r.Load.restate()
		for j := range r.Queries {
			q := &r.Queries[j]
			q.Service.restate()
			if q.Open != nil {
				q.Open.Response.restate()
				q.Open.Lag.restate()
			}
		}
	}
}

func (l *Load) restate() {
	if l == nil {
		return
	}
	l.Batches.restate()
	if l.Mixed == nil {
		return
	}
	l.Mixed.Writes.restate()
	l.Mixed.Response.restate()
	l.Mixed.Lag.restate()
	for i := range l.Mixed.Types {
		q := &l.Mixed.Types[i]
		q.Service.restate()
		q.Response.restate()
		q.Freshness.restate()
	}
}

func (l *Latency) restate() {
	if l == nil || l.Count == 0 || l.Histogram == "" {
		return
	}
	restored, err := measure.Restore(l.Histogram, l.Summary)
	if err != nil || restored.Count() != l.Count {
		return
	}
	s := restored.Summary()
	l.Median, l.P90, l.P95, l.P99, l.P999 = s.Median, s.P90, s.P95, s.P99, s.P999
}
