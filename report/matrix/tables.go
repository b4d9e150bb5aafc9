package matrix

import (
	"slices"

	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// Tables returns the two matrices of each target and phase. A note below the
// last of each kind explains how their figures differ from IoTDB-Benchmark's.
func Tables(r *result.Run) []*doc.Table {
	list := List(r)
	both := slices.ContainsFunc(list, func(m Matrices) bool { return m.Mixed })
	var tables []*doc.Table
	for i := range list {
		m := &list[i]
		of := m.Target
		if m.StandIn != "" {
			of += " (stand-in)"
		}
		switch {
		case m.Mixed:
			of += ", all operations at once"
		case both:
			of += ", one operation after the other"
		}
		tables = append(tables, resultMatrix(of, m), latencyMatrix(of, m))
	}
	if n := len(tables); n > 0 {
		tables[n-2].Notes = append(tables[n-2].Notes, resultNotes()...)
		tables[n-1].Notes = append(tables[n-1].Notes, latencyNotes()...)
	}
	return tables
}

// matrixFigure is a column of the result matrix.
type matrixFigure struct {
	head, help string
	of         func(*Operation) result.Value
	render     func(float64) string
}

// resultFigures returns the columns in the tool's order, followed by the columns that
// it does not have.
func resultFigures() []matrixFigure {
	whole := func(v float64) string { return format.Count(int64(v)) }
	return []matrixFigure{
		{"okOperation", "batches acknowledged, and queries answered", func(o *Operation) result.Value { return o.OK }, whole},
		{"okPoint", "values of these: of batches without NULLs, of answers rows × values requested", func(o *Operation) result.Value { return o.OKPoints }, whole},
		{"failOperation", "queries cut off by the time limit, and failed tries of batches that were followed by another one", func(o *Operation) result.Value { return o.Failed }, whole},
		{"failPoint", "values of the batches of these tries", func(o *Operation) result.Value { return o.FailedPoints }, whole},
		{"throughput(point/s)", "okPoint ÷ elapsed, by wall clock", func(o *Operation) result.Value { return o.Throughput }, format.Digits},
		{"cost-time throughput(point/s)", "the paper's: okPoint ÷ SLOWEST_THREAD", func(o *Operation) result.Value { return o.CostThroughput }, format.Digits},
		{"elapsed(s)", "wall clock from the first operation to the last acknowledgement or answer", func(o *Operation) result.Value { return o.Elapsed }, format.Digits},
	}
}

func resultMatrix(of string, m *Matrices) *doc.Table {
	view := &doc.Table{Title: "Result matrix: " + of, Columns: []doc.Column{{Head: "Operation"}}}
	for _, f := range resultFigures() {
		view.Columns = append(view.Columns, doc.Column{Head: f.head, Help: f.help})
	}
	for i := range m.Operations {
		o := &m.Operations[i]
		cells := []doc.Span{doc.Plain(o.Name)}
		for _, f := range resultFigures() {
			cells = append(cells, cell.ValueIfRecorded(f.of(o), f.render))
		}
		view.Rows = append(view.Rows, matrixRow(o, cells))
		if o.Unverified != "" {
			view.Notes = append(view.Notes, doc.Bad(o.Name+": "+o.Unverified))
		}
	}
	return view
}

func latencyMatrix(of string, m *Matrices) *doc.Table {
	view := &doc.Table{Title: "Latency (ms) matrix: " + of, Columns: []doc.Column{{Head: "Operation"}}}
	for _, metric := range Metrics() {
		view.Columns = append(view.Columns, doc.Column{Head: metric.Name, Help: metric.Help})
	}
	for i := range m.Operations {
		o := &m.Operations[i]
		cells := []doc.Span{doc.Plain(o.Name)}
		for _, metric := range Metrics() {
			v := metric.Of(&o.Latency)
			if !v.IsKnown() && o.Latency.Average.IsKnown() && metric.Name != "SLOWEST_THREAD" {
				cells = append(cells, doc.None()) // too few operations
				continue
			}
			cells = append(cells, cell.ValueIfRecorded(v, func(seconds float64) string { return format.Digits(seconds * 1e3) }))
		}
		view.Rows = append(view.Rows, matrixRow(o, cells))
	}
	return view
}

// matrixRow returns the row of an operation, or why it has no figures.
func matrixRow(o *Operation, cells []doc.Span) doc.Row {
	reason := o.Reason()
	if reason == "" {
		return doc.Row{Cells: cells}
	}
	span := doc.Dim(reason)
	if o.Withheld != "" || o.Failure != "" {
		span.Tone = format.ToneBad
	}
	return doc.Row{Cells: cells[:1], Remark: span}
}

func resultNotes() []doc.Span {
	return []doc.Span{
		doc.Dim("throughput: okPoint ÷ elapsed, by wall clock until the last acknowledgement or answer. IoTDB-Benchmark divides all operations by the time of the whole test, and adds a second or more of its own."),
		doc.Dim("cost-time throughput: the paper's, okPoint ÷ SLOWEST_THREAD, which is what the client that took longest spent in operations. It is the higher of the two: what clients waited, or spent in other operations, does not count."),
		doc.Dim("okPoint: of batches the values that are not NULL; of answers rows × values requested in each, NULLs included. IoTDB-Benchmark counts answers in a way of its own for each database."),
		doc.Dim("failOperation: queries cut off by the time limit, and failed tries of batches that were followed by another one. Other failures end a load or a type. What a target does not support is n/a, and no failure."),
	}
}

func latencyNotes() []doc.Span {
	return []doc.Span{
		doc.Dim("Failed operations are left out. AVG, MIN and MAX are exact unless some were cut off; quantiles are those of a histogram of all operations: the nearest rank, rounded up to three significant digits; – where there are too few operations for one (P1 and P99 are of 100 or more). IoTDB-Benchmark estimates them by a t-digest that may exceed MAX."),
		doc.Dim("SLOWEST_THREAD: the largest sum of one client's latencies. MID_AVG: the paper's middle-average, the mean without the 5 % shortest and the 5 % longest, to three significant digits."),
	}
}
