package report

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// Live is what is known of a run while it goes on. Nothing of it is verified yet.
type Live struct {
	Run, Name, Command string // empty: no run has begun
	Workload           string // empty: not known yet
	Targets            []string
	StandIns           []string  // which targets are stand-ins, and what answers for them
	Began, Now         time.Time // of what is watched, which may be several runs
	Progress           progress.State
	Measured           []LiveMeasured // the last active one first
	Failures           int64          // operations that failed or were answered wrong, of all
	// Seconds are the newest whole ones, at most LiveWindow: the last one ended at
	// Newest before Now.
	Seconds []LiveSecond
	Newest  time.Duration
	// Resources are readings of the sources; At is when, on a time line on which Now is
	// ResourcesNow.
	Resources    []result.Resources
	ResourcesNow float64
	Over         *LiveEnd // nil: it goes on
}

// LiveWindow is how many seconds the charts of a live page show at most.
const LiveWindow = 300

// LiveMeasured is what the operations of a load or query type come to so far.
type LiveMeasured struct {
	Target, What string
	Unit         string // what the rate counts: rows, queries
	Operations   int64  // that ended well
	PerSecond    float64
	Latency      LiveLatency // of all repeats so far
	Due          bool        // latency counts from when a query was due
	Troubles     []LiveCount // how many failed, were cut off, dropped or sent again
}

// LiveCount is how many operations ended in a way.
type LiveCount struct {
	Outcome string
	Count   int64
}

// LiveLatency is times in seconds, good to about 1 %; 0: too few to tell.
type LiveLatency struct{ P50, P95, P99, Max float64 }

// LiveSecond is what ended within a second.
type LiveSecond struct {
	Rows, Queries  int64
	Batches, Query LiveLatency // of loads and of queries; Max and P95 are not set
}

// LiveEnd is how what was watched ended.
type LiveEnd struct {
	Text   string // one line
	Failed bool
	Page   string // file with the report; empty: there is none
}

// livePage is what the template shows.
type livePage struct {
	Title, Heading string
	State          span
	Tiles          []fact
	Tasks          []liveTask
	Measured       *table
	Legend         legend
	Charts         []*lines
	Ended          []liveNote
	Over           *LiveEnd
	StandIns       []string
	Run            string
	Nonce          string
	Script         template.JS
}

type liveTask struct {
	Label, Text string
	Done, Total int64 // a total of 0: not known
}

type liveNote struct {
	Time, Text string
	Tone       tone
}

// WritePage writes the whole page. The nonce marks the page's own script for the
// browser's policy.
func (l *Live) WritePage(w io.Writer, nonce string) error {
	t, err := pageTemplates("live.html")
	if err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("live.js")
	if err != nil {
		return err
	}
	page := l.page()
	page.Nonce, page.Script = nonce, template.JS(script)
	return t.Execute(w, page)
}

// LiveUpdates renders what changes of a live page. It is used by one goroutine.
type LiveUpdates struct{ templates *template.Template }

// NewLiveUpdates returns a LiveUpdates that is ready.
func NewLiveUpdates() (*LiveUpdates, error) {
	t, err := pageTemplates("live.html")
	return &LiveUpdates{t}, err
}

// Write writes the content of the page as it is now, and returns the page's title.
func (u *LiveUpdates) Write(w io.Writer, l *Live) (title string, err error) {
	page := l.page()
	return page.Title, u.templates.ExecuteTemplate(w, "content", page)
}

// WriteLiveLogin writes the page on which readers give the token of a live page.
func WriteLiveLogin(w io.Writer, wrong bool) error {
	t, err := pageTemplates("live.html")
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "login", wrong)
}

func (l *Live) page() livePage {
	p := livePage{Run: l.Run, StandIns: l.StandIns, Over: l.Over, Measured: l.table(), Tiles: l.tiles()}
	p.Heading = joined(" ", "Run", l.Run, l.Name)
	if l.Run == "" {
		p.Heading = "No run has begun yet"
	}
	done := ""
	switch s := &l.Progress; {
	case l.Over != nil && l.Over.Failed:
		p.State, done = spanBad("ended"), "ended"
	case l.Over != nil:
		p.State, done = spanBest("ended"), "ended"
	default:
		p.State = spanPlain("running")
		if s.Steps > 1 {
			done = fmt.Sprintf("%d/%d", s.Step, s.Steps)
		}
	}
	p.Title = joined(" · ", done, p.Heading, "tsmark")
	if l.Over == nil {
		for _, t := range l.Progress.Running {
			p.Tasks = append(p.Tasks, newLiveTask(&t, l.Now))
		}
	}
	for _, e := range slices.Backward(l.Progress.Ended) {
		n := liveNote{Time: e.At.UTC().Format(time.TimeOnly), Text: joined(": ", e.Label, e.Text)}
		if e.Failed {
			n.Tone = toneBad
		}
		p.Ended = append(p.Ended, n)
	}
	p.Legend, p.Charts = l.charts()
	return p
}

