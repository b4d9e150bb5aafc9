package report_test

import (
	"html/template"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/report/live/page"
	"github.com/tsmark/tsmark/result"
)

// liveFixture is a run on its way: a load has ended, queries are running.
func liveFixture() *page.State {
	began := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	l := &page.State{
		Run: "20260131-120000-abcd", Name: "<name>", Command: "run", Workload: "cpu-only", Targets: []string{"one", "two"},
		Began: began, Now: began.Add(100 * time.Second), Failures: 3, Newest: 1500 * time.Millisecond, ResourcesNow: 100,
		Progress: progress.State{
			Step: 2, Steps: 5, Left: 130 * time.Second, More: true,
			Running: []progress.Running{
				{Label: "query one", Unit: "queries", Started: began, Done: 1200, Total: 2400, PerSecond: 41.3, Left: 30 * time.Second},
				{Label: "settling", Started: began.Add(90 * time.Second)},
			},
			Ended: []progress.Ended{{At: began, Label: "load one", Text: "1,000 rows"}, {At: began.Add(time.Second), Label: "load two", Text: "failed: <b>no</b>", Failed: true}},
		},
		Measured: []page.Measured{
			{Target: "one", What: "lastpoint", Unit: "queries", Operations: 1200, PerSecond: 41.3, Due: true, Latency: page.Latency{P50: 0.001, P95: 0.002, P99: 0.003, Max: 0.004}, Troubles: []page.Count{{Outcome: "failed", Count: 2}, {Outcome: "dropped", Count: 1}}},
			{Target: "one", What: "load", Unit: "rows", Operations: 7, PerSecond: 1e6, Latency: page.Latency{P50: 0.01, Max: 0.02}},
		},
	}
	// One loads, then two, then one answers queries.
	l.Courses = []page.Course{{Name: "one", Label: "one"}, {Name: "two", Label: "two"}}
	for i := range 98 {
		of, s := 0, page.Second{Rows: 1000}
		if i >= 25 {
			of = 1
		}
		if i > 50 {
			of, s = 0, page.Second{Queries: 40, Query: page.Latency{P50: 0.001, P99: 0.1}}
		}
		l.Courses[of].Seconds, l.Courses[1-of].Seconds = append(l.Courses[of].Seconds, s), append(l.Courses[1-of].Seconds, page.Second{})
	}
	ago := func(end int) time.Duration { return l.Newest + time.Duration(98-end)*time.Second }
	l.Phases = []page.Phase{{Course: 0, Load: true, From: ago(0), To: ago(25)}, {Course: 1, Load: true, From: ago(25), To: ago(51)}, {Course: 0, From: ago(51), To: ago(98)}}
	used := result.Resources{Source: "client", Period: 1}
	for i := range 100 {
		used.Add(float64(i), map[result.Metric]float64{result.CPU: float64(i) / 2, result.RSS: 1 << 30})
	}
	l.Resources = []result.Resources{used}
	return l
}

func liveContent(t *testing.T, l *page.State) (title, content string) {
	t.Helper()
	u, err := page.NewUpdates()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if title, err = u.Write(&b, l); err != nil {
		t.Fatal(err)
	}
	return title, b.String()
}

// The page says that nothing is verified, and names of targets cannot
// change it.
func TestLivePage(t *testing.T) {
	title, content := liveContent(t, liveFixture())
	if want := "2/5 · Run 20260131-120000-abcd <name> · tsmark"; title != want {
		t.Errorf("title %q, want %q", title, want)
	}
	for _, want := range []string{
		"Nothing on this page is verified yet", "Measured so far, not yet verified", "&lt;name&gt;", "<dd>2 of 5</dd>", "<dd>more than 2 min 10 s</dd>", "<dd>1m40s</dd>", "<dd>40.0</dd>",
		"1,200 of 2,400 queries, 41.3 queries/s, about 30 s left", `max="2400" value="1200"`, "<strong>settling</strong>: 10 s so far",
		"lastpoint, from due time", "count from when a query was due", "2 failed, 1 dropped", "1,000,000 rows/s",
		">Rows<", ">Queries<", ">Time of a query<", ">CPU<", ">Memory<", "seconds ago",
		`<span class="bad">load two: failed: &lt;b&gt;no&lt;/b&gt;</span>`,
	} {
		if !strings.Contains(content, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(content, ">Time of a batch<") {
		t.Error("there is a chart without values")
	}
	if t.Failed() {
		t.Log(content)
	}
}

// A target has one colour in all charts; bands show its phases, and no line leads from one phase to
// another, or through another target.
func TestLivePhases(t *testing.T) {
	l := liveFixture()
	l.Courses[0].Seconds[90].Rows, l.Phases = 500, append(l.Phases, page.Phase{Course: 0, Load: true, From: l.Newest + 8*time.Second, To: l.Newest + 7*time.Second})
	_, content := liveContent(t, l)
	_, rows, _ := strings.Cut(content, `aria-label="Rows: `)
	rows, _, _ = strings.Cut(rows, "</svg>")
	var got []string
	for _, m := range regexp.MustCompile(`<g class="(s\d+)"><(?:rect class="(band[^"]*)"|path class="line" d="([^"]*)")`).FindAllStringSubmatch(rows, -1) {
		got = append(got, strings.TrimSpace(m[1]+" "+m[2]+strings.Repeat("M", strings.Count(m[3], "M"))))
	}
	// The first target's line has two parts.
	if want := []string{"s0 band load", "s1 band load", "s0 band", "s0 band load", "s0 MM", "s1 M"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q\n%s", got, want, rows)
	}
	for _, want := range []string{"<title>two, load</title>", ">queries</text>", "one median 1.00"} {
		if !strings.Contains(content, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// It names stand-ins, before and after the end.
func TestLivePageStandIn(t *testing.T) {
	l := liveFixture()
	if _, content := liveContent(t, l); strings.Contains(content, "STAND-IN") {
		t.Error("it names a stand-in for a real server")
	}
	l.StandIns = []string{"one is " + chdb}
	for _, over := range []*page.End{nil, {Text: "done"}} {
		l.Over = over
		want := "STAND-IN: target one is " + template.HTMLEscapeString(chdb) + ". Its figures say nothing about the system."
		if _, content := liveContent(t, l); strings.Count(content, want) != 1 {
			t.Errorf("it does not say %q:\n%s", want, content)
		}
	}
}

// At the end the page shows the outcome and the report's place, and announces nothing further.
func TestLivePageOver(t *testing.T) {
	l := liveFixture()
	l.Over = &page.End{Text: "figures were withheld: one load", Failed: true, Page: "/results/x/report.html"}
	title, content := liveContent(t, l)
	for _, want := range []string{"figures were withheld: one load", "<code>/results/x/report.html</code>", "<code>tsmark report 20260131-120000-abcd</code>", "alert", ">ended<"} {
		if !strings.Contains(content, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if !strings.HasPrefix(title, "ended · ") || strings.Contains(content, "<progress") || strings.Contains(content, "time left") {
		t.Errorf("the end promises more: %s\n%s", title, content)
	}
}

// Before a run there is a page too, and its script runs under a policy that lets no other
// one run.
func TestLivePageEmpty(t *testing.T) {
	now := time.Now()
	var shown strings.Builder
	if err := (&page.State{Began: now, Now: now}).WritePage(&shown, "NONCE"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"No run has begun yet", `<script nonce="NONCE">`, "new EventSource('events')", "--accent:", "<noscript>"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(shown.String(), "http://") || strings.Contains(shown.String(), "https://") {
		t.Error("the page needs something from elsewhere")
	}
}
