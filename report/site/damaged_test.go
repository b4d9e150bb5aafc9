package site

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/sweep"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/result/resulttest"
)

// notFigures are the texts that formats print for values that are not numbers, and for missing arguments.
var notFigures = []string{"NaN", "+Inf", "-Inf", "MISSING)", "EXTRA "}

// FuzzDocument: whatever a stored document says, it is refused in one line, or each report
// of it is made, in bounded time and memory. The damage is of the document's values: text
// that is changed byte by byte is hardly ever a document.
func FuzzDocument(f *testing.F) {
	slowtest.Skip(f)
	for seed := range uint64(3) {
		f.Add(seed, seed, uint8(seed+4))
	}
	f.Fuzz(func(t *testing.T, run, damage uint64, changes uint8) {
		document, err := result.Encode(resulttest.Run(run % 64))
		if err != nil {
			t.Fatal(err)
		}
		r, err := decode(document)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(changes % 12) {
			damaged, err := resulttest.Damage(document, damage+i)
			if err != nil {
				t.Fatal(err)
			}
			other, err := decode(damaged)
			if err == nil {
				document, r = damaged, other
			} else if strings.Contains(err.Error(), "\n") {
				t.Errorf("several lines: %q", err)
			}
		}
		renderAll(t, r, len(document), damage, changes%12 == 0)
	})
}

// decode returns the run of a document.
func decode(document []byte) (*result.Run, error) {
	r, err := result.Decode(document)
	if err != nil {
		return nil, err
	}
	if err := result.Check(r); err != nil {
		return nil, err
	}
	return r.Pool()
}

// whole is an intact run beside the damaged ones.
var whole = sync.OnceValue(func() *result.Run {
	r, err := resulttest.Run(64).Pool()
	if err != nil {
		panic(err)
	}
	r.ID = "20260201-000000-ffff"
	return r
})

// renderAll makes every report of a run whose document has size bytes.
func renderAll(t *testing.T, r *result.Run, size int, damage uint64, intact bool) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	// An endless report ends the test with its stacks; no report comes near this time.
	timer := time.AfterFunc(10*time.Minute, func() { panic("the reports of a run do not end") })
	defer timer.Stop()
	other := *whole()
	runs := []*result.Run{r, &other}
	try := func(name string, render func(w io.Writer) error) {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			if intact || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q", name, err)
			}
			return
		}
		if strings.HasSuffix(name, string(write.JSON)) && !json.Valid(b.Bytes()) {
			t.Errorf("%s is not JSON", name)
		}
		if strings.HasSuffix(name, string(write.PNG)) {
			return
		}
		for _, text := range notFigures {
			if at := bytes.Index(b.Bytes(), []byte(text)); at >= 0 {
				t.Errorf("%s: …%s…", name, b.Bytes()[max(0, at-100):min(b.Len(), at+100)])
			}
		}
	}
	for _, name := range write.Formats() {
		format := write.Format(name)
		try("report "+name, func(w io.Writer) error {
			return report.Write(w, format, []*result.Run{r}, write.Options{Verbose: true})
		})
		if format == write.SVG || format == write.PNG {
			continue
		}
		if format == write.JSON || format == write.Markdown { // text has as much of several runs
			continue
		}
		try("runs "+name, func(w io.Writer) error { return report.Write(w, format, runs, write.Options{}) })
		try("matrices "+name, func(w io.Writer) error { return report.WriteMatrices(w, format, runs, write.Options{}) })
		try("sweep "+name, func(w io.Writer) error {
			return sweep.Write(w, format, &result.Sweep{ID: r.Place.Sweep, Points: 2, Started: r.Started}, runs, write.Options{})
		})
		try("comparison "+name, func(w io.Writer) error {
			c, err := compare.Runs(compare.Side{Runs: runs[:1]}, compare.Side{Runs: runs[1:]}, compare.Options{Different: true, AnyTerms: damage%2 == 0})
			if err != nil {
				return nil // there is nothing to compare
			}
			return comparison.Write(w, format, c, write.Options{})
		})
	}
	try("figures json", func(w io.Writer) error { return json.NewEncoder(w).Encode(report.StoreFigures(r)) })
	out := memory{}
	try("site", func(w io.Writer) error {
		s := New(out, Options{})
		for _, r := range runs {
			if err := s.Add(r); err != nil {
				return err
			}
		}
		if err := s.Finish(); err != nil {
			return err
		}
		for _, text := range out {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return nil
	})
	runtime.ReadMemStats(&after)
	// Each histogram of a document takes up to 160 KiB while it is read.
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 2048+uint64(size>>6) {
		t.Errorf("reports of %d bytes allocated %d MiB", size, used)
	}
}
