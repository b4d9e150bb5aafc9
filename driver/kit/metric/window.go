package metric

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

const day = int64(24 * time.Hour / time.Millisecond)

// The bounds of windows without bounds, in milliseconds since 1970: an expression that looks back
// before a window stays after 1970, and there are no samples in the far future. Later
// times than Latest, in seconds, are milliseconds to VictoriaMetrics 1.122 to 1.140.
const (
	Earliest = 31 * day
	Latest   = int64(math.MaxInt32) * 1000 // 2038
)

// Window is the time range of a query: its first and its last millisecond.
type Window struct {
	From, To int64
	Known    bool // the query, or the dataset, determines both bounds
}

// WindowOf returns the bounds of a query in milliseconds, rounded up. Missing bounds are those of the
// dataset's rows, extended to whole days, so that buckets are whole. An empty window becomes one before
// all samples.
func WindowOf(q *query.Query, s *series.Schema) Window {
	up := func(t time.Time) int64 {
		return -Floor(-t.UnixNano(), int64(time.Millisecond)) / int64(time.Millisecond)
	}
	w := Window{From: Earliest, To: Latest}
	known := !s.First.IsZero() && !s.Last.IsZero()
	if known {
		w.From, w.To = max(Earliest, Floor(s.First.UnixMilli(), day)), min(Latest, Floor(s.Last.UnixMilli(), day)+day-1)
	}
	if !q.Start.IsZero() {
		w.From = max(Earliest, up(q.Start))
	}
	if !q.End.IsZero() {
		w.To = min(Latest, up(q.End)-1)
	}
	if w.To < w.From {
		w.From, w.To = Earliest-1, Earliest-1
	}
	w.Known = known || !q.Start.IsZero() && !q.End.IsZero()
	return w
}

// Floor returns the last multiple of a width that is not after t.
func Floor(t, width int64) int64 { return query.BucketOf(t, time.Duration(width)) }

// UnsupportedError returns an error that wraps query.ErrUnsupported with a reason.
func UnsupportedError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{query.ErrUnsupported}, args...)...)
}

// Witnesses returns fields such that each row has at least one of them, for a query of fields that a
// row may all lack; nil: each row has one of the query's fields.
func Witnesses(t *series.Table, fields []string) []string {
	if slices.ContainsFunc(fields, func(f string) bool { return t.EachRowHas(f) }) {
		return nil
	}
	return AnyOf(t)
}

// AnyOf returns fields such that each row has at least one of them.
func AnyOf(t *series.Table) []string {
	var all []string
	for _, f := range t.Fields {
		if t.EachRowHas(f.Name) {
			return []string{f.Name}
		}
		all = append(all, f.Name)
	}
	return append(all, NullField)
}

// StoredMetrics returns the metrics in which rows have samples: the fields of a table, and NullField if a row
// may have no other field.
func StoredMetrics(t *series.Table) []string {
	var all []string
	sure := false
	for _, f := range t.Fields {
		all = append(all, f.Name)
		sure = sure || t.EachRowHas(f.Name)
	}
	if !sure {
		all = append(all, NullField)
	}
	return all
}
