package report

import (
	"bytes"
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
)

//go:embed testdata/inspect.js
var inspect string

// browser opens a browser that is gone when the test ends, and collects what
// its console says. Where there is none the test fails under CI, and is
// skipped elsewhere.
func browser(t *testing.T) (ctx context.Context, console func() []string) {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		const lacking = "there is no browser to look at pages with; install one, as in apt-get install chromium"
		if os.Getenv("CI") == "true" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	bounded, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	allocated, _ := chromedp.NewExecAllocator(bounded, options...)
	ctx, _ = chromedp.NewContext(allocated)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // waits until it has ended
			t.Log(err)
		}
		stop()
	})
	messages := chromedp.Console(ctx)
	var mu sync.Mutex
	var said []string
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the browser was ended
			}
			mu.Lock()
			said = append(said, m.Text)
			mu.Unlock()
		}
	}()
	return ctx, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(said)
	}
}

// evaluate runs an expression of inspect.js in the page.
func evaluate[T any](t *testing.T, ctx context.Context, expression string) (value T) {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T]("(() => {"+inspect+"return "+expression+"})()"))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// scheme is light or dark, as a reader's system says.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, params)
		return err
	})
}

// pages are the pages that people read, with every kind of outcome.
func pages(t *testing.T) map[string]string {
	t.Helper()
	complete, killed := fixture(t)
	c, err := compare.Runs(repeated(1, 6, 1), repeated(2, 6, 1.08), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var compared bytes.Buffer
	if err := WriteComparison(&compared, HTML, c, Options{}); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"runs":       render(t, HTML, Options{}, complete, killed),
		"run":        render(t, HTML, Options{}, []*result.Run{observed(t)}...),
		"matrices":   render(t, HTML, Options{}, matrixRun(t)),
		"comparison": compared.String(),
	}
}

// In a real browser all is drawn, nothing is wider than a phone, every text can
// be read by day and by night, and a keyboard reaches everything.
func TestPagesInBrowser(t *testing.T) {
	ctx, console := browser(t)
	for name, page := range pages(t) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
				t.Fatal(err)
			}
			do(t, ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate("file://"+file))
			if n := evaluate[int](t, ctx, "inspect.count()"); n < 5 {
				t.Errorf("%d charts", n)
			}
			for _, width := range []int64{1200, 390} {
				do(t, ctx, chromedp.EmulateViewport(width, 900))
				for _, check := range []string{"charts", "wide"} {
					if wrong := evaluate[[]string](t, ctx, "inspect."+check+"()"); len(wrong) > 0 {
						t.Errorf("%d pixels wide, %s: %s", width, check, strings.Join(wrong, "; "))
					}
				}
			}
			for _, of := range []string{"light", "dark"} {
				do(t, ctx, scheme(of))
				if weak := evaluate[[]string](t, ctx, "inspect.contrast()"); len(weak) > 0 {
					t.Errorf("%s: too little contrast: %s", of, strings.Join(weak, "; "))
				}
			}
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
	want := evaluate[[]string](t, ctx, "inspect.reachable()")
	var got []string
	for range want {
		do(t, ctx, chromedp.KeyEvent(kb.Tab))
		got = append(got, evaluate[string](t, ctx, "inspect.focused()"))
	}
	if !slices.Equal(want, got) {
		t.Errorf("the keyboard reaches\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// A table that does not fit can be moved, and what is folded be opened.
	do(t, ctx, chromedp.Focus(chromedp.CSS(".scroll")), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(strings.Repeat(kb.ArrowRight, 3)))
	moved := false
	for range 40 {
		if moved = evaluate[bool](t, ctx, "document.querySelector('.scroll').scrollLeft > 0"); moved {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !moved {
		t.Error("no key moves the first table")
	}
	if evaluate[bool](t, ctx, "!document.querySelector('details:not([open])')") {
		return
	}
	do(t, ctx, chromedp.Focus(chromedp.CSS("details:not([open]) summary")))
	before := evaluate[int](t, ctx, "document.querySelectorAll('details[open]').length")
	do(t, ctx, chromedp.KeyEvent(kb.Enter))
	if after := evaluate[int](t, ctx, "document.querySelectorAll('details[open]').length"); after != before+1 {
		t.Errorf("Enter opens nothing: %d open, %d before", after, before)
	}
}
