package report_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tsmark/tsmark/internal/chromium"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/reproduction"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// pages are the pages that people read, with every kind of outcome.
func pages(t *testing.T) map[string]string {
	t.Helper()
	complete, killed := fixture(t)
	c, err := compare.Runs(repeatedRuns(1, 6, 1), repeatedRuns(2, 6, 1.08), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var compared bytes.Buffer
	if err := comparison.Write(&compared, write.HTML, c, write.Options{}); err != nil {
		t.Fatal(err)
	}
	d, _ := theDocument(t, "fixstars-2023", "load")
	var reproduced bytes.Buffer
	if err := reproduction.New(d, claims.Measured{Size: document.Small, Runs: map[string][]*result.Run{"load": fixstarsLoads()}}).Write(&reproduced, write.HTML, write.Options{}); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"document":   reproduced.String(),
		"runs":       render(t, write.HTML, write.Options{}, complete, killed),
		"run":        render(t, write.HTML, write.Options{}, []*result.Run{observedRun(t)}...),
		"agents":     render(t, write.HTML, write.Options{}, withAgents(t)),
		"matrices":   render(t, write.HTML, write.Options{}, matrixRun(t)),
		"comparison": compared.String(),
	}
}

// In a real browser all is drawn, nothing is wider than a phone, every text can
// be read by day and by night, and a keyboard reaches everything.
func TestPagesInBrowser(t *testing.T) {
	ctx, console := chromium.Open(t)
	for name, page := range pages(t) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
				t.Fatal(err)
			}
			chromium.Do(t, ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate("file://"+file))
			if n := chromium.Evaluate[int](t, ctx, "inspect.count()"); n < 5 {
				t.Errorf("%d charts", n)
			}
			chromium.Readable(t, ctx)
			keyboard(t, ctx)
		})
	}
	if said := console(); len(said) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(said, "; "))
	}
}

// keyboard goes through a page on a phone by keys alone.
func keyboard(t *testing.T, ctx context.Context) {
	t.Helper()
	want := chromium.Evaluate[[]string](t, ctx, "inspect.reachable()")
	var got []string
	for range want {
		chromium.Do(t, ctx, chromedp.KeyEvent(kb.Tab))
		got = append(got, chromium.Evaluate[string](t, ctx, "inspect.focused()"))
	}
	if !slices.Equal(want, got) {
		t.Errorf("the keyboard reaches\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// A table that does not fit can be scrolled, and a fold can be opened.
	chromium.Do(t, ctx, chromedp.Focus(chromedp.CSS(".scroll")), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(strings.Repeat(kb.ArrowRight, 3)))
	moved := false
	for range 40 {
		if moved = chromium.Evaluate[bool](t, ctx, "document.querySelector('.scroll').scrollLeft > 0"); moved {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !moved {
		t.Error("no key moves the first table")
	}
	if chromium.Evaluate[bool](t, ctx, "!document.querySelector('details:not([open])')") {
		return
	}
	chromium.Do(t, ctx, chromedp.Focus(chromedp.CSS("details:not([open]) summary")))
	before := chromium.Evaluate[int](t, ctx, "document.querySelectorAll('details[open]').length")
	chromium.Do(t, ctx, chromedp.KeyEvent(kb.Enter))
	if after := chromium.Evaluate[int](t, ctx, "document.querySelectorAll('details[open]').length"); after != before+1 {
		t.Errorf("Enter opens nothing: %d open, %d before", after, before)
	}
}

// The reasons for withheld figures and the findings about agents are readable without
// scrolling their table, however long they are.
func TestReasonsInBrowser(t *testing.T) {
	run := withAgents(t)
	why := strings.Repeat("agent north-2 was lost: its connection ended, and it did not come back within 5s; ", 4)
	run.Targets[0].Repeats[2].Queries[1].Withheld = why
	run.Targets[0].Repeats[2].Queries[0].Parts[1].Lost = why
	pooled, err := run.Targets[0].Pool()
	if err != nil {
		t.Fatal(err)
	}
	run.Targets[0] = pooled
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(render(t, write.HTML, write.Options{}, run)), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, _ := chromium.Open(t)
	chromium.Do(t, ctx, chromedp.EmulateViewport(1400, 900), chromedp.Navigate("file://"+file))
	for _, which := range []string{"td[colspan]", "td.words.bad"} {
		got := chromium.Evaluate[[]string](t, ctx, `(() => {
			const cut = [];
			for (const cell of document.querySelectorAll(".scroll `+which+`")) {
				const text = document.createRange();
				text.selectNodeContents(cell);
				if (text.getBoundingClientRect().right > cell.closest(".scroll").getBoundingClientRect().right) cut.push(cell.innerText);
			}
			return [document.querySelectorAll(".scroll `+which+`").length > 0 ? "some" : "none", ...cut];
		})()`)
		if !slices.Equal(got, []string{"some"}) {
			t.Errorf("%s: %q", which, got)
		}
	}
}
