package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/report/matrix"
	"github.com/tsmark/tsmark/result"
)

// View is what of runs is shown.
type View string

// The views.
const (
	Everything View = "all"
	// IoTDB is the result matrix and the latency matrix of IoTDB-Benchmark: see
	// package matrix.
	IoTDB View = "iotdb"
)

// Views lists them.
func Views() []string { return []string{string(Everything), string(IoTDB)} }

// ParseView returns the view of that name. Its error offers the closest one.
func ParseView(name string) (View, error) {
	if !slices.Contains(Views(), name) {
		return "", fmt.Errorf("there is no view %q%s", name, suggest.Among(name, Views()))
	}
	return View(name), nil
}

// WriteMatrices renders the matrices of runs, of any workload. CSV is laid out
// as IoTDB-Benchmark's own, a block for each target and phase; JSON is an array
// of runs with their matrices; HTML is Write's page with the matrices of all
// runs, where otherwise only those of the workload iotdb have them. Its errors
// are as Write's.
func WriteMatrices(w io.Writer, format Format, runs []*result.Run, opts Options) error {
	var err error
	switch format {
	case Text:
		err = writeMatricesText(w, runs, opts)
	case Markdown:
		err = writeMatricesMarkdown(w, runs)
	case CSV:
		err = writeMatricesCSV(w, runs)
	case JSON:
		err = writeMatricesJSON(w, runs)
	case HTML:
		err = Of(runs...).writeHTML(w, IoTDB, opts)
	default:
		return unknownFormat(format, "matrices")
	}
	if err != nil {
		return fmt.Errorf("writing the matrices as %s: %w", format, err)
	}
	return nil
}

func writeMatricesText(w io.Writer, runs []*result.Run, opts Options) error {
	t := newTextWriter(w, opts, "CSV, JSON and HTML have all")
	for i, r := range runs {
		if i > 0 {
			t.line("")
		}
		t.head(r)
		for _, view := range matrixTables(r) {
			t.table(view)
		}
	}
	return t.Flush()
}

func writeMatricesMarkdown(w io.Writer, runs []*result.Run) error {
	m := markdownWriter{bufio.NewWriter(w)}
	for _, r := range runs {
		m.head(r)
		m.preamble(alerts(r), facts(r), "")
		m.tables(matrixTables(r))
	}
	return m.Flush()
}

// runMatrices is a run in the JSON of matrices.
type runMatrices struct {
	Run      string            `json:"run"`
	Name     string            `json:"name,omitempty"`
	Status   result.Status     `json:"status"`
	Imported string            `json:"imported,omitempty"` // that it was not measured here
	Matrices []matrix.Matrices `json:"matrices"`
}

func writeMatricesJSON(w io.Writer, runs []*result.Run) error {
	list := make([]runMatrices, 0, len(runs))
	for _, r := range runs {
		list = append(list, runMatrices{r.ID, r.Name, r.Status, r.NotMeasuredHere(), matrix.Of(r)})
	}
	return writeIndented(w, list)
}

// matrixTables are the two matrices of each target and phase, and below the
// last of each kind what tells their figures from IoTDB-Benchmark's.
func matrixTables(r *result.Run) []*table {
	list := matrix.Of(r)
	both := slices.ContainsFunc(list, func(m matrix.Matrices) bool { return m.Mixed })
	var tables []*table
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
	of         func(*matrix.Operation) result.Value
	render     func(float64) string
}

// resultFigures are the columns in the tool's order, and behind them those that
// it has not.
func resultFigures() []matrixFigure {
	whole := func(v float64) string { return count(int64(v)) }
	return []matrixFigure{
		{"okOperation", "batches acknowledged, and queries answered", func(o *matrix.Operation) result.Value { return o.OK }, whole},
		{"okPoint", "values of these: of batches without NULLs, of answers rows × values requested", func(o *matrix.Operation) result.Value { return o.OKPoints }, whole},
		{"failOperation", "queries cut off by the time limit, and failed tries of batches that were followed by another one", func(o *matrix.Operation) result.Value { return o.Failed }, whole},
		{"failPoint", "values of the batches of these tries", func(o *matrix.Operation) result.Value { return o.FailedPoints }, whole},
		{"throughput(point/s)", "okPoint ÷ elapsed, by wall clock", func(o *matrix.Operation) result.Value { return o.Throughput }, digits},
		{"cost-time throughput(point/s)", "the paper's: okPoint ÷ SLOWEST_THREAD", func(o *matrix.Operation) result.Value { return o.CostThroughput }, digits},
		{"elapsed(s)", "wall clock from the first operation to the last acknowledgement or answer", func(o *matrix.Operation) result.Value { return o.Elapsed }, digits},
	}
}

