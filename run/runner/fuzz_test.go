package runner_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine/peertest"
	"github.com/tsmark/tsmark/internal/boundtest"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/shared"
)

// alone is a shared.Link of the only agent of a phase.
type alone struct {
	*peertest.Client
	io.Writer
}

func (alone) Ready(ctx context.Context) (time.Time, error) { return time.Now(), ctx.Err() }
func (alone) Progress(int64)                               {}

// FuzzPart: whatever a coordinator sends as a part, the agent executes it or refuses it with one
// line, in bounded time and memory. The fuzzed text replaces members of a real part, because random
// bytes are hardly ever a part.
func FuzzPart(f *testing.F) {
	w := &world{}
	c := catalogOf(w.driver())
	e := small(f, "cpu-only")
	e.Workload.Scale, e.Queries.Count, e.Queries.Types = 2, 5, []string{"single-groupby-1-1-1"}
	agents := newCrew(f, 1, c)
	p, err := plan.NewPlan(e, c, plan.Steps{Load: true, Verify: true, Query: true})
	if err != nil {
		f.Fatal(err)
	}
	r := &runner.Runner{Store: noStore{}, Dir: f.TempDir(), Display: silent{}, Agents: agents}
	if run, err := runPlan(f.Context(), r, p); err != nil || run.Status != result.Complete {
		f.Fatalf("%v, %s", err, run.Reason)
	}
	for _, text := range []string{
		`{}`, `{"repeat":9223372036854775807}`, `{"repeat":1}`, `{"expected":[3,2147483647]}`, `{"share":{"Index":1048574,"Count":1048575}}`,
		`{"before":9223372036854775807,"mixed":true}`, `{"job":"rest","handed":[-9223372036854775808]}`, `{"begun":9223372036854775807,"capture":true}`,
		`{"job":"mixed","lateness":9223372036854775807}`, `{"rate":"1e308/s"}`, `{"seed":"","capture":true,"counts":true}`, `{"type":"none"}`, `{"warm_up":true,"warm":1}`, `{"job":"calibrate"}`,
		`{"wanted":["PATH"]}`, `{"environ":["PATH=/"]}`, `{"spec":null}`, `{"steps":{}}`, `[`,
	} {
		for body := range agents.bodies {
			f.Add(uint8(body), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		var of, changes map[string]json.RawMessage
		if json.Unmarshal(agents.bodies[int(which)%len(agents.bodies)], &of) != nil || json.Unmarshal(text, &changes) != nil {
			changes = nil
		}
		for name, value := range changes {
			// The coordinator determines the amount of work, and experiments have their own limits.
			if !strings.EqualFold(name, "experiment") && !strings.EqualFold(name, "spec") && !strings.EqualFold(name, "time_box") && !strings.EqualFold(name, "warm") {
				of[name] = value
			}
		}
		body, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		agent := &shared.Agent{Catalog: c, Allow: func(allow.Needs) error { return nil }}
		boundtest.Hold(t, func() {
			ctx, end := context.WithTimeout(t.Context(), time.Second)
			defer end()
			err := agent.Do(ctx, body, alone{peertest.New(1, time.Millisecond).Client(0), io.Discard})
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("several lines: %q", err)
			}
		})
	})
}
