package result

import "testing"

// Answers with an unknown number of rows are not among those counted, also of several repeats.
func TestCountedAnswers(t *testing.T) {
	one := Queries{Executed: 1000, AtLeast: 5, Verdict: Verdict{Checked: 20}, Sample: Sample{Wanted: 20, Uncounted: 600}}
	if n := one.CountedAnswers(); n != 375 {
		t.Errorf("%d answers are counted, want 375", n)
	}
	all := Queries{Executed: 1000, Verdict: Verdict{Checked: 20}, Sample: Sample{Wanted: 20, Uncounted: 1000}}
	if n := all.CountedAnswers(); n != 0 {
		t.Errorf("%d answers are counted, want none", n)
	}
	if _, s := PoolVerdicts([]*Queries{&one, &all}); s.Uncounted != 1600 {
		t.Errorf("%d answers of both are not counted", s.Uncounted)
	}
}