func resultMatrix(of string, m *matrix.Matrices) *table {
	view := &table{Title: "Result matrix: " + of, Columns: []column{{Head: "Operation"}}}
	for _, f := range resultFigures() {
		view.Columns = append(view.Columns, column{Head: f.head, Help: f.help})
	}
	for i := range m.Operations {
		o := &m.Operations[i]
		cells := []span{spanPlain(o.Name)}
		for _, f := range resultFigures() {
			cells = append(cells, recorded(f.of(o), f.render))
		}
		view.Rows = append(view.Rows, matrixRow(o, cells))
		if o.Unverified != "" {
			view.Notes = append(view.Notes, spanBad(o.Name+": "+o.Unverified))
		}
	}
	return view
}

func latencyMatrix(of string, m *matrix.Matrices) *table {
	view := &table{Title: "Latency (ms) matrix: " + of, Columns: []column{{Head: "Operation"}}}
	for _, metric := range matrix.Metrics() {
		view.Columns = append(view.Columns, column{Head: metric.Name, Help: metric.Help})
	}
	for i := range m.Operations {
		o := &m.Operations[i]
		cells := []span{spanPlain(o.Name)}
		for _, metric := range matrix.Metrics() {
			v := metric.Of(&o.Latency)
			if !v.Known() && o.Latency.Average.Known() && metric.Name != "SLOWEST_THREAD" {
				cells = append(cells, spanNone()) // so few operations do not tell it
				continue
			}
			cells = append(cells, recorded(v, func(seconds float64) string { return digits(seconds * 1e3) }))
		}
		view.Rows = append(view.Rows, matrixRow(o, cells))
	}
	return view
}

// recorded is a figure, or says that nobody recorded it.
func recorded(v result.Value, render func(float64) string) span {
	if !v.Known() {
		return spanDim("not recorded")
	}
	return spanPlain(render(float64(v)))
}

// matrixRow is the row of an operation, or why it has no figures.
func matrixRow(o *matrix.Operation, cells []span) row {
	reason := o.Reason()
	if reason == "" {
		return row{Cells: cells}
	}
	span := spanDim(reason)
	if o.Withheld != "" || o.Failure != "" {
		span.Tone = toneBad
	}
	return row{Cells: cells[:1], Remark: span}
}

func resultNotes() []span {
	return []span{
		spanDim("throughput: okPoint ÷ elapsed, by wall clock until the last acknowledgement or answer. IoTDB-Benchmark divides all operations by the time of the whole test, and adds a second or more of its own."),
		spanDim("cost-time throughput: the paper's, okPoint ÷ SLOWEST_THREAD, which is what the client that took longest spent in operations. It is the higher of the two: what clients waited, or spent in other operations, does not count."),
		spanDim("okPoint: of batches the values that are not NULL; of answers rows × values requested in each, NULLs included. IoTDB-Benchmark counts answers in a way of its own for each database."),
		spanDim("failOperation: queries cut off by the time limit, and failed tries of batches that were followed by another one. Other failures end a load or a type. What a target does not support is n/a, and no failure."),
	}
}

func latencyNotes() []span {
	return []span{
		spanDim("Failed operations are left out. AVG, MIN and MAX are exact unless some were cut off; quantiles are those of a histogram of all operations: the nearest rank, rounded up to three significant digits; – where there are too few operations for one (P99 is of 100 or more). IoTDB-Benchmark estimates them by a t-digest that may exceed MAX."),
		spanDim("SLOWEST_THREAD: the largest sum of one client's latencies. MID_AVG: the paper's middle-average, the mean without the 5 % shortest and the 5 % longest, to three significant digits."),
	}
}
