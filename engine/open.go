package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/result"
)

// OpenConfig configures an open loop of the queries of one type.
type OpenConfig struct {
	// In an open loop the burn-in is the first arrivals, including dropped ones. The time box ends
	// by intended starts: no arrival is due that long, or longer, after the first recorded one.
	QueryConfig
	Schedule pace.Schedule
	Count    int // arrivals, burn-in and dropped ones included; 0: until the time box or the schedule ends
	Queue    int // maximum number of arrivals that wait for a worker; 0: an arrival that finds all workers busy is dropped
}

// arrival is a query that is due.
type arrival struct {
	n   int
	due time.Duration // since origin
	lag time.Duration // delay of its release
}

// openLoop is a loop whose workers run the arrivals of a schedule.
type openLoop struct {
	*loop
	open    OpenConfig
	queue   chan arrival
	dropped *tally.Recorder
	waiting int64         // queue length at the last arrival
	behind  time.Duration // lag of the last arrival
}

// QueryOpen runs the queries in order, starting again after the last one, when the schedule says,
// however slow the answers are. Arrivals go into a queue that all workers share; arrivals that find
// the queue full are dropped and counted. Besides the service time, the result has the response
// time, from the intended start to the last byte of the answer: if the target stalls, so does every
// user who arrives in the meantime (Gil Tene, How NOT to Measure Latency: coordinated omission).
// Queries that wait when the schedule ends are still run. Errors and withheld results are those of
// Query.
func QueryOpen(ctx context.Context, cfg OpenConfig, t driver.DB, source Source, progress Progress) (*result.Queries, error) {
	o := openLoop{loop: newLoop(cfg.QueryConfig, cfg.Schedule.String(), source, progress), open: cfg, queue: make(chan arrival, cfg.Queue)}
	err := o.loadDue(ctx)
	if err == nil {
		err = o.run(ctx, t, o.work, nil, o.dispatch)
	}
	o.dropped.Close(o.tally)
	out, figuresErr := o.figures()
	out.Open.Queue, out.Open.Waiting = cfg.Queue, o.waiting
	out.Open.Saturated = saturation(out.Open, out.PerSecond, o.behind)
	return out, errors.Join(err, figuresErr)
}

// loadDue renders all queries that the schedule will run, since the schedule cannot wait for
// rendering.
func (o *openLoop) loadDue(ctx context.Context) error {
	if err := o.load(ctx, 0); err != nil || len(o.block) == o.count {
		return err
	}
	needed := 0
	for range o.dueTimes() {
		if needed++; needed == o.count {
			break
		}
	}
	if len(o.block) < needed {
		o.block = append(make([]Rendered, 0, needed), o.block...) // the next Render call overwrites the block
	}
	for len(o.block) < needed {
		more, err := o.source.Render(ctx, len(o.block))
		if err != nil {
			return fmt.Errorf("rendering queries: %w", err)
		}
		o.block = append(o.block, more[:min(len(more), needed-len(o.block))]...)
	}
	return nil
}

// dueTimes returns the times of this share's arrivals, burn-in included, within count, schedule and
// time box.
func (o *openLoop) dueTimes() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		n, start := 0, time.Duration(0)
		for due := range o.open.Schedule.Arrivals() {
			if o.open.Count > 0 && n >= o.open.Count {
				return
			}
			if n == o.burnIn {
				start = due
			}
			if n >= o.burnIn && o.cfg.TimeBox > 0 && due-start >= o.cfg.TimeBox {
				return
			}
			if o.cfg.Share.Has(n) && !yield(due) {
				return
			}
			n++
		}
	}
}

// work runs the queries of the queue until it is closed and empty.
func (o *openLoop) work(ctx context.Context, w *worker) error {
	for a := range o.queue {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.query(ctx, a.n, &a); err != nil {
			return err
		}
	}
	return nil
}

// dispatch puts arrivals into the queue when they are due.
func (o *openLoop) dispatch(ctx context.Context) error {
	defer close(o.queue)
	if o.count == 0 {
		return nil
	}
	o.dropped = o.tally.Recorder(o.cfg.Log, o.cfg.Workers, o.origin) // has its own worker number
	err := release(ctx, o.origin, o.dueTimes(), o.queue, func(a arrival, taken bool) {
		if !taken {
			o.dropped.Add(&oplog.Op{
				Outcome: oplog.Dropped, BurnIn: a.n < o.cfg.BurnIn, Sequence: int64(o.place(a.n)),
				Query: int64(o.source.ID(a.n % o.count)), Start: a.due + a.lag, Intended: a.due, Lag: a.lag,
			})
		}
		if a.n >= o.cfg.BurnIn {
			o.behind = a.lag
		}
	})
	if err != nil {
		return err
	}
	o.waiting = int64(len(o.queue))
	return nil
}

// release puts arrivals into a queue when they are due, relative to start, and calls each with
// whether the queue had room.
func release(ctx context.Context, start time.Time, due iter.Seq[time.Duration], queue chan<- arrival, each func(a arrival, taken bool)) error {
	pacer, err := pace.NewPacer(start)
	if err != nil {
		return err
	}
	defer pacer.Close()
	n := 0
	for at := range due {
		lag, err := pacer.Wait(ctx, at)
		if err != nil {
			return err
		}
		a := arrival{n, at, lag}
		select {
		case queue <- a:
			each(a, true)
		default:
			each(a, false)
		}
		n++
	}
	return nil
}

// A schedule was not kept if arrivals were dropped, or if at the end more than this share of all
// arrivals, and more than a few, had not been started. The achieved rate is then below the
// scheduled one by as much, and more time would only have made the queue longer.
const (
	backlogShare = 0.05
	backlogFew   = 5
)

// saturation describes how a schedule was not kept; empty: it was kept.
func saturation(o *result.OpenLoop, perSecond float64, behind time.Duration) string {
	late := int64(behind.Seconds() * o.Offered) // due, and not even released
	if o.Dropped == 0 && float64(o.Waiting+late) <= max(backlogFew, backlogShare*float64(o.Arrivals)) {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "saturated: %s/s done of %s/s scheduled", rateText(perSecond), rateText(o.Offered))
	if o.Dropped > 0 {
		fmt.Fprintf(&text, ", %s %s dropped", humanize.Comma(o.Dropped), english.PluralWord(int(o.Dropped), "arrival", ""))
	}
	if o.Waiting > 0 {
		fmt.Fprintf(&text, ", %s waiting at the end", humanize.Comma(o.Waiting))
	}
	if late > 0 {
		fmt.Fprintf(&text, ", the client itself %v behind the schedule", behind.Round(time.Microsecond))
	}
	return text.String()
}

// rateText formats operations per second, rounded to three digits or to a whole number.
func rateText(perSecond float64) string {
	if perSecond <= 0 {
		return "0"
	}
	scale := math.Pow(10, max(0, 2-math.Floor(math.Log10(perSecond))))
	return humanize.Commaf(math.Round(perSecond*scale) / scale)
}
