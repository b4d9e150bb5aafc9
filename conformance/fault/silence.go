package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/tsmark/tsmark/conformance/wire"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// opened is a target that holds a batch, with the worker that a demand needs.
type opened struct {
	db      driver.DB      // with short limits
	plain   driver.DB      // the same without
	writer  driver.Writer  // nil: none
	reader  driver.Querier // nil: none
	schema  *series.Schema
	batch   *series.Batch
	request driver.Request
}

// demand is an operation of tsmark on a target.
type demand struct {
	name string
	do   func(context.Context, *opened) error
	by   worker
}

// worker is the kind of worker that makes a demand.
type worker uint8

const (
	byNone worker = iota
	byWriter
	byReader
)

// steps returns the steps after a load that the target has.
func (f *faults) steps() []driver.Step {
	options, err := f.options(nil)
	if err != nil {
		return nil // which opening it says
	}
	return f.Driver.Caps(options).Steps
}

// demands are all operations on a target except opening it, in the order of a
// run.
func (f *faults) demands() []demand {
	all := []demand{
		{name: "describing", do: func(ctx context.Context, o *opened) error { _, err := o.db.Describe(ctx); return err }},
		{name: "reading the mark", do: func(ctx context.Context, o *opened) error { _, err := session.New(o.db).Mark(ctx); return err }},
		{name: "preparing", do: func(ctx context.Context, o *opened) error {
			return session.New(o.db).Prepare(ctx, o.schema, session.Mark{Tool: "test"})
		}},
		{name: "writing the mark", do: func(ctx context.Context, o *opened) error {
			return session.New(o.db).SetMark(ctx, session.Mark{Tool: "test"})
		}},
		{name: "connecting a writer", do: func(ctx context.Context, o *opened) error {
			w, err := o.db.NewWriter(ctx, 1)
			if err == nil {
				err = w.Close()
			}
			return err
		}},
		{name: "writing", do: func(ctx context.Context, o *opened) error { _, err := o.writer.Write(ctx, o.batch); return err }, by: byWriter},
		{name: "flushing", do: func(ctx context.Context, o *opened) error { _, err := o.writer.Flush(ctx); return err }, by: byWriter},
		{name: "settling", do: func(ctx context.Context, o *opened) error { return o.db.Settle(ctx) }},
		{name: "counting", do: func(ctx context.Context, o *opened) error { _, err := o.db.Census(ctx, o.schema.Tables[0]); return err }},
		{name: "measuring the size", do: func(ctx context.Context, o *opened) error { _, err := o.db.Footprint(ctx); return err }},
		{name: "writing out its memory", do: func(ctx context.Context, o *opened) error {
			if o.db.FlushMemory == nil {
				return nil
			}
			return o.db.FlushMemory(ctx)
		}},
		{name: "reading its own figures", do: func(ctx context.Context, o *opened) error {
			if o.db.ReadMetrics == nil {
				return nil
			}
			_, err := o.db.ReadMetrics(ctx)
			return err
		}},
		{name: "listing what others left", do: func(ctx context.Context, o *opened) error {
			_, err := session.New(o.db).Existing(ctx, o.schema)
			return err
		}},
		{name: "connecting a querier", do: func(ctx context.Context, o *opened) error {
			q, err := o.db.NewQuerier(ctx, 1)
			if err == nil {
				err = q.Close()
			}
			return err
		}},
		{name: "a query", do: func(ctx context.Context, o *opened) error { _, err := o.reader.Do(ctx, o.request, nil); return err }, by: byReader},
	}
	for i, s := range f.steps() {
		all = append(all, demand{name: s.Name, do: func(ctx context.Context, o *opened) error {
			if o.db.Steps == nil {
				return nil
			}
			return o.db.Steps[i].Do(ctx)
		}})
	}
	return all
}

// hush is the time that the suite allows a silent server: a limit, and the time of the
// interrupt otherwise.
const (
	hush        = 500 * time.Millisecond
	interrupted = 200 * time.Millisecond
)

// silences: an operation on a server that falls silent ends within its limit, and
// promptly when it is interrupted; and the target works again once the server does.
func (f *faults) silences(ctx context.Context) error {
	flow := wire.NewFlow()
	through, wires, err := f.newWires(flow)
	defer func() {
		for _, w := range wires {
			w.Close()
		}
	}()
	if err != nil {
		return err
	}
	maps.Copy(through, f.shortTimeout()) // of writers
	again := func() {                    // the server answers again, but only on new connections
		flow.Quiet.Store(-1)
		for _, w := range wires {
			w.Cut()
		}
	}
	for _, s := range f.demands() {
		answers, err := f.answerOf(ctx, s, through, flow)
		if err != nil {
			return fmt.Errorf("%s, where the server answers: %w", s.name, err)
		}
		if answers == 0 {
			f.log("%s: sends no request to the server", s.name)
			continue
		}
		for _, trial := range []struct {
			share int64 // of the answers that comes, in percent
			cut   bool  // it is interrupted before its limit
		}{{0, false}, {50, false}, {0, true}} {
			o, err := f.arrange(ctx, s.by, through, f.limits(trial.cut))
			if err != nil {
				return fmt.Errorf("%s: before: %w", s.name, err)
			}
			flow.Quiet.Store(answers * trial.share / 100)
			err = f.runSilenced(ctx, s, o, trial.cut)
			o.closeWorker() // it only has to end
			again()
			if err == nil {
				if _, err = session.New(o.plain).Mark(ctx); errors.Is(err, session.ErrNoMark) || errors.Is(err, driver.ErrExisting) {
					err = nil // it was changing it
				}
			}
			if closed := o.plain.Close(); err == nil {
				err = closed
			}
			if err != nil {
				return fmt.Errorf("%s, after %d %% of the answer: %w", s.name, trial.share, err)
			}
		}
	}
	return f.hushedEnds(ctx, through, flow, again)
}

