package columnar

// Limit makes row groups shorter than they would be, so that a test needs few
// rows for several.
func (w *Writer) Limit(rows int) { w.rows = min(w.rows, rows) }