func newLiveTask(t *progress.Running, now time.Time) liveTask {
	task := liveTask{Label: t.Label, Done: t.Done, Total: max(t.Total, 0)}
	passed := progress.Roughly(max(now.Sub(t.Started), 0)) + " so far"
	switch {
	case t.Unit == "":
		task.Text = passed
		return task
	case task.Total > 0:
		task.Text = count(t.Done) + " of " + count(t.Total) + " " + t.Unit
	default:
		task.Text = count(t.Done) + " " + t.Unit + ", " + passed
	}
	task.Text += ", " + digits(t.PerSecond) + " " + t.Unit + "/s"
	if t.Left > 0 {
		task.Text += ", about " + progress.Roughly(t.Left) + " left"
	}
	return task
}

// tiles are the figures that a reader looks for first.
func (l *Live) tiles() []fact {
	s := &l.Progress
	list := []fact{{"workload", l.Workload}, {"targets", joined(", ", l.Targets...)}}
	if l.Over == nil && s.Steps > 0 {
		list = append(list, fact{"step", fmt.Sprintf("%d of %d", s.Step, s.Steps)})
		switch {
		case s.Left <= 0:
			list = append(list, fact{"time left", "not known yet"})
		case s.More:
			list = append(list, fact{"time left", "more than " + progress.Roughly(s.Left)})
		default:
			list = append(list, fact{"time left", "about " + progress.Roughly(s.Left)})
		}
	}
	list = append(list, fact{"time passed", elapsed(l.Now.Sub(l.Began).Round(time.Second))})
	if rows, queries := l.rates(); l.Over == nil {
		if rows > 0 {
			list = append(list, fact{"rows/s", digits(rows)})
		}
		if queries > 0 {
			list = append(list, fact{"queries/s", digits(queries)})
		}
	}
	failures := "none"
	if l.Failures > 0 {
		failures = count(l.Failures)
	}
	list = append(list, fact{"operations that failed", failures})
	return slices.DeleteFunc(list, func(f fact) bool { return f.Value == "" })
}

// rateSeconds is over how many seconds a rate is the mean.
const rateSeconds = 5

// rates are those of the last seconds.
func (l *Live) rates() (rows, queries float64) {
	last := l.Seconds[max(0, len(l.Seconds)-rateSeconds):]
	for _, s := range last {
		rows, queries = rows+float64(s.Rows), queries+float64(s.Queries)
	}
	n := float64(max(len(last), 1))
	return rows / n, queries / n
}

// mostMeasured is how many rows the table has at most.
const mostMeasured = 24

// table shows what was measured so far; nil: nothing was.
func (l *Live) table() *table {
	if len(l.Measured) == 0 {
		return nil
	}
	t := &table{Title: "Measured so far", Columns: []column{
		{Head: "target"}, {Head: "measurement", Words: true}, {Head: "done", Help: "batches or queries that ended well, in all repeats so far"},
		{Head: "rate", Help: "of the latest repeat"},
		{Head: "p50"}, {Head: "p95"}, {Head: "p99"}, {Head: "max"},
		{Head: "problems", Help: "operations that failed, were cut off, dropped or sent again", Words: true}, {Head: "verified", Words: true},
	}}
	due := false
	for i := range l.Measured[:min(len(l.Measured), mostMeasured)] {
		m := &l.Measured[i]
		what, trouble := m.What, spanNone()
		if m.Due {
			what, due = what+" †", true
		}
		for j, c := range m.Troubles {
			if j == 0 {
				trouble = spanBad("")
			}
			trouble.Text = joined(", ", trouble.Text, count(c.Count)+" "+c.Outcome)
		}
		row := row{Cells: []span{spanPlain(m.Target), spanPlain(what), spanPlain(count(m.Operations)), liveFigure(m.PerSecond, func(v float64) string { return digits(v) + " " + m.Unit + "/s" })}}
		for _, v := range []float64{m.Latency.P50, m.Latency.P95, m.Latency.P99, m.Latency.Max} {
			row.Cells = append(row.Cells, liveFigure(v, duration))
		}
		row.Cells = append(row.Cells, trouble, spanDim("not yet"))
		t.Rows = append(t.Rows, row)
	}
	if more := len(l.Measured) - mostMeasured; more > 0 {
		t.Notes = append(t.Notes, spanDim(fmt.Sprintf("%s more, which had their turn before.", count(int64(more)))))
	}
	if due {
		t.Notes = append(t.Notes, spanDim("† Latencies count from when a query was due."))
	}
	return t
}

