package suite

import (
	"errors"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/check"
	"github.com/tsmark/tsmark/session"
)

// Check: the checks of tsmark check succeed on the server for tests, the
// trial leaves it empty, and the server's clock is this machine's.
func (s *Suite) Check(t T) {
	ctx := t.Context()
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	if err := session.New(db).Clear(ctx); err != nil && !errors.Is(err, session.ErrNoMark) { // of the tests before
		t.Fatal(err)
	}
	if db.ReadClock != nil {
		read, err := db.ReadClock(ctx)
		reason := driver.Unknown("")
		unknown := errors.As(err, &reason)
		if err != nil && !unknown {
			t.Fatal(err)
		}
		if ahead, uncertain := read.Offset(); !unknown && max(ahead, -ahead) > uncertain+time.Second {
			t.Errorf("the clock of a server on this machine is %v ahead, within %v", ahead, uncertain)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := check.Run(ctx, check.Config{Pings: 3}, check.Target{Name: "x", Driver: s.driver, Options: s.options, Folder: env.Dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Logf("%s %s: %s; %s", f.Status, f.Check, f.Result, f.Fix)
	}
	for _, want := range []string{"rights", "query", "drop"} {
		if !slices.ContainsFunc(report.Findings, func(f check.Finding) bool { return f.Check == want && f.Status == check.OK }) {
			t.Errorf("tsmark check does not report that %q is ok", want)
		}
	}
	for _, what := range []string{"free space", "clock", "settings"} {
		if s.driver.Endpoints != nil && !slices.ContainsFunc(report.Findings, func(f check.Finding) bool { return f.Check == what }) {
			t.Errorf("tsmark check reports nothing about %s", what)
		}
	}
	if report.Fails() {
		t.Error("tsmark check says that a run would fail")
	}
	db = s.open(t, env)
	defer db.Close()
	if _, err := session.New(db).Mark(ctx); !errors.Is(err, session.ErrNoMark) {
		t.Errorf("the trial left something behind: %v", err)
	}
	objects, err := db.Objects(ctx)
	// A note whose name is still listed does not count: Prometheus lists it until it forgets the series.
	if at := slices.IndexFunc(objects, func(o driver.Object) bool { return o.Data && !o.Note }); err != nil || at >= 0 {
		t.Errorf("the trial left %v behind (%v)", objects, err)
	}
}
