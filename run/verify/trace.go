package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// traced limits the answers traced in one pass. Each needs the memory of a whole answer per order.
const traced = 64

// traceRows is the size of the batches in which rows are read again.
const traceRows = 4096

// trace finds the latest older state that matches each answer. It calls examined with the number of answers
// that need no more examination.
func trace(ctx context.Context, d workload.Dataset, j *engine.Journal, answers []*answer, examined func(n int)) error {
	var expressions, others []*answer
	for _, a := range answers {
		if a.isPromQL() {
			expressions = append(expressions, a)
		} else {
			others = append(others, a)
		}
	}
	search := newStateSearch(j)
	for group := range slices.Chunk(expressions, traced) {
		if err := search.trace(ctx, d, group, examined); err != nil {
			return fmt.Errorf("looking for older states that match answers: %w", err)
		}
	}
	var unmatched []*answer
	for group := range slices.Chunk(others, traced) {
		left := group
		for _, order := range [][]written{byAcknowledgement(j), byStart(j)} {
			if err := traceIn(ctx, d, j, [][]written{order}, left); err != nil {
				return fmt.Errorf("looking for older states that match answers: %w", err)
			}
			left = slices.DeleteFunc(slices.Clone(left), func(a *answer) bool { return a.stale })
		}
		unmatched = append(unmatched, left...)
		examined(len(group) - len(left))
	}
	var orders [][]written
	wrong := map[int]bool{} // types
	for _, a := range unmatched {
		if !wrong[a.kind] { // otherwise the type is already withheld
			if orders == nil {
				orders = possible(j)
			}
			if err := traceIn(ctx, d, j, orders, []*answer{a}); err != nil {
				return fmt.Errorf("looking for states with partly visible batches that match answers: %w", err)
			}
			wrong[a.kind] = !a.stale
		}
		examined(1)
	}
	return nil
}

// written identifies a batch of a share.
type written struct{ share, number int }

func (w written) lookUp(j *engine.Journal) engine.Written { return j.Shares[w.share].Writes[w.number] }

// byAcknowledgement returns the acknowledged batches of all shares in order of acknowledgement.
func byAcknowledgement(j *engine.Journal) []written {
	return visible(j, func(w written) time.Duration { return w.lookUp(j).Acked })
}

// byStart returns the acknowledged batches in order of their start.
func byStart(j *engine.Journal) []written {
	return visible(j, func(w written) time.Duration { return w.lookUp(j).Begin })
}

// possible returns the batches in orders in which they may have become visible, each at a time
// between its start and its acknowledgement: a random time per batch, and in every second order the
// same fraction of the interval for all batches of a client. The orders are the same for the same
// journal. For five concurrent batches, ten orders can be needed to produce each subset; this many
// random orders miss one subset in a thousand.
func possible(j *engine.Journal) [][]written {
	orders := make([][]written, traced)
	for n := range orders {
		random := rand.New(rand.NewPCG(uint64(n), 0))
		times := map[written]time.Duration{}
		for share := range j.Shares {
			doubt := j.Shares[share].Uncertainty
			part := random.Float64()
			for number, w := range j.Shares[share].Writes {
				if n%2 == 1 {
					part = random.Float64()
				}
				from, to := w.Begin-doubt, w.Acked+doubt
				times[written{share, number}] = from + time.Duration(part*float64(to-from))
			}
		}
		orders[n] = visible(j, func(w written) time.Duration { return times[w] })
	}
	return orders
}

// visible returns the acknowledged batches of all shares in the order of a time.
func visible(j *engine.Journal, by func(written) time.Duration) []written {
	var order []written
	for share := range j.Shares {
		for number, w := range j.Shares[share].Writes {
			if w.Acked != engine.Never {
				order = append(order, written{share, number})
			}
		}
	}
	slices.SortStableFunc(order, func(a, b written) int { return cmp.Compare(by(a), by(b)) })
	return order
}

// tracer follows the states of the database in several orders at once.
type tracer struct {
	journal *engine.Journal
	answers []*answer
	paths   []path
	shares  []shareReader
	held    map[written]*heldBatch // batches that were read and not yet shown in all orders
	free    []*series.Batch
}

