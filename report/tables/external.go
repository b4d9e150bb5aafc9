package tables

import (
	"fmt"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// inDriver returns the mean time of a query in an external driver, by the driver's own clock; 0: not
// reported.
func inDriver(q *result.Queries) float64 {
	if n := q.Executed - q.AtLeast; n > 0 {
		return q.DriverTime / float64(n)
	}
	return 0
}

// boundaryNotes say what the boundary to an external driver costs; none: the driver is tsmark's own, or
// the cost is unknown.
func boundaryNotes(r *result.Run, t *result.Target) []doc.Span {
	if t.External == "" {
		return nil
	}
	text := t.Name + ": an external driver"
	if l := t.Load; l != nil && l.DriverTime > 0 && l.Batches.Count > 0 {
		text += fmt.Sprintf("; of the mean of %s a batch, %s passed in it, by its own clock",
			format.Duration(l.Batches.Mean), format.Duration(l.DriverTime/float64(l.Batches.Count)))
	}
	if r.Calibration == nil || r.Calibration.Boundary == nil {
		return []doc.Span{doc.Dim(text + "; the cost of the boundary was not measured")}
	}
	b := r.Calibration.Boundary
	return []doc.Span{doc.Dim(fmt.Sprintf("%s; the boundary costs %s a query and %s rows/s, by tsmark's null driver in a program of its own",
		text, format.Duration(b.QuerySeconds), format.Digits(b.RowsPerSecond)))}
}
