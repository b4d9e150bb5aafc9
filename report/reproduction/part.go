package reproduction

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// Part is an experiment of a document: its tables in the document's own shape, the measured
// figures in charts, and the commands that show each run.
func (p *Report) Part(e *document.Experiment) doc.Section {
	part := doc.Section{ID: e.ID, Title: e.ID + " " + e.Title}
	if words := e.Cut(p.Measured.Size).Words; words != "" {
		part.Notes = append(part.Notes, doc.Plain("Size "+string(p.Measured.Size)+": "+words+"."))
	}
	runs := p.Measured.Runs[e.Name]
	lines := claims.Lines(p.Document, e, p.Measured)
	var metrics []string
	for i := range lines {
		if !slices.Contains(metrics, lines[i].Metric) {
			metrics = append(metrics, lines[i].Metric)
		}
	}
	for _, metric := range metrics {
		if t := p.printedTable(e, metric, lines, len(runs) > 0); t != nil {
			part.Tables = append(part.Tables, t)
		}
	}
	var ownTables []*doc.Table
	for _, r := range runs {
		ownTables = append(ownTables, runTables(e, r)...)
	}
	if len(runs) > 0 {
		steps := newLadder(p, e)
		for _, shown := range claims.ShownOf(p.Document, e, runs) {
			if t, figures := steps.measuredTable(&shown); t != nil && (figures == 0 && len(ownTables) == 0 || figures > countPrinted(lines, shown.Name)) {
				part.Tables = append(part.Tables, t)
			}
		}
		part.Figures = steps.axes()
		if e.Curves {
			AddCourses(&part, e, runs[0])
		}
	}
	part.Tables = append(part.Tables, ownTables...)
	if notes := p.inputs(runs); len(part.Tables) > 0 {
		part.Tables[0].Notes = append(part.Tables[0].Notes, notes...)
	} else {
		part.Notes = append(part.Notes, notes...)
	}
	for _, r := range runs {
		part.Runs = append(part.Runs, doc.Fact{Key: cmp.Or(r.Parameters.String(), "all"), Value: "tsmark report " + r.ID})
	}
	return part
}

// countPrinted counts the figures of a metric in tables of printed ones.
func countPrinted(lines []claims.Line, metric string) int {
	n := 0
	for i := range lines {
		for _, c := range slices.Concat(lines[i].Cells, lines[i].Added) {
			if lines[i].Metric == metric && c.Own.N > 0 {
				n++
			}
		}
	}
	return n
}

// runTables returns tables of a run's measurements that documents do not print, as in the
// run's own report: the cost of columns that appear, and continuous aggregates.
func runTables(e *document.Experiment, r *result.Run) []*doc.Table {
	var list []*doc.Table
	for _, t := range []*doc.Table{tables.Growth(r), tables.Aggregates(r), tables.AgainstRows(r)} {
		if t == nil {
			continue
		}
		t.Title, t.Terminal = e.ID+" "+e.Name+", "+strings.ToLower(t.Title[:1])+t.Title[1:], doc.OnRequest
		if at := r.Parameters.String(); at != "" {
			t.Title += " at " + at
		}
		list = append(list, t)
	}
	return list
}

// inputs return the sizes of the systems' input files, if they were recorded.
func (p *Report) inputs(runs []*result.Run) []doc.Span {
	var list []doc.Span
	for _, r := range runs {
		var sizes []string
		for _, s := range p.Document.Systems {
			if bytes := r.Dataset.FormatBytes[s.Input]; bytes > 0 {
				sizes = append(sizes, s.Driver+" "+format.Size(bytes))
			}
		}
		if len(sizes) > 0 {
			list = append(list, doc.Plain(fmt.Sprintf("Input files of %s: %s.", cmp.Or(r.Parameters.String(), "the dataset"), strings.Join(sizes, ", "))))
		}
	}
	return list
}

