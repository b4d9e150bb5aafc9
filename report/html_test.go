package report_test

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// parsed is the structure of a page.
type parsed struct {
	elements map[string]int
	text     string
	links    []string // values of attributes that a browser may load
}

// parse checks that all elements are closed properly.
func parse(t *testing.T, page string) parsed {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	void := []string{"meta", "link", "br"}
	p := parsed{elements: map[string]int{}}
	var open []string
	var text strings.Builder
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			p.elements[name]++
			if !slices.Contains(void, name) {
				open = append(open, name)
			}
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "src", "srcset", "href", "action", "data", "poster", "background":
					p.links = append(p.links, a.Value)
				case "style":
					t.Errorf("<%s> has a style of its own: %s", name, a.Value)
				}
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("<%s> has a handler %s", name, a.Name.Local)
				}
			}
		case xml.EndElement:
			name := token.Name.Local
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> closes nothing; open are %v", name, open)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			text.Write(token)
			text.WriteByte('\n')
		}
	}
	if len(open) > 0 {
		t.Errorf("never closed: %v", open)
	}
	p.text = text.String()
	return p
}

func TestHTMLShowsEverything(t *testing.T) {
	complete, killed := fixture(t)
	page := parse(t, render(t, write.HTML, write.Options{}, complete, killed))
	wanted := []string{
		"withheld: wrong answer to query 4", "query 4, row 17: usage_user is 93.5, found 93.25", "n/a: the dialect has no such query",
		"verified (empty)", "not verified", "DID NOT FINISH", "quest failed: localhost:9000 cannot be reached", "1 row is missing",
		facts.Embedded, "8f14e45fceea167a", "tsmark run 'my experiment.yaml'", complete.Experiment, "5d5a9de", "AMD EPYC 7763",
		"asynchronous: up to a second of rows can be lost", "cairo.wal.enabled", "memory-limit", "not ranked", "7 of 120 cut off", "quest @3f2a took at least as long as shown",
		"tsmark compare says which differences are more than chance",
	}
	for _, target := range complete.Targets {
		wanted = append(wanted, target.Name, target.Description.Version)
		for _, q := range target.Queries {
			wanted = append(wanted, q.Type, q.Help)
		}
	}
	for _, want := range wanted {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	// A curve for each type but the empty one, and the progress of the loads.
	if got, want := page.elements["figure"], 6+1; got != want {
		t.Errorf("%d figures, want %d", got, want)
	}
	if single := parse(t, render(t, write.HTML, write.Options{}, complete)); !strings.Contains(single.text, "no verdict rests on them") {
		t.Error("a single run does not say that it is one")
	}
}

func TestHTMLNeedsNoNetwork(t *testing.T) {
	complete, killed := fixture(t)
	page := render(t, write.HTML, write.Options{}, complete, killed)
	p := parse(t, page)
	for _, link := range p.links {
		if !strings.HasPrefix(link, "#") && link != "data:," {
			t.Errorf("the page loads or leads to %s", link)
		}
	}
	for _, word := range []string{"http:", "https:", "url(", "@import"} {
		if strings.Contains(page, word) {
			t.Errorf("the page contains %s", word)
		}
	}
	for _, name := range []string{"script", "iframe", "object", "img"} {
		if p.elements[name] > 0 {
			t.Errorf("the page has a <%s>", name)
		}
	}
}

func TestHTMLLinksLeadSomewhere(t *testing.T) {
	complete, killed := fixture(t)
	page := render(t, write.HTML, write.Options{}, complete, killed)
	for _, link := range parse(t, page).links {
		if id, ok := strings.CutPrefix(link, "#"); ok && strings.Count(page, ` id="`+id+`"`) != 1 {
			t.Errorf("%s leads to %d places", link, strings.Count(page, ` id="`+id+`"`))
		}
	}
}

func TestHTMLEscapes(t *testing.T) {
	const hostile = `"><script>alert('x')</script><img src=x onerror=alert(1)>`
	complete, _ := fixture(t)
	complete.ID, complete.Name, complete.Experiment, complete.Args = hostile, hostile, hostile, []string{hostile}
	complete.Status, complete.Reason = result.Incomplete, hostile
	complete.Host.CPU, complete.Dataset.Spec.Name = hostile, hostile
	target := &complete.Targets[0]
	target.Name, target.Failure, target.Description.Version = hostile, hostile, hostile
	target.Options = map[string]string{hostile: hostile}
	target.Load.Census[0].Problem = hostile
	for i := range target.Queries {
		target.Queries[i].Help = hostile
	}
	target.Queries[0].Type, target.Queries[4].Withheld, target.Queries[4].Verdict.Difference = hostile, hostile, hostile
	target.Queries[6].Unsupported = hostile
	p := parse(t, render(t, write.HTML, write.Options{}, complete))
	if p.elements["script"]+p.elements["img"] > 0 {
		t.Errorf("the name of something became part of the page: %v", p.elements)
	}
	if n := strings.Count(p.text, hostile); n < 20 {
		t.Errorf("the name is shown %d times, want it wherever it was put", n)
	}
}

func TestAxes(t *testing.T) {
	for _, values := range [][]float64{{0.001}, {0.00095, 0.00105}, {1e-6, 100}, {3e-9, 4e-9}, {0.2, 0.3, 7}} {
		a := chart.NewLogAxis(values)
		for _, v := range values {
			if at := a.Place(v); !(at > 0 && at < 1) {
				t.Errorf("%v lies at %v of the axis %v", v, at, a)
			}
		}
		ticks := a.Ticks(8)
		if len(ticks) < 2 || len(ticks) > 9 {
			t.Errorf("axis %v has the ticks %v", a, ticks)
		}
		for _, tick := range ticks {
			if tick.At < -0.01 || tick.At > 1.01 {
				t.Errorf("tick %+v lies outside the axis %v", tick, a)
			}
		}
	}
}

// TestMarksStayInChart draws types with a p95 far from the median and too few queries for p99.
func TestMarksStayInChart(t *testing.T) {
	run, _ := fixture(t)
	for i := range run.Targets {
		q := queries(t, uint64(i), "lastpoint", "", 40, time.Millisecond, 10)
		q.Service.P95 = 20 * q.Service.Median
		run.Targets[i].Queries = []result.Queries{q}
	}
	g := rank.NewGroup(run)
	marks := 0
	for _, row := range runchart.Ranges(g, chart.NewLegend(g.Labels())).Rows {
		for _, track := range row.Tracks {
			for _, s := range track.Strokes {
				marks++
				if s.From < 0 || s.To > 1 {
					t.Errorf("the mark %q of %s reaches from %v to %v of the axis", s.Class, track.Hint, s.From, s.To)
				}
			}
		}
	}
	if marks == 0 {
		t.Error("no marks")
	}
}

func TestCurveWithoutHistogram(t *testing.T) {
	l := latencies(t, 1, 1000, 5e6)
	l.Histogram = "damaged"
	points := runchart.PercentileCurve(&l)
	if len(points) != 6 || points[1].Seconds != l.Median {
		t.Errorf("points %v", points)
	}
}

// A page tells link preview services its headline, with caveats before the text that
// they cut off. It has the address of a preview if its own address is known.
func TestPageHead(t *testing.T) {
	run := agreeing(t, 6)
	run.Targets[0].Name = `a "quoted" <b>`
	h := rank.NewHeadline(rank.NewGroup(run))
	page := render(t, write.HTML, write.Options{}, run)
	content := func(page, property string) string {
		_, rest, _ := strings.Cut(page, `property="`+property+`" content="`)
		text, _, _ := strings.Cut(rest, `"`)
		return html.UnescapeString(text)
	}
	if got := content(page, "og:title"); got != h.Answers[0].Text || !strings.Contains(got, "faster than c") {
		t.Errorf("the title is %q", got)
	}
	for _, text := range append(h.Basis, h.Answers[1].Text) {
		if got := content(page, "og:description"); !strings.Contains(got, strings.ReplaceAll(text, format.UnitSpace, " ")) {
			t.Errorf("%q lacks %q", got, text)
		}
	}
	if strings.Contains(page, "og:image") || strings.Contains(page, "og:url") {
		t.Error("a page without an address has a preview")
	}
	page = render(t, write.HTML, write.Options{URL: "https://example.org/x&y/report.html"}, run)
	if got := content(page, "og:url") + " " + content(page, "og:image"); got != "https://example.org/x&y/report.html https://example.org/x&y/report.png" {
		t.Errorf("addresses: %s", got)
	}
	for _, link := range parse(t, page).links { // which the reader's browser would load
		if !strings.HasPrefix(link, "#") && link != "data:," {
			t.Errorf("the page loads %s", link)
		}
	}
	noisy := observedRun(t)
	said := rank.NewHeadline(rank.NewGroup(noisy)).Noise.Text
	if got := content(render(t, write.HTML, write.Options{}, noisy), "og:description"); said == "" || !strings.HasPrefix(got, said) {
		t.Errorf("%q does not begin with %q", got, said)
	}
	if nothing := render(t, write.HTML, write.Options{}, &result.Run{ID: "a"}); strings.Contains(nothing, "og:title") {
		t.Error("nothing was measured, and it is told to others")
	}
}
