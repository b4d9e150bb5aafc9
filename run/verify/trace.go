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

// written is a batch of a share, by their places.
type written struct{ share, number int }

func (w written) in(j *engine.Journal) engine.Written { return j.Shares[w.share].Writes[w.number] }

// visible returns the acknowledged batches of all shares in the order of a time.
func visible(j *engine.Journal, by func(engine.Written) time.Duration) []written {
	var order []written
	for share := range j.Shares {
		for number, w := range j.Shares[share].Writes {
			if w.Acked != engine.Never {
				order = append(order, written{share, number})
			}
		}
	}
	slices.SortStableFunc(order, func(a, b written) int { return cmp.Compare(by(a.in(j)), by(b.in(j))) })
	return order
}

// tracer follows the states of the database.
type tracer struct {
	journal *engine.Journal
	answers []*answer
	growing *oracle.Growing
	shares  []shareReader
	held    map[written][]*series.Batch // read before their turn
	free    []*series.Batch
}

// shareReader reads the batches of a share again.
type shareReader struct {
	workload.Reader
	read int // batches
}

func traceIn(ctx context.Context, d workload.Dataset, j *engine.Journal, order []written, answers []*answer) error {
	queries := make([]query.Query, len(answers))
	for i, a := range answers {
		queries[i] = a.Query
	}
	growing, err := oracle.NewGrowing(d.Schema(), queries)
	if err != nil {
		return err
	}
	t := tracer{journal: j, answers: answers, growing: growing, held: map[written][]*series.Batch{}}
	for i := range j.Shares {
		whole := d.Open()
		// Each reader passes over the loaded rows, which the first one tells of.
		if err := t.each(whole, j.Loaded, func(b *series.Batch) {
			if i == 0 {
				growing.Add(b)
			}
			t.free = append(t.free, b)
		}); err != nil {
			return err
		}
		own := whole
		if leave := j.Shares[i].Own; leave != nil {
			own = leave(whole)
		}
		t.shares = append(t.shares, shareReader{Reader: own})
	}
	for i, a := range answers {
		a.matches = t.same(i)
	}
	for _, w := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.show(w); err != nil {
			return err
		}
	}
	return nil
}

// each reads the next rows and passes them on in batches that stay as they are
// until they are given back to t.free.
func (t *tracer) each(from workload.Reader, rows int64, visit func(*series.Batch)) error {
	for rows > 0 {
		b := new(series.Batch)
		if last := len(t.free) - 1; last >= 0 {
			b, t.free = t.free[last], t.free[:last]
		}
		if err := from.Next(b, int(min(rows, traceRows))); errors.Is(err, io.EOF) {
			return fmt.Errorf("the dataset has %d rows less than were written", rows)
		} else if err != nil {
			return fmt.Errorf("reading the dataset: %w", err)
		}
		rows -= int64(b.Rows())
		visit(b)
	}
	return nil
}

// show makes a batch visible, for which those before it in its share, whose
// turn comes later, are held back. There are no more of them than were under
// way at once.
func (t *tracer) show(w written) error {
	for share := &t.shares[w.share]; share.read <= w.number; share.read++ {
		read := written{w.share, share.read}
		err := t.each(share, read.in(t.journal).Rows, func(b *series.Batch) { t.held[read] = append(t.held[read], b) })
		if err != nil {
			return err
		}
	}
	changed := map[int]bool{}
	for _, b := range t.held[w] {
		for _, i := range t.growing.Add(b) {
			changed[i] = true
		}
		t.free = append(t.free, b)
	}
	delete(t.held, w)
	for i := range changed {
		t.compare(i, w)
	}
	return nil
}

// compare notes whether an answer is right for the state of now, which a batch
// has just brought about.
func (t *tracer) compare(i int, w written) {
	a, matches := t.answers[i], t.same(i)
	if a.matches && !matches {
		// Another client's clock may say that it was acknowledged later.
		a.stale, a.delay = true, max(a.At-w.in(t.journal).Acked, 0)
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