// printedTable returns a table of the document with the measured figures added: the printed
// and the measured figure of each system, the figures of targets that were added, and the
// ratios of the systems. If some lines were measured, lines that a smaller size does not
// include are left out.
func (p *Report) printedTable(e *document.Experiment, metric string, lines []claims.Line, measured bool) *doc.Table {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l claims.Line) bool { return l.Metric != metric })
	some := slices.ContainsFunc(lines, func(l claims.Line) bool { return l.Measured() })
	all := len(lines)
	if measured && some && !e.IsWhole(p.Measured.Size) {
		lines = slices.DeleteFunc(lines, func(l claims.Line) bool { return !l.Measured() })
	}
	systems, pairs := printedColumns(p.Document, lines)
	t := &doc.Table{Title: e.ID + " " + e.Name + ", " + MetricName(metric), Terminal: doc.OnRequest, Columns: []doc.Column{{Head: "figure"}}}
	verbatim := slices.ContainsFunc(lines, func(l claims.Line) bool {
		return slices.ContainsFunc(l.Cells, func(c claims.Cell) bool { return c.Verbatim.N > 0 })
	})
	for _, s := range systems {
		t.Columns = append(t.Columns, doc.Column{Head: s + ", printed"}, doc.Column{Head: "measured", Help: "the median over the repeats, and where it lies with 95 %", Follows: true}, doc.Column{Head: "÷ printed", Help: "measured divided by printed", Follows: true})
		if verbatim {
			t.Columns = append(t.Columns, doc.Column{Head: "TSBS's text", Help: "measured with the text that TSBS writes for the system, not verified", Follows: true})
		}
	}
	var added []string
	for i := range lines {
		for _, c := range lines[i].Added {
			if c.Own.N > 0 && !slices.Contains(added, c.System) {
				added = append(added, c.System)
			}
		}
	}
	for _, name := range added {
		t.Columns = append(t.Columns, doc.Column{Head: name + ", measured", Help: "a target that the document does not have; the median over the repeats, and where it lies with 95 %"})
	}
	for _, pair := range pairs {
		t.Columns = append(t.Columns, doc.Column{Head: pair.Of + " ÷ " + pair.To + ", printed"}, doc.Column{Head: "measured", Help: "and where the ratio lies with 95 %", Follows: true})
	}
	t.Columns = append(t.Columns, doc.Column{Head: "remark", Words: true})
	for i := range lines {
		t.Rows = append(t.Rows, printedRow(&lines[i], systems, added, pairs, verbatim))
	}
	if left := all - len(lines); left > 0 {
		t.Notes = append(t.Notes, doc.Dim(fmt.Sprintf("%s of the document's table, of points that size %s does not have, are left out.", format.Plural(left, "line"), p.Measured.Size)))
	}
	return t
}

// printedColumns returns the systems and the pairs that have figures in lines.
func printedColumns(d *document.Document, lines []claims.Line) (systems []string, pairs []claims.Ratio) {
	for _, s := range d.Systems {
		if slices.ContainsFunc(lines, func(l claims.Line) bool {
			return slices.ContainsFunc(l.Cells, func(c claims.Cell) bool { return c.System == s.Driver })
		}) {
			systems = append(systems, s.Driver)
		}
	}
	for _, l := range lines {
		for _, r := range l.Ratios {
			if !slices.ContainsFunc(pairs, func(p claims.Ratio) bool { return p.Of == r.Of && p.To == r.To }) {
				pairs = append(pairs, r)
			}
		}
	}
	return systems, pairs
}

