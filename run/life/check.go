package life

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
)

// place is where answers belong: their query type, and the states that they may show, the first and
// the last one. If these differ, the query overlapped a change.
type place struct{ kind, first, last int }

// sample is a random sample of the answers of a place.
type sample struct {
	offered int64
	kept    []engine.Answered
}

// keep offers the answer to a query that ran from one time to another to the sample of its place.
func (l *life) keep(kind int, from, to time.Duration, a *engine.Answered) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := place{kind: kind}
	for _, c := range l.changes {
		if c.begin < to {
			at.last++
		}
		if c.end != never && c.end <= from && at.first == at.last-1 {
			at.first++
		}
	}
	s := l.answers[at]
	if s == nil {
		s = &sample{}
		l.answers[at] = s
	}
	s.offered++
	if len(s.kept) < l.cfg.Base.Keep {
		s.kept = append(s.kept, *a)
	} else if n := l.random.Int64N(s.offered); n < int64(len(s.kept)) {
		s.kept[n] = *a
	}
}

// view returns the rows that the target has in a state, if the base has written its rows up to a
// place in the dataset.
func (l *life) view(s *state, written int64) *rows {
	return &rows{Dataset: l.cfg.Dataset, to: written, fixed: s.fixed, growth: l.growth, keep: func(n int64, run *series.Run, row int) bool {
		return !anyHas(s.absent, n, run, row)
	}}
}

// check compares the sampled answers with the states that they may show, and returns what the
// target should contain at the end.
func (l *life) check(ctx context.Context) (contents *oracle.Survey, err error) {
	written := l.writtenRows()
	places := slices.SortedFunc(maps.Keys(l.answers), func(a, b place) int {
		return slices.Compare([]int{a.first, a.last, a.kind}, []int{b.first, b.last, b.kind})
	})
	var waiting []*doubtful // answers that may show a later state
	for i := range l.states {
		list, drawing := waiting, oracle.Drawing{}
		if i == len(l.states)-1 {
			drawing = l.cfg.Drawing
		}
		waiting = nil
		for _, p := range places {
			if p.first == i {
				for j := range l.answers[p].kept {
					list = append(list, &doubtful{place: p, answer: &l.answers[p].kept[j]})
				}
			}
		}
		if len(list) == 0 && i < len(l.states)-1 {
			continue
		}
		queries := make([]query.Query, len(list))
		for j, d := range list {
			queries[j] = d.answer.Query
		}
		expected, err := oracle.PassSampling(ctx, l.view(&l.states[i], written), drawing, []string{l.cfg.Semantics}, queries, nil, l.cfg.Progress)
		if err != nil {
			return nil, fmt.Errorf("computing expected answers: %w", err)
		}
		for j, d := range list {
			if d.compare(l, &expected.Full[j]); d.place.last > i {
				waiting = append(waiting, d)
			} else {
				l.judge(d)
			}
		}
		contents = &expected.Survey
	}
	for i := range l.out.Events {
		if v := &l.out.Events[i]; v.Failed != "" {
			l.out.Withheld, contents = fmt.Sprintf("the event %s failed: %s", v.Do, v.Failed), nil
			break
		}
	}
	return contents, nil
}

// doubtful is an answer and its comparison with the states that it may show.
type doubtful struct {
	place      place
	answer     *engine.Answered
	matches    bool
	difference string // from the last state that it was compared with
	expected   []oracle.Expectation
}

func (d *doubtful) compare(l *life, x *oracle.Expectation) {
	if !d.matches {
		d.difference = verify.Differs(d.answer, x, l.schema, l.cfg.Semantics)
		d.matches = d.difference == ""
	}
	d.expected = append(d.expected, *x)
}

// dependsOnChange reports whether the states that the answer may show have different answers.
func (d *doubtful) dependsOnChange(l *life) bool {
	for i := 1; i < len(d.expected); i++ {
		x := &d.expected[i]
		as := engine.Answered{Query: d.answer.Query, Rows: x.Rows, Answer: x.Answer, Digest: x.Digest}
		if x.Any || x.Choices != nil || verify.Differs(&as, &d.expected[0], l.schema, "") != "" {
			return true
		}
	}
	return false
}

// judge records the verdict on an answer that was compared with all states that it may show.
func (l *life) judge(d *doubtful) {
	t := &l.out.Base.Types[d.place.kind]
	var event *result.LifeEvent
	if d.place.first < d.place.last {
		event = &l.out.Events[l.changes[d.place.first].event]
	}
	if !d.matches && event != nil && d.dependsOnChange(l) {
		event.Undecided++ // it may show a part of the change
		return
	}
	t.Verdict.Checked++
	t.Verdict.Rows += d.answer.Rows
	if d.answer.Rows == 0 {
		t.Verdict.Empty++
	}
	if event != nil {
		event.Checked++
	}
	if !d.matches && t.Verdict.Difference == "" {
		t.Verdict.Difference = fmt.Sprintf("query %d after %.1f s: %s", d.answer.Query.ID, d.answer.At.Seconds(), d.difference)
		t.Withheld = t.Verdict.Difference
	}
}