// answerOf returns the number of bytes that the server answers in a step.
func (f *faults) answerOf(ctx context.Context, s demand, through map[string]string, flow *wire.Flow) (int64, error) {
	o, err := f.arrange(ctx, s.by, through, f.limits(false))
	if err != nil {
		return 0, err
	}
	defer o.close()
	before := flow.Answered.Load()
	o.db = o.plain // it may take its time
	err = s.do(ctx, o)
	return flow.Answered.Load() - before, err
}

// runSilenced does a step of a server that has fallen silent, or is about to, and
// holds it to its end.
func (f *faults) runSilenced(ctx context.Context, s demand, o *opened, cut bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if cut {
		time.AfterFunc(interrupted, cancel)
	}
	begin := time.Now()
	err := s.do(ctx, o)
	return f.hushEnded(err, time.Since(begin), cut)
}

// hushEnded judges the end of an operation on a silent server.
func (f *faults) hushEnded(err error, took time.Duration, cut bool) error {
	switch {
	case err == nil:
		return errors.New("the server fell silent, and there is no error")
	case strings.Contains(err.Error(), "it does not return after it was cancelled"):
		return fmt.Errorf("after %v: %w", took, err)
	case took > f.patience():
		return fmt.Errorf("it took %v: %w", took, err)
	case cut && !errors.Is(err, context.Canceled):
		return fmt.Errorf("it was interrupted, and says %w", err)
	case cut:
		return nil
	}
	return f.clear(err, isSilence)
}

// hushedEnds does the operations that have no target yet, or will have none.
func (f *faults) hushedEnds(ctx context.Context, through map[string]string, flow *wire.Flow, again func()) error {
	plain := f.Driver
	defer func() { f.Driver = plain }()
	for _, cut := range []bool{false, true} {
		f.Driver = limit.Driver(plain, f.limits(cut))
		flow.Quiet.Store(0)
		err := f.runSilenced(ctx, demand{name: "opening", do: func(ctx context.Context, _ *opened) error {
			db, err := f.open(ctx, through)
			if err == nil {
				_ = db.Close()
			}
			return err
		}}, nil, cut)
		again()
		if err != nil {
			return fmt.Errorf("opening: %w", err)
		}
	}
	f.Driver = plain
	o, err := f.arrange(ctx, byReader, through, f.limits(false))
	if err != nil {
		return err
	}
	flow.Quiet.Store(0)
	begin := time.Now()
	o.close() // closing without a farewell is allowed
	again()
	if took := time.Since(begin); took > f.patience() {
		return fmt.Errorf("closing took %v", took)
	}
	return nil
}

// close closes all.
func (o *opened) close() {
	o.closeWorker()
	_ = o.db.Close()
}

func (o *opened) closeWorker() {
	if o.writer != nil {
		_ = o.writer.Close()
	}
	if o.reader != nil {
		_ = o.reader.Close()
	}
}

// limits are those of a target once it is arranged, which may take its time. A target
// that will be interrupted has long ones, which end later even on a busy machine.
func (f *faults) limits(cut bool) limit.Limits {
	if cut {
		return limit.Limits{Statement: 4 * f.patience(), Step: 4 * f.patience()}
	}
	return limit.Limits{Statement: hush, Step: hush}
}

// arrange opens the target and has it hold a batch, and opens a worker.
func (f *faults) arrange(ctx context.Context, by worker, through map[string]string, l limit.Limits) (*opened, error) {
	d, _, err := f.rows()
	if err != nil {
		return nil, err
	}
	requests, err := f.requests()
	if err != nil {
		return nil, err
	}
	o := &opened{schema: d.Schema(), batch: new(series.Batch), request: requests[0]}
	if err := d.Open().Next(o.batch, f.batchSize()); err != nil {
		return nil, err
	}
	db, err := f.open(ctx, through)
	if err != nil {
		return nil, err
	}
	o.plain, o.db = db, limit.Target(db, l)
	if err := o.arrange(ctx, by, limit.Limits{Statement: f.patience(), Step: l.Step}); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// arrange fills the target and opens the worker, which may take a busy machine some
// time; a reader's queries still have the short limit.
func (o *opened) arrange(ctx context.Context, by worker, reading limit.Limits) error {
	db := o.plain
	if err := session.New(db).Prepare(ctx, o.schema, session.Mark{Tool: "test"}); err != nil {
		return err
	}
	w, err := db.NewWriter(ctx, 0)
	if err != nil {
		return err
	}
	_, err = w.Write(ctx, o.batch)
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	switch by {
	case byWriter:
		o.writer, err = db.NewWriter(ctx, 0)
	case byReader:
		o.reader, err = limit.Target(db, reading).NewQuerier(ctx, 0)
	}
	return err
}
