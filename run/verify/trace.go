package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// traced bounds the answers that are traced in one pass, each of which needs
// the memory of a whole answer.
const traced = 64

// traceRows is the size of the batches in which rows are read again.
const traceRows = 4096

// trace finds the latest older state for which each answer is right.
func trace(ctx context.Context, d workload.Dataset, j *engine.Journal, answers []*answer) error {
	acked := func(w engine.Written) time.Duration { return w.Acked }
	begun := func(w engine.Written) time.Duration { return w.Begin }
	for _, by := range []func(engine.Written) time.Duration{acked, begun} {
		order := visible(j, by)
		for group := range slices.Chunk(answers, traced) {
			if err := traceIn(ctx, d, j, order, group); err != nil {
				return fmt.Errorf("looking for older states that answers are right for: %w", err)
			}
		}
		answers = slices.DeleteFunc(slices.Clone(answers), func(a *answer) bool { return a.stale })
	}
	return nil
}

// visible returns the acknowledged batches in the order of a time.
func visible(j *engine.Journal, by func(engine.Written) time.Duration) []int {
	var order []int
	for number, w := range j.Writes {
		if w.Acked != engine.Never {
			order = append(order, number)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(by(j.Writes[a]), by(j.Writes[b])) })
	return order
}

// tracer follows the states of the database.
type tracer struct {
	dataset workload.Dataset
	reader  workload.Reader
	journal *engine.Journal
	answers []*answer
	growing *oracle.Growing

	read int                     // batches read
	held map[int][]*series.Batch // read before their turn
	free []*series.Batch
}

func traceIn(ctx context.Context, d workload.Dataset, j *engine.Journal, order []int, answers []*answer) error {
	queries := make([]query.Query, len(answers))
	for i, a := range answers {
		queries[i] = a.Query
	}
	growing, err := oracle.NewGrowing(d.Schema(), queries)
	if err != nil {
		return err
	}
	t := tracer{dataset: d, reader: d.Open(), journal: j, answers: answers, growing: growing, held: map[int][]*series.Batch{}}
	if err := t.each(j.Loaded, func(b *series.Batch) { growing.Add(b); t.free = append(t.free, b) }); err != nil {
		return err
	}
	for i, a := range answers {
		a.matches = t.same(i)
	}
	for _, number := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.show(number); err != nil {
			return err
		}
	}
	return nil
}

// each reads the next rows and passes them on in batches that stay as they are
// until they are given back to t.free.
func (t *tracer) each(rows int64, visit func(*series.Batch)) error {
	for rows > 0 {
		b := new(series.Batch)
		if last := len(t.free) - 1; last >= 0 {
			b, t.free = t.free[last], t.free[:last]
		}
		if err := t.reader.Next(b, int(min(rows, traceRows))); errors.Is(err, io.EOF) {
			return fmt.Errorf("the dataset has %d rows less than were written", rows)
		} else if err != nil {
			return fmt.Errorf("reading the dataset: %w", err)
		}
		rows -= int64(b.Rows())
		visit(b)
	}
	return nil
}

// show makes a batch visible, for which those before it in the dataset, whose
// turn comes later, are held back. There are no more of them than were under
// way at once.
func (t *tracer) show(number int) error {
	for ; t.read <= number; t.read++ {
		err := t.each(t.journal.Writes[t.read].Rows, func(b *series.Batch) { t.held[t.read] = append(t.held[t.read], b) })
		if err != nil {
			return err
		}
	}
	changed := map[int]bool{}
	for _, b := range t.held[number] {
		for _, i := range t.growing.Add(b) {
			changed[i] = true
		}
		t.free = append(t.free, b)
	}
	delete(t.held, number)
	for i := range changed {
		t.compare(i, number)
	}
	return nil
}

// compare notes whether an answer is right for the state of now, which a batch
// has just brought about.
func (t *tracer) compare(i, number int) {
	a, matches := t.answers[i], t.same(i)
	if a.matches && !matches {
		a.stale, a.delay = true, a.At-t.journal.Writes[number].Acked
	}
	a.matches = matches
}

// same reports whether an answer is right for the state of now.
func (t *tracer) same(i int) bool {
	a := t.answers[i]
	if rows := t.growing.Rows(i); a.Rows != rows || !a.inFull() {
		return a.Rows == rows
	}
	x := t.growing.Expectation(i)
	return a.differs(&x) == ""
}
