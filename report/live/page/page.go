// Package page renders the page of a run in progress.
package page

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// State is the state of a run in progress. Nothing of it is verified yet.
type State struct {
	Run, Name, Command string // empty: no run has begun
	Workload           string // empty: not known yet
	Targets            []string
	StandIns           []string  // targets that are stand-ins, with their descriptions
	Began, Now         time.Time // start of the watched session, which may have several runs
	Progress           progress.State
	Measured           []Measured // the last active one first
	Failures           int64      // operations that failed or were answered wrong, of all
	Courses            []Course   // of all targets, each with a colour
	Phases             []Phase    // the oldest first
	// Newest is how long before Now the last second of each course ended.
	Newest time.Duration
	// Resources are readings of the sources; At is when, on a time line on which Now is
	// ResourcesNow.
	Resources    []result.Resources
	ResourcesNow float64
	Over         *End // nil: still in progress
}

// Window is the maximum number of seconds that the charts of a live page show.
const Window = 300

// Measured sums up the operations of a load or query type so far.
type Measured struct {
	Target, What string
	Unit         string // the unit that the rate counts: rows, queries
	Operations   int64  // that ended well
	PerSecond    float64
	Latency      Latency // of all repeats so far
	Due          bool    // latency counts from when a query was due
	Troubles     []Count // numbers of failed, cut off, dropped or retried operations
}

// Count is the number of operations with an outcome.
type Count struct {
	Outcome string
	Count   int64
}

// Latency is times in seconds, accurate to about 1 %; 0: too few operations.
type Latency struct{ P50, P95, P99, Max float64 }

// Course is what a target did in the newest whole seconds, at most Window.
type Course struct {
	Name, Label string
	Seconds     []Second
}

// Phase is a time in which a target loaded or answered queries, before Now.
type Phase struct {
	Course   int // place of the target's course
	Load     bool
	From, To time.Duration
}

// Second counts the operations that ended within a second.
type Second struct {
	Rows, Queries  int64
	Batches, Query Latency // of loads and of queries; Max and P95 are not set
}

// End is the outcome of the watched session.
type End struct {
	Text   string // one line
	Failed bool
	Page   string // file with the report, or empty
}

// content is the input of the template.
type content struct {
	Title, Heading string
	State          doc.Span
	Tiles          []doc.Fact
	Tasks          []liveTask
	Measured       *doc.Table
	Legend         chart.Legend
	Charts         []*chart.Lines
	Ended          []liveNote
	Over           *End
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
	Tone       format.Tone
}

// WritePage writes the whole page. The nonce marks the page's own script for the
// browser's policy.
func (l *State) WritePage(w io.Writer, nonce string) error {
	t, err := write.Templates("live.html")
	if err != nil {
		return err
	}
	script, err := write.PageFiles.ReadFile("live.js")
	if err != nil {
		return err
	}
	page := l.page()
	page.Nonce, page.Script = nonce, template.JS(script)
	return t.Execute(w, page)
}

// Updates renders the changing parts of a live page. It is used by one goroutine.
type Updates struct{ templates *template.Template }

// NewUpdates parses the templates.
func NewUpdates() (*Updates, error) {
	t, err := write.Templates("live.html")
	return &Updates{t}, err
}

// Write writes the current content of the page, and returns the page's title.
func (u *Updates) Write(w io.Writer, l *State) (title string, err error) {
	page := l.page()
	return page.Title, u.templates.ExecuteTemplate(w, "content", page)
}

// WriteLogin writes the page on which readers give the token of a live page.
func WriteLogin(w io.Writer, wrong bool) error {
	t, err := write.Templates("live.html")
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "login", wrong)
}

