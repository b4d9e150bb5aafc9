package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
)

// A page has figures without signs, and icons that open their notes. What all figures have is said
// once, at the head.
func TestPageNotes(t *testing.T) {
	run := observedRun(t)
	page := render(t, write.HTML, write.Options{}, run)
	text := regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`).ReplaceAllString(page, "")
	for _, sign := range []string{rank.BoundMark, rank.NoisyMark, rank.ChanceMark, "tie</"} {
		if strings.Contains(text, sign) {
			at := strings.Index(text, sign)
			t.Errorf("the page has %q: …%s…", sign, text[max(0, at-60):min(len(text), at+20)])
		}
	}
	icons := regexp.MustCompile(`<button type="button" class="sign" popovertarget="([^"]*)" aria-label="Note" title="([^"]*)">`).FindAllStringSubmatch(page, -1)
	if len(icons) < 5 {
		t.Errorf("%d icons", len(icons))
	}
	said := make(map[string]bool)
	for _, m := range icons {
		said[strings.Split(m[2], ":")[0]] = true
		if !strings.Contains(page, `<div popover id="`+m[1]+`" class="note">`+m[2]+`</div>`) {
			t.Errorf("the icon of %q opens something else", m[2])
		}
	}
	if !said["Noisy host"] || !said["Client-bound"] {
		t.Errorf("notes: %v", said)
	}
	if answer := report.StoreFigures(run).Answer; answer == "" || strings.Contains(answer, rank.NoisyMark) {
		t.Errorf("stored answer %q", answer)
	}
	if strings.Contains(text, "All figures:") {
		t.Error("the head says what some figures have")
	}
	for i := range run.Targets {
		target := &run.Targets[i]
		for j := range target.Queries {
			target.Queries[j].ClientBound = "no CPU left"
		}
		for j := range target.Repeats {
			for k := range target.Repeats[j].Queries {
				target.Repeats[j].Queries[k].ClientBound = "no CPU left"
			}
			if l := target.Repeats[j].Load; l != nil {
				l.ClientBound = "no CPU left"
			}
		}
	}
	page = render(t, write.HTML, write.Options{}, run)
	if strings.Count(page, "All figures: Client-bound") != 1 || regexp.MustCompile(`title="[^"]*Client-bound`).MatchString(page) {
		t.Error("what all figures have is not said once")
	}
	text = render(t, write.Text, write.Options{}, run)
	if strings.Count(text, "All figures: Client-bound") != 1 || strings.Contains(text, rank.BoundMark) || !strings.Contains(text, rank.NoisyMark) {
		t.Errorf("a terminal does not say once what all figures have: %s", text)
	}
}

// A page has the recorded texts and plans of each query type, folded.
func TestQueryTexts(t *testing.T) {
	run, _ := fixture(t)
	if page := render(t, write.HTML, write.Options{}, run); strings.Contains(page, "Query texts") {
		t.Error("a section without texts")
	}
	run.Targets[0].Queries[0].Text, run.Targets[0].Queries[0].Plan = "SELECT 1 <\n  2", "Seq Scan\n  on cpu"
	page := render(t, write.HTML, write.Options{}, run)
	_, section, _ := strings.Cut(page, "<h2>Query texts and plans</h2></summary>")
	for _, want := range []string{"<h3>" + run.Targets[0].Queries[0].Type + "</h3>", "<code>SELECT 1 &lt;\n  2</code>", "<code>Seq Scan\n  on cpu</code>"} {
		if !strings.Contains(section, want) {
			t.Errorf("%q is missing: %s", want, section[:min(len(section), 600)])
		}
	}
	if text := render(t, write.Text, write.Options{Verbose: true}, run); strings.Contains(text, "SELECT 1") {
		t.Error("the terminal shows query texts")
	}
}
