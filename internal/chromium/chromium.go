// Package chromium lets tests look at pages in a real browser. Only tests import it.
package chromium

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/tsmark/tsmark/internal/slowtest"
)

//go:embed inspect.js
var inspect string

// Open opens a browser that is closed when the test ends, and collects the messages of its console.
// Without a browser the test fails under CI, and is skipped elsewhere; see slowtest.Skip, too.
func Open(t *testing.T) (ctx context.Context, console func() []string) {
	t.Helper()
	slowtest.Skip(t)
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

// Evaluate runs an expression in the page, which may use what inspect.js has.
func Evaluate[T any](t *testing.T, ctx context.Context, expression string) (value T) {
	t.Helper()
	value, err := evaluate[T](ctx, expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func evaluate[T any](ctx context.Context, expression string) (T, error) {
	return chromedp.Run(ctx, chromedp.Evaluate[T]("(() => {"+inspect+"return "+expression+"})()"))
}

// leaving is the code of the browser's errors where the page is on its way to another one.
const leaving = -32000

// WaitFor waits for a condition of the page, for up to 5 s. If the page navigates to another one
// the condition is evaluated there.
func WaitFor(t *testing.T, ctx context.Context, condition string) {
	t.Helper()
	for range 100 {
		holds, err := evaluate[bool](ctx, condition)
		if of := (*cdproto.Error)(nil); err != nil && (!errors.As(err, &of) || of.Code != leaving) {
			t.Fatalf("%s: %v", condition, err)
		}
		if holds {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("never: %s; the page says %q", condition, Evaluate[string](t, ctx, "document.body.innerText"))
}

// Do takes steps in the browser, in turn.
func Do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// Scheme has pages drawn light or dark, as a reader's system says.
func Scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, params)
		return err
	})
}

// Readable fails the test if the page is not readable in a wide window or on a phone, in the light
// or the dark theme: charts without size or content, elements wider than the window, texts with too
// little contrast.
func Readable(t *testing.T, ctx context.Context) {
	t.Helper()
	for _, width := range []int64{1200, 390} {
		Do(t, ctx, chromedp.EmulateViewport(width, 900))
		for _, check := range []string{"charts", "wide"} {
			if wrong := Evaluate[[]string](t, ctx, "inspect."+check+"()"); len(wrong) > 0 {
				t.Errorf("%d pixels wide, %s: %s", width, check, strings.Join(wrong, "; "))
			}
		}
	}
	for _, of := range []string{"light", "dark"} {
		Do(t, ctx, Scheme(of))
		if weak := Evaluate[[]string](t, ctx, "inspect.contrast()"); len(weak) > 0 {
			t.Errorf("%s: too little contrast: %s", of, strings.Join(weak, "; "))
		}
	}
}
