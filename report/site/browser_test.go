package site

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tsmark/tsmark/internal/chromium"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/result"
)

// inFolder is the site of these runs in a folder.
func inFolder(t *testing.T, runs ...*result.Run) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range build(t, Options{Title: "Results", Note: "Ours", Tool: result.Tool{Version: "1.2.3"}}, runs...) {
		if err := folder(dir).WriteBytes(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The site works from a folder and from a file server: filters choose a table, the
// address names it, and Back leads back.
func TestInBrowser(t *testing.T) {
	ctx, console := chromium.Open(t)
	dir := inFolder(t, mixture(t)...)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, at := range []string{"file://" + filepath.Join(dir, indexFile), server.URL + "/" + indexFile} {
		chromium.Do(t, ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate(at))
		chromium.WaitFor(t, ctx, "!document.getElementById('filters').hidden")
		if got := chromium.Evaluate[int](t, ctx, "document.querySelectorAll('#group tbody tr').length"); got != 3 {
			t.Errorf("%s: %d rows are shown first", at, got)
		}
		// A reader chooses another level of durability.
		chromium.Do(t, ctx, chromedp.Focus(chromedp.CSS("select[name=durability]")))
		chromium.Evaluate[bool](t, ctx, "(() => { const s = document.querySelector('select[name=durability]'); s.value = 'relaxed'; s.dispatchEvent(new Event('change', {bubbles: true})); return true })()")
		chromium.WaitFor(t, ctx, "document.querySelector('#group').innerText.includes('durability: relaxed')")
		address := chromium.Evaluate[string](t, ctx, "location.href")
		if !strings.Contains(address, "durability=relaxed") || !strings.Contains(address, "workload=cpu-only") {
			t.Errorf("the address is %s", address)
		}
		for _, word := range []string{"withheld", "n/a", "not verified"} {
			if !chromium.Evaluate[bool](t, ctx, fmt.Sprintf("document.querySelector('#group table').innerText.includes(%q)", word)) {
				t.Errorf("the table does not say %s", word)
			}
		}
		// The address alone leads there, and Back back.
		chromium.Evaluate[bool](t, ctx, "history.back() || true")
		chromium.WaitFor(t, ctx, "document.querySelector('#group').innerText.includes('durability: strict')")
		chromium.Do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address))
		chromium.WaitFor(t, ctx, "document.querySelector('#group').innerText.includes('durability: relaxed')")
		// Missing results are reported.
		chromium.Evaluate[bool](t, ctx, "(location.hash = '#workload=cpu-only&durability=none') !== ''")
		chromium.WaitFor(t, ctx, "document.getElementById('status').innerText.includes('no such results with durability “none”')")
		// From a cell to the page of its run, and from there back.
		chromium.Do(t, ctx, chromedp.Navigate(at))
		chromium.WaitFor(t, ctx, "document.querySelector('#group a.figure') !== null")
		chromium.Evaluate[bool](t, ctx, "document.querySelector('#group a.figure').click() || true")
		chromium.WaitFor(t, ctx, "document.title.startsWith('tsmark run ') && document.readyState === 'complete'")
		chromium.Evaluate[bool](t, ctx, "document.querySelector('nav a[href=\"verification.html\"]').click() || true")
		chromium.WaitFor(t, ctx, "document.title.startsWith('Verification of run ') && document.readyState === 'complete'")
		looks(t, ctx)
		chromium.Evaluate[bool](t, ctx, "document.querySelector('nav a').click() || true")
		chromium.WaitFor(t, ctx, "document.title === 'Results' && document.readyState === 'complete'")
		looks(t, ctx)
	}
	if said := console(); len(said) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(said, "; "))
	}
}

// A reader ranks chosen systems by chosen types, and sorts by a column; the address keeps the choice.
func TestChoice(t *testing.T) {
	ctx, _ := chromium.Open(t)
	third := makeRun(t, 2, 3, func(r *result.Run) { r.Targets[1].Driver, r.Targets = "gamma", r.Targets[1:] })
	chromium.Do(t, ctx, chromedp.EmulateViewport(390, 900), chromedp.Navigate("file://"+filepath.Join(inFolder(t, makeRun(t, 1, 1.5), third), indexFile)))
	chromium.WaitFor(t, ctx, "document.querySelector('#group thead button') !== null")
	rows := func() string {
		return chromium.Evaluate[string](t, ctx, `[...document.querySelectorAll("#group tbody tr:not([hidden])")].map(r => r.cells[0].firstChild.data.split(" ")[0] + " " + r.cells[1].textContent + " " + r.cells[3].style.getPropertyValue("--heat")).join(", ")`)
	}
	click := func(selector string) {
		t.Helper()
		chromium.Evaluate[bool](t, ctx, fmt.Sprintf("document.querySelector(%q).click() || true", selector))
	}
	ranked := rows()
	if !strings.HasPrefix(ranked, "alpha 1.00× 0%, beta 1.") || !strings.Contains(ranked, "gamma ") {
		t.Errorf("ranked: %s", ranked)
	}
	// The rows come by system, and again in the opposite order; loads have the best first.
	click("#group th:first-child button")
	click("#group th:first-child button")
	if got := rows(); !strings.HasPrefix(got, "gamma") || !strings.Contains(got, "%, alpha 1.00× 0%") {
		t.Errorf("by system, the last first: %s", got)
	}
	click("#group th:nth-child(3) button")
	if got := rows(); got != ranked {
		t.Errorf("by load: %s, want %s", got, ranked)
	}
	// Without the best one the others are compared with each other.
	click("#choice input[name=without]")
	chromium.WaitFor(t, ctx, "document.querySelectorAll('#group tbody tr:not([hidden])').length === 2")
	if got := rows(); !strings.HasPrefix(got, "beta 1.00× 0%, gamma ") {
		t.Errorf("without the first: %s", got)
	}
	if got := chromium.Evaluate[string](t, ctx, `document.querySelector("#group tbody tr:not([hidden]) .times").textContent`); got != "1.00×" {
		t.Errorf("the best of the others says %s", got)
	}
	click("#choice input[name=by]") // the load too
	chromium.WaitFor(t, ctx, "document.querySelector('#group th small').textContent.includes('3 of 3')")
	address := chromium.Evaluate[string](t, ctx, "location.href")
	chromium.Do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address))
	chromium.WaitFor(t, ctx, "document.querySelectorAll('#group tbody tr:not([hidden])').length === 2 && document.querySelector('#group th small').textContent.includes('3 of 3')")
	looks(t, ctx)
}