func (l *State) page() content {
	p := content{Run: l.Run, StandIns: l.StandIns, Over: l.Over, Measured: l.table(), Tiles: l.tiles()}
	p.Heading = format.Join(" ", "Run", l.Run, l.Name)
	if l.Run == "" {
		p.Heading = "No run has begun yet"
	}
	done := ""
	switch s := &l.Progress; {
	case l.Over != nil && l.Over.Failed:
		p.State, done = doc.Bad("ended"), "ended"
	case l.Over != nil:
		p.State, done = doc.Best("ended"), "ended"
	default:
		p.State = doc.Plain("running")
		if s.Steps > 1 {
			done = fmt.Sprintf("%d/%d", s.Step, s.Steps)
		}
	}
	p.Title = format.Join(" · ", done, p.Heading, "tsmark")
	if l.Over == nil {
		for _, t := range l.Progress.Running {
			p.Tasks = append(p.Tasks, newLiveTask(&t, l.Now))
		}
	}
	for _, e := range slices.Backward(l.Progress.Ended) {
		n := liveNote{Time: e.At.UTC().Format(time.TimeOnly), Text: format.Join(": ", e.Label, e.Text)}
		if e.Failed {
			n.Tone = format.ToneBad
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
		task.Text = format.Count(t.Done) + " of " + format.Count(t.Total) + " " + t.Unit
	default:
		task.Text = format.Count(t.Done) + " " + t.Unit + ", " + passed
	}
	if t.PerSecond > 0 || task.Total == 0 {
		task.Text += ", " + format.Digits(t.PerSecond) + " " + t.Unit + "/s"
	}
	if t.Left > 0 {
		task.Text += ", about " + progress.Roughly(t.Left) + " left"
	}
	return task
}

// tiles returns the figures that a reader looks for first.
func (l *State) tiles() []doc.Fact {
	s := &l.Progress
	list := []doc.Fact{{Key: "workload", Value: l.Workload}, {Key: "targets", Value: format.Join(", ", l.Targets...)}}
	if l.Over == nil && s.Steps > 0 {
		list = append(list, doc.Fact{Key: "step", Value: fmt.Sprintf("%d of %d", s.Step, s.Steps)})
		switch {
		case s.Left <= 0:
			list = append(list, doc.Fact{Key: "time left", Value: "not known yet"})
		case s.More:
			list = append(list, doc.Fact{Key: "time left", Value: "more than " + progress.Roughly(s.Left)})
		default:
			list = append(list, doc.Fact{Key: "time left", Value: "about " + progress.Roughly(s.Left)})
		}
	}
	list = append(list, doc.Fact{Key: "time passed", Value: format.ElapsedTime(l.Now.Sub(l.Began).Round(time.Second))})
	if rows, queries := l.rates(); l.Over == nil {
		if rows > 0 {
			list = append(list, doc.Fact{Key: "rows/s", Value: format.Digits(rows)})
		}
		if queries > 0 {
			list = append(list, doc.Fact{Key: "queries/s", Value: format.Digits(queries)})
		}
	}
	failures := "none"
	if l.Failures > 0 {
		failures = format.Count(l.Failures)
	}
	list = append(list, doc.Fact{Key: "operations that failed", Value: failures})
	return slices.DeleteFunc(list, func(f doc.Fact) bool { return f.Value == "" })
}

// rateSeconds is the number of seconds over which a rate is averaged.
const rateSeconds = 5

// rates returns the mean rates of the last seconds.
func (l *State) rates() (rows, queries float64) {
	n := 1.0
	for _, c := range l.Courses {
		last := c.Seconds[max(0, len(c.Seconds)-rateSeconds):]
		for _, s := range last {
			rows, queries = rows+float64(s.Rows), queries+float64(s.Queries)
		}
		n = max(n, float64(len(last)))
	}
	return rows / n, queries / n
}

// mostMeasured is the maximum number of rows in the table.
const mostMeasured = 24

// table shows the measurements so far, or returns nil before the first one.
func (l *State) table() *doc.Table {
	if len(l.Measured) == 0 {
		return nil
	}
	t := &doc.Table{Title: "Measured so far, not yet verified", Columns: []doc.Column{
		{Head: "target"}, {Head: "measurement", Words: true}, {Head: "done", Help: "batches or queries that ended well, in all repeats so far"},
		{Head: "rate", Help: "of the latest repeat"},
		{Head: "p50"}, {Head: "p95"}, {Head: "p99"}, {Head: "max"},
		{Head: "problems", Help: "operations that failed, were cut off, dropped or sent again", Words: true},
	}}
	due := false
	for i := range l.Measured[:min(len(l.Measured), mostMeasured)] {
		m := &l.Measured[i]
		what, trouble := m.What, doc.None()
		if m.Due {
			what, due = what+", from due time", true
		}
		for j, c := range m.Troubles {
			if j == 0 {
				trouble = doc.Bad("")
			}
			trouble.Text = format.Join(", ", trouble.Text, format.Count(c.Count)+" "+c.Outcome)
		}
		row := doc.Row{Cells: []doc.Span{doc.Plain(m.Target), doc.Plain(what), doc.Plain(format.Count(m.Operations)), cell.Positive(m.PerSecond, func(v float64) string { return format.Digits(v) + " " + m.Unit + "/s" })}}
		for _, v := range []float64{m.Latency.P50, m.Latency.P95, m.Latency.P99, m.Latency.Max} {
			row.Cells = append(row.Cells, cell.Positive(v, format.Duration))
		}
		row.Cells = append(row.Cells, trouble)
		t.Rows = append(t.Rows, row)
	}
	if more := len(l.Measured) - mostMeasured; more > 0 {
		t.Notes = append(t.Notes, doc.Dim(fmt.Sprintf("%s earlier ones are not shown.", format.Count(int64(more)))))
	}
	if due {
		t.Notes = append(t.Notes, doc.Dim("From due time: latencies count from when a query was due."))
	}
	return t
}

// NewLatency returns the percentiles that n times can resolve. Of returns a quantile
// of them, from 0 to 1.
func NewLatency(n int64, of func(quantile float64) float64) Latency {
	held := func(q float64) float64 {
		if !measure.Holds(n, q) {
			return 0
		}
		return of(q)
	}
	if n == 0 {
		return Latency{}
	}
	return Latency{P50: of(0.5), P95: held(0.95), P99: held(0.99), Max: of(1)}
}