// path is the sequence of states in one order.
type path struct {
	growing *oracle.Growing
	matches []bool // whether each answer matches the current state
}

// heldBatch has the rows of a written batch.
type heldBatch struct {
	rows  []*series.Batch
	shown int // number of orders that have shown it
}

// shareReader reads the batches of a share again.
type shareReader struct {
	workload.Reader
	read int // batches
}

func traceIn(ctx context.Context, d workload.Dataset, j *engine.Journal, orders [][]written, answers []*answer) error {
	t := tracer{journal: j, answers: answers, paths: make([]path, len(orders)), held: map[written]*heldBatch{}}
	queries := make([]query.Query, len(answers))
	for i, a := range answers {
		queries[i] = a.Query
	}
	for n := range t.paths {
		growing, err := oracle.NewGrowing(d.Schema(), queries)
		if err != nil {
			return err
		}
		t.paths[n] = path{growing: growing, matches: make([]bool, len(answers))}
	}
	if err := t.open(d, func(b *series.Batch) {
		for n := range t.paths {
			t.paths[n].growing.Add(b)
		}
	}); err != nil {
		return err
	}
	for n := range t.paths {
		for i := range answers {
			t.paths[n].matches[i] = t.matches(n, i)
		}
	}
	// Orders differ only by concurrent batches, so advancing them together holds few batches.
	for step := range orders[0] {
		if err := ctx.Err(); err != nil {
			return err
		}
		for n := range orders {
			if err := t.show(n, orders[n][step]); err != nil {
				return err
			}
		}
	}
	return nil
}

// open opens the shares after the loaded rows. Each share skips these rows, and the first one passes
// them to a function.
func (t *tracer) open(d workload.Dataset, loaded func(*series.Batch)) error {
	for i := range t.journal.Shares {
		whole := d.Open()
		if err := t.readBatches(whole, t.journal.Loaded, func(b *series.Batch) {
			if i == 0 {
				loaded(b)
			}
			t.free = append(t.free, b)
		}); err != nil {
			return err
		}
		own := whole
		if leave := t.journal.Shares[i].Own; leave != nil {
			own = leave(whole)
		}
		t.shares = append(t.shares, shareReader{Reader: own})
	}
	return nil
}

// readBatches reads the next rows and passes them on in batches, which remain unchanged until they are
// returned to t.free.
func (t *tracer) readBatches(from workload.Reader, rows int64, visit func(*series.Batch)) error {
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

// show makes a batch visible in one of the orders. It holds earlier batches of its share that the
// order shows later: at most as many as were concurrent.
func (t *tracer) show(n int, w written) error {
	for share := &t.shares[w.share]; share.read <= w.number; share.read++ {
		read := &heldBatch{}
		of := written{w.share, share.read}
		if err := t.readBatches(share, of.lookUp(t.journal).Rows, func(b *series.Batch) { read.rows = append(read.rows, b) }); err != nil {
			return err
		}
		t.held[of] = read
	}
	held, changed := t.held[w], map[int]bool{}
	for _, b := range held.rows {
		for _, i := range t.paths[n].growing.Add(b) {
			changed[i] = true
		}
	}
	if held.shown++; held.shown == len(t.paths) {
		t.free = append(t.free, held.rows...)
		delete(t.held, w)
	}
	for i := range changed {
		t.compare(n, i, w)
	}
	return nil
}

// compare records whether an answer matches the current state, which a batch has just changed.
func (t *tracer) compare(n, i int, w written) {
	a, matched := t.answers[i], t.paths[n].matches[i]
	matches := t.matches(n, i)
	t.paths[n].matches[i] = matches
	if !matched || matches {
		return
	}
	delay := max(a.At-w.lookUp(t.journal).Acked, 0) // another client's clock may show a later time
	if a.stale {
		delay = min(delay, a.delay)
	}
	a.stale, a.delay = true, delay
}

// matches reports whether an answer matches the current state.
func (t *tracer) matches(n, i int) bool {
	a, growing := t.answers[i], t.paths[n].growing
	if rows := growing.Rows(i); a.Rows != rows || !a.inFull() {
		return a.Rows == rows
	}
	x := growing.Expectation(i)
	return a.differs(&x) == ""
}