// liveFigure is a dash where nothing is known yet.
func liveFigure(v float64, render func(float64) string) span {
	if v <= 0 {
		return spanNone()
	}
	return spanPlain(render(v))
}

const liveAxis = "seconds ago"

// charts are those of the last seconds, with one legend for all.
func (l *Live) charts() (legend, []*lines) {
	names := []string{"rate", "median", "99th percentile"}
	for i := range l.Resources {
		names = append(names, l.Resources[i].Source)
	}
	styles := newLegend(names)
	until := min(max(l.Now.Sub(l.Began).Seconds(), 30), LiveWindow)
	c := liveCharts{until: until}
	second := func(s style, of func(*LiveSecond) float64, zero bool) course {
		drawn := course{style: s}
		for i := range l.Seconds {
			at := until - l.Newest.Seconds() - float64(len(l.Seconds)-1-i)
			if v := of(&l.Seconds[i]); at >= 0 && (v > 0 || zero) {
				drawn.at, drawn.values = append(drawn.at, at), append(drawn.values, v)
			}
		}
		return drawn
	}
	c.add("Rows", "accepted in each second; not yet verified", "rows/s", roundUp, abbreviated, second(styles[0], func(s *LiveSecond) float64 { return float64(s.Rows) }, true))
	c.add("Queries", "answered in each second; not yet verified", "queries/s", roundUp, abbreviated, second(styles[0], func(s *LiveSecond) float64 { return float64(s.Queries) }, true))
	c.addLatencies("Time of a batch", "those that ended in each second; not yet verified", second(styles[1], func(s *LiveSecond) float64 { return s.Batches.P50 }, false), second(styles[2], func(s *LiveSecond) float64 { return s.Batches.P99 }, false))
	c.addLatencies("Time of a query", "those that ended in each second; not yet verified", second(styles[1], func(s *LiveSecond) float64 { return s.Query.P50 }, false), second(styles[2], func(s *LiveSecond) float64 { return s.Query.P99 }, false))
	for _, f := range resourceFigures()[:3] {
		var all []course
		for i := range l.Resources {
			s := &l.Resources[i]
			read := courseOf(s, f.of(s.Source), styles[3+i])
			drawn := course{style: read.style}
			for j, at := range read.at {
				if at += until - l.ResourcesNow; at >= 0 {
					drawn.at, drawn.values = append(drawn.at, at), append(drawn.values, read.values[j])
				}
			}
			all = append(all, drawn)
		}
		c.add(f.title, f.help, f.y, f.top, f.text, all...)
	}
	if len(c.list) == 0 {
		return nil, nil
	}
	return styles, c.list
}

// liveCharts are charts of the seconds before now.
type liveCharts struct {
	until float64 // seconds
	list  []*lines
}

func (l *liveCharts) add(title, help, y string, top func(float64) float64, text func(float64) string, all ...course) {
	if c := newCourses(newLines(title, help, liveAxis, y), l.until, all, top, text); c != nil {
		l.list = append(l.list, l.ago(c))
	}
}

// addLatencies draws times, which differ by orders of magnitude from one query type to
// the next.
func (l *liveCharts) addLatencies(title, help string, all ...course) {
	var values []float64
	for _, c := range all {
		values = append(values, c.values...)
	}
	if len(values) < 2 {
		return
	}
	c, axis := newLines(title, help, liveAxis, "time, logarithmic"), newLogAxis(values)
	c.grid(seconds(l.until), axis.ticks(6))
	c.draw(l.until, all, axis.at, duration)
	l.list = append(l.list, l.ago(c))
}

// ago labels the time axis from now backwards.
func (l *liveCharts) ago(c *lines) *lines {
	c.XTicks = nil
	ticks := seconds(l.until)
	for i := range ticks {
		ticks[i].At = 1 - ticks[i].At
	}
	c.grid(ticks, nil)
	return c
}

// LiveLatencyOf returns percentiles of so many times, as far as those tell them. Of is
// a quantile of them, from 0 to 1.
func LiveLatencyOf(n int64, of func(quantile float64) float64) LiveLatency {
	held := func(q float64) float64 {
		if !measure.Holds(n, q) {
			return 0
		}
		return of(q)
	}
	if n == 0 {
		return LiveLatency{}
	}
	return LiveLatency{P50: of(0.5), P95: held(0.95), P99: held(0.99), Max: of(1)}
}
