package compare

import (
	"testing"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// newCrashed returns a side whose target lost rows in some of its kills, with these times until it was complete.
func newCrashed(id string, losing int, complete ...float64) Side {
	c := &result.Crash{Patience: 60, Unsupported: map[string]string{result.CrashPower: "not root"}}
	for i, seconds := range complete {
		r := result.CrashRound{Kind: result.CrashKill, Acked: 100, AckedBatches: 10, Answers: seconds / 2, Complete: seconds}
		if i < losing {
			r.Lost, r.LostBatches, r.Complete = 10, 1, -1
		}
		c.Rounds = append(c.Rounds, r)
	}
	target := newTarget("lite", "sqlite")
	target.Repeats[0].Load = &result.Load{Rows: 1000, Sent: 1, Acked: 1, Settled: 1, DiskBytes: 10}
	target.Crash = c
	return Side{Runs: []*result.Run{run(id, target)}}
}

// Losses of crashes are proportions, and a difference is only claimed where Fisher's exact test shows it. Times of
// recovery are compared like others; crashes that lost rows never completed.
func TestCrashes(t *testing.T) {
	ten := []float64{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9}
	slow := []float64{2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9}
	for _, c := range []struct {
		a, b     Side
		losses   Verdict
		complete Verdict
	}{
		{newCrashed("a", 0, ten...), newCrashed("b", 7, ten...), More, Slower},
		{newCrashed("a", 7, ten...), newCrashed("b", 0, ten...), Fewer, Faster},
		{newCrashed("a", 0, ten...), newCrashed("b", 2, slow...), NoDifference, Slower},
		{newCrashed("a", 0, ten[:3]...), newCrashed("b", 3, ten[:3]...), NoVerdict, NoVerdict},
		{newCrashed("a", 0, ten...), newCrashed("b", 0, ten...), NoDifference, NoDifference},
	} {
		target := &mustCompare(t, c.a, c.b).Targets[0]
		losses, complete := target.figure(result.CrashKill, CrashLosses), target.figure(result.CrashKill, CrashComplete)
		if losses.Verdict != c.losses || complete.Verdict != c.complete {
			t.Errorf("losses %s (p %v), complete %s (p %v), want %s and %s", losses.Verdict, losses.Adjusted, complete.Verdict, complete.Adjusted, c.losses, c.complete)
		}
		if losses.Verdict == NoVerdict && losses.Cause != TooFewCrashes {
			t.Errorf("no verdict on losses: %s", losses.Cause)
		}
		if power := target.figure(result.CrashPower, CrashLosses); power.Verdict != NotCompared || power.Why != "n/a: not root" {
			t.Errorf("power: %s: %s", power.Verdict, power.Why)
		}
	}
	b := &mustCompare(t, newCrashed("a", 0, ten...), newCrashed("b", 7, ten...)).Targets[0]
	if median := b.figure(result.CrashKill, CrashComplete).B.Median; median != (stats.Value{Figure: 60, Bound: stats.AtLeast}) {
		t.Errorf("complete after %v, want at least the patience", median)
	}
	limits, err := ParseConditions("crash-losses > 0, crash-answers > 10s, crash-losses > +5%")
	if err != nil {
		t.Fatal(err)
	}
	holds, open, closest := mustCompare(t, newCrashed("a", 0, ten...), newCrashed("b", 7, ten...)).Check(limits)
	if len(holds) != 2 || holds[0].String() != "crash-losses > 0: lite kill crash-losses is 0.7 (0.348 to 0.933)" || holds[1].Condition.Absolute || len(closest) != 1 {
		t.Errorf("holds %v, open %v, closest %v", holds, open, closest)
	}
}