// looks checks that nothing is wider than a phone, that every text can be read by day
// and by night, and that the names of rows stay in sight.
func looks(t *testing.T, ctx context.Context) {
	t.Helper()
	for _, width := range []int64{1200, 390} {
		chromium.Do(t, ctx, chromedp.EmulateViewport(width, 900))
		if wide := chromium.Evaluate[[]string](t, ctx, "inspect.wide()"); len(wide) > 0 {
			t.Errorf("%d pixels wide: %s", width, strings.Join(wide, "; "))
		}
	}
	for _, of := range []string{"light", "dark"} {
		chromium.Do(t, ctx, chromium.Scheme(of))
		if weak := chromium.Evaluate[[]string](t, ctx, "inspect.contrast()"); len(weak) > 0 {
			t.Errorf("%s: too little contrast: %s", of, strings.Join(weak, "; "))
		}
	}
	const moved = "(() => { const s = document.querySelector('.scroll'), th = s.querySelector('tbody th'); s.scrollLeft = 200; return Math.abs(th.getBoundingClientRect().left - s.getBoundingClientRect().left) < 3 })()"
	if !chromium.Evaluate[bool](t, ctx, moved) {
		t.Error("the names of rows move out of sight")
	}
}

// A keyboard reaches the filters, the table and its links.
func TestKeyboard(t *testing.T) {
	ctx, _ := chromium.Open(t)
	chromium.Do(t, ctx, chromedp.EmulateViewport(390, 900), chromedp.Navigate("file://"+filepath.Join(inFolder(t, mixture(t)...), indexFile)))
	chromium.WaitFor(t, ctx, "!document.getElementById('filters').hidden")
	reached := map[string]bool{}
	for range 60 {
		chromium.Do(t, ctx, chromedp.KeyEvent(kb.Tab))
		reached[chromium.Evaluate[string](t, ctx, "document.activeElement.tagName + '.' + document.activeElement.className")] = true
	}
	for _, want := range []string{"SELECT.", "DIV.scroll", "A.figure", "SUMMARY."} {
		if !reached[want] {
			t.Errorf("the keyboard does not reach %s, but %v", want, reached)
		}
	}
}

// Many runs stay usable: the page has a row for each version of a system, however many runs there
// are of it. The test logs the times, and fails if they are far longer than a reader waits.
func TestManyRuns(t *testing.T) {
	slowtest.Skip(t)
	const runs = 100
	dir := t.TempDir()
	s := New(folder(dir), Options{})
	began := time.Now()
	for n := range runs {
		// Five versions of each of two systems, on five datasets, with two levels, twice.
		r := makeRun(t, n, 1+float64(n%7)/10, func(r *result.Run) {
			r.Dataset.Fingerprint, r.Dataset.Spec.Scale = fmt.Sprintf("%016x", n%5), uint32(100*(1+n%5))
			for i := range r.Targets {
				r.Targets[i].Description.Version = fmt.Sprintf("1.%d", n/10%5)
				r.Targets[i].Durability = []string{"strict", "relaxed"}[n/5%2]
			}
		})
		if err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	index, err := os.Stat(filepath.Join(dir, indexFile))
	if err != nil {
		t.Fatal(err)
	}
	ctx, _ := chromium.Open(t)
	chromium.Do(t, ctx, chromedp.EmulateViewport(390, 900), chromedp.Navigate("file://"+filepath.Join(dir, indexFile)))
	chromium.WaitFor(t, ctx, "performance.getEntriesByName('first-contentful-paint').length > 0")
	paint := chromium.Evaluate[float64](t, ctx, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
	rows := chromium.Evaluate[int](t, ctx, "document.querySelectorAll('#group tbody tr').length")
	t.Logf("%d runs, %d tables: made in %v; the page has %d KiB and %d rows, and is first painted after %.0f ms", runs, s.Groups(), took.Round(time.Millisecond), index.Size()>>10, rows, paint)
	if s.Groups() != 10 || rows != 10 || index.Size() > 50<<10 || paint > 5000 {
		t.Error("that is too much")
	}
}