func printedRow(l *claims.Line, systems, added []string, pairs []claims.Ratio, verbatim bool) doc.Row {
	r := doc.Row{Cells: []doc.Span{doc.Plain(cmp.Or(l.Name, "all"))}}
	var remarks []remark
	say := func(of, text string) {
		i := slices.IndexFunc(remarks, func(known remark) bool { return known.text == text })
		switch {
		case text == "":
		case i < 0:
			remarks = append(remarks, remark{of, text})
		default:
			remarks[i].of += ", " + of
		}
	}
	for _, s := range systems {
		i := slices.IndexFunc(l.Cells, func(c claims.Cell) bool { return c.System == s })
		if i < 0 {
			r.Cells = append(r.Cells, doc.None(), doc.None(), doc.Dim(""))
			if verbatim {
				r.Cells = append(r.Cells, doc.None())
			}
			continue
		}
		c := &l.Cells[i]
		r.Cells = append(r.Cells, doc.Plain(c.Printed.Text))
		if c.Own.N > 0 {
			byPrinted := format.None
			if times, ok := c.Times(); ok {
				byPrinted = format.Digits(times)
			}
			r.Cells = append(r.Cells, doc.Plain(ownText(metricUnit(l.Metric), c.Own)), doc.Dim(byPrinted))
		} else {
			r.Cells = append(r.Cells, doc.None(), doc.Dim(""))
			say(s, c.Missing)
		}
		if verbatim {
			text := format.None
			if c.Verbatim.N > 0 {
				text = ownText(metricUnit(l.Metric), c.Verbatim)
			}
			r.Cells = append(r.Cells, doc.Dim(text))
		}
		if raw := c.Printed.Raw(); raw != "" {
			say(s, "doubtful, the authors published "+raw+" elsewhere")
		} else if doubt := c.Printed.Doubt(); doubt != "" {
			say(s, doubt)
		}
	}
	for _, name := range added {
		text := doc.None()
		if i := slices.IndexFunc(l.Added, func(c claims.Cell) bool { return c.System == name }); i >= 0 && l.Added[i].Own.N > 0 {
			text = doc.Plain(ownText(metricUnit(l.Metric), l.Added[i].Own))
		}
		r.Cells = append(r.Cells, text)
	}
	for _, pair := range pairs {
		i := slices.IndexFunc(l.Ratios, func(r claims.Ratio) bool { return r.Of == pair.Of && r.To == pair.To })
		if i < 0 {
			r.Cells = append(r.Cells, doc.None(), doc.None())
			continue
		}
		q := &l.Ratios[i]
		text := format.None
		switch {
		case q.Printed != nil && q.Printed.Unit == "%":
			text = q.Printed.Text + format.UnitSpace + "%"
		case q.Printed != nil:
			text = q.Printed.Text + "×"
		case q.Derived > 0:
			text = format.Digits(q.Derived) + "×" // of the figures as they are computed with
		}
		r.Cells = append(r.Cells, doc.Plain(text))
		if q.Own.Bound == stats.Unknown {
			r.Cells = append(r.Cells, doc.None())
		} else {
			r.Cells = append(r.Cells, doc.Plain(format.WithInterval(format.Times(q.Own)+"×", q.Interval, format.Times)))
		}
		if q.Printed != nil && q.Printed.Raw() != "" {
			say(pair.Of+" ÷ "+pair.To, "doubtful, the authors' own figures give "+q.Printed.Raw())
		} else if q.Printed != nil {
			say(pair.Of+" ÷ "+pair.To, q.Printed.Doubt())
		}
	}
	var texts []string
	for _, one := range remarks {
		texts = append(texts, one.of+": "+one.text)
	}
	r.Cells = append(r.Cells, doc.Dim(strings.Join(texts, "; ")))
	return r
}

// metricUnit returns the unit of a printed metric's values. It is empty if the metric's name includes it.
func metricUnit(metric string) compare.Unit {
	switch metric {
	case "disk_size":
		return compare.Bytes
	case "cpu_time":
		return compare.Seconds
	}
	return ""
}

// remark is a remark about one or several systems in a line.
type remark struct{ of, text string }

// MetricName is a printed metric in words.
func MetricName(metric string) string {
	switch metric {
	case "rows_per_s":
		return "rows/s"
	case "metrics_per_s":
		return "metrics/s"
	case "queries_per_s":
		return "queries/s"
	case "mean_ms":
		return "mean in ms"
	case "client_cpu_percent":
		return "CPU of the client in % of a core"
	case "load_s":
		return "seconds of the load"
	case "wall_s":
		return "seconds of all queries"
	case "space_saved_percent":
		return "saved of the input's size, in %"
	case "client_user_s":
		return "user seconds of the client"
	case "client_system_s":
		return "system seconds of the client"
	case "disk_size":
		return "size on disk"
	case "cpu_time":
		return "CPU time of the server for each query"
	case "data_processed_mb":
		return "MB read for each query"
	}
	return metric
}

// AddCourses adds the resource use of a run's servers during each target's first queries, or its
// first load if it ran no queries, until it had settled: all of them in one chart, aligned at the
// start of each, and the maximum and the mean of each in a table. Unwatched resources are
// noted.
func AddCourses(p *doc.Section, e *document.Experiment, r *result.Run) {
	view := &chart.Figure{Title: "Servers, until they had settled", Legend: chart.NewLegend(rank.TargetLabels(r))}
	sums := &doc.Table{Title: e.ID + " " + e.Name + ", servers until they had settled", Terminal: doc.OnRequest, Columns: []doc.Column{{Head: "figure"}}}
	for _, label := range rank.TargetLabels(r) {
		sums.Columns = append(sums.Columns, doc.Column{Head: label + ", most", Help: "of all readings"}, doc.Column{Head: "mean", Help: "of all readings", Follows: true})
	}
	for _, figure := range courseFigures(r) {
		chart, sum := courseOfAll(r, &figure, view.Legend)
		if chart != nil {
			view.Lines = append(view.Lines, chart)
			sums.Rows = append(sums.Rows, sum)
		} else if figure.without != "" {
			p.Notes = append(p.Notes, doc.Dim("No curve of "+strings.ToLower(figure.title[:1])+figure.title[1:]+": "+figure.without+"."))
		}
	}
	if len(view.Lines) > 0 {
		p.Figures = append(p.Figures, view)
		p.Tables = append(p.Tables, sums)
	}
}

// courseFigure is a chart of the servers' resource use.
type courseFigure struct {
	title, help, y string
	metric         result.Metric
	host           bool // of the host that all of them share
	top            func(float64) float64
	text           func(float64) string
	without        string // why readings may be missing
}

// courseFigures are the charts of a run. The network traffic of a server is known if something
// counts it, such as an exporter on its host. If client and server share a host, it
// includes all traffic between processes there.
func courseFigures(r *result.Run) []courseFigure {
	const unwatched = "nobody could read it of a server that runs elsewhere, or is part of tsmark, or it was too short"
	network := courseFigure{"Network of the server", "bytes that the server's host sent a second", "bytes/s", result.NetSent, false, chart.RoundBytes, chart.AxisBytes, ""}
	counted := false
	for i := range r.Targets {
		sources, _ := estimate.Sources(r, &r.Targets[i])
		counted = counted || slices.ContainsFunc(sources, func(s *result.Resources) bool {
			return slices.ContainsFunc(s.Metrics[result.NetSent], func(v result.Value) bool { return v.IsKnown() })
		})
	}
	if !counted {
		network = courseFigure{"Network within the host", "bytes that processes on this host sent each other a second, among them client and server", "bytes/s", result.Loopback, true, chart.RoundBytes, chart.AxisBytes,
			"Linux counts what hosts send, not what a process sends, and this run has no readings of it"}
	}
	return []courseFigure{
		{"CPU of the server", "cores at work", "cores", result.CPU, false, chart.RoundUp, chart.Abbreviate, unwatched},
		{"Memory of the server", "resident", "bytes", result.RSS, false, chart.RoundBytes, chart.AxisBytes, unwatched},
		{"Disk writes of the server", "bytes written a second", "bytes/s", result.DiskWritten, false, chart.RoundBytes, chart.AxisBytes, unwatched},
		network,
	}
}

// courseOfAll draws a figure of all targets, and sums it up. Nil: nothing was watched.
func courseOfAll(r *result.Run, figure *courseFigure, styles chart.Legend) (*chart.Lines, doc.Row) {
	var all []chart.Course
	sum := doc.Row{Cells: []doc.Span{doc.Plain(figure.title + ", " + figure.y)}}
	until := 0.0
	for i := range r.Targets {
		t := &r.Targets[i]
		from, to := firstMeasurement(t)
		var sources []*result.Resources
		switch {
		case to <= from || t.Embedded:
		case figure.host:
			sources = hostSources(r)
		default:
			sources, _ = estimate.Sources(r, t)
		}
		most, mean := doc.None(), doc.None()
		for _, s := range sources {
			c := runchart.ReadCourse(s, figure.metric, styles[i])
			within := chart.Course{Style: c.Style}
			for k, at := range c.At {
				if at >= from && at <= to+s.Period {
					within.At, within.Values = append(within.At, at-from), append(within.Values, c.Values[k])
					until = max(until, at-from)
				}
			}
			if len(within.Values) > 0 {
				most, mean = doc.Plain(figure.text(slices.Max(within.Values))), doc.Plain(figure.text(stats.Mean(within.Values)))
			}
			all = append(all, within)
		}
		sum.Cells = append(sum.Cells, most, mean)
	}
	if until == 0 {
		return nil, sum
	}
	return chart.DrawCourses(chart.NewLines(figure.title, figure.help, "seconds since it began", figure.y), until, all, figure.top, figure.text), sum
}

// hostSources returns the readings of tsmark's own host.
func hostSources(r *result.Run) []*result.Resources {
	var list []*result.Resources
	for i := range r.Resources {
		if r.Resources[i].Source == result.HostSource {
			list = append(list, &r.Resources[i])
		}
	}
	return list
}

// firstMeasurement returns the times of a target's first queries, or of its first load if it ran
// no queries.
func firstMeasurement(t *result.Target) (from, to float64) {
	for _, m := range t.MeasuredRepeats() {
		for i := range m.Queries {
			if q := &m.Queries[i]; q.Executed > 0 {
				return q.From, q.To
			}
		}
	}
	for _, m := range t.MeasuredRepeats() {
		if m.Load != nil {
			return m.Load.From, m.Load.To
		}
	}
	return 0, 0
}
