package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// newEvents returns the results of events that have not begun.
func newEvents(planned []experiment.Event) []result.LifeEvent {
	list := make([]result.LifeEvent, len(planned))
	for i, v := range planned {
		list[i] = result.LifeEvent{Do: v.Do, What: v.Do, Due: v.At.Seconds(), DiskBefore: -1, DiskAfter: -1, DiskLeast: -1, WrittenBytes: -1, BacklogBefore: -1, BacklogMost: -1, BacklogBack: -1}
	}
	return list
}

// happen lets the events happen, one after the other, each when it is due. An event that fails is
// the last one: the rows of the target are then unknown.
func (l *life) happen(ctx context.Context) error {
	for i := range l.cfg.Events {
		e := &l.out.Events[i]
		select {
		case <-time.After(l.cfg.Events[i].At - l.now()):
		case <-l.phase.Written:
		case <-ctx.Done():
			return ctx.Err()
		}
		if l.hasEnded() {
			e.Unsupported = "the life ended before it"
			continue
		}
		ended := l.cfg.Announce(e.Do)
		err := l.event(ctx, i)
		switch {
		case ctx.Err() != nil:
			ended(ctx.Err().Error(), true)
			return ctx.Err()
		case errors.Is(err, query.ErrUnsupported):
			e.Unsupported = strings.TrimPrefix(err.Error(), query.ErrUnsupported.Error()+": ")
			ended("n/a: "+e.Unsupported, false)
		case err != nil:
			e.Failed = err.Error()
			ended(e.Failed, true)
			for rest := i + 1; rest < len(l.out.Events); rest++ {
				l.out.Events[rest].Unsupported = "the event " + e.Do + " failed before"
			}
			return nil
		default:
			ended(fmt.Sprintf("%s: %.3g s", e.What, e.End-e.Begin), false)
		}
	}
	return nil
}

func (l *life) event(ctx context.Context, i int) error {
	v, e := &l.cfg.Events[i], &l.out.Events[i]
	step, isStep := strings.CutPrefix(v.Do, experiment.StepPrefix)
	switch {
	case isStep:
		return l.step(ctx, e, step)
	case v.Do == experiment.EventBackfill:
		return l.backfill(ctx, i)
	case v.Do == experiment.EventLate:
		return l.late(ctx, i)
	case v.Do == experiment.EventCorrect:
		return l.correct(ctx, i)
	case v.Do == experiment.EventDelete:
		return l.deleteTenant(ctx, i)
	case v.Do == experiment.EventDrop:
		return l.drop(ctx, i)
	case v.Do == experiment.EventDownsample:
		return l.downsample(ctx, e)
	case v.Do == experiment.EventGrow:
		return l.grow(ctx, e)
	}
	return l.restart(ctx, e)
}

// newUnsupported returns the error of an event that the target cannot have.
func newUnsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", query.ErrUnsupported, fmt.Sprintf(format, args...))
}

// measure measures what happens: an event that changes no rows.
func (l *life) measure(ctx context.Context, e *result.LifeEvent, do func(context.Context) error) error {
	e.DiskBefore, e.BacklogBefore = l.size(ctx), l.backlog(ctx)
	written := l.cfg.WrittenBytes()
	l.figures.begin(l.now(), e)
	err := do(ctx)
	l.figures.end(l.now())
	if after := l.cfg.WrittenBytes(); after >= written && written >= 0 {
		e.WrittenBytes = after - written
	}
	e.DiskAfter = l.size(ctx)
	return err
}

// change measures an event that leads to another state, which edit makes of the present one once
// the event has happened without an error. After an error queries may show either state for ever.
func (l *life) change(ctx context.Context, i int, edit func(*state), do func(context.Context) error) error {
	return l.measure(ctx, &l.out.Events[i], func(ctx context.Context) error {
		l.mu.Lock()
		last := l.states[len(l.states)-1]
		next := state{slices.Clone(last.absent), slices.Clone(last.fixed)}
		l.changes, l.states = append(l.changes, change{event: i, begin: l.now(), end: never}), append(l.states, next)
		l.mu.Unlock()
		err := do(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		none := errors.Is(err, query.ErrUnsupported) // then nothing has changed
		if !none {
			edit(&l.states[len(l.states)-1])
		}
		if none || err == nil {
			l.changes[len(l.changes)-1].end = l.now()
		}
		return err
	})
}

// write writes rows over a connection of its own, and waits until the last one is visible; if it is corrected, until its
// new value is.
func (l *life) write(ctx context.Context, d *rows, i int) (err error) {
	c := l.cfg.Base.LoadConfig
	c.Workers, c.BatchSize, c.Owner, c.InOrder, c.Visible = 1, l.cfg.BatchSize, nil, 0, engine.Visibility{}
	c.Log, c.Start, c.Acked, c.Pulse, c.Period = nil, nil, nil, nil, 0
	if l.cfg.EventLog != nil {
		if c.Log, err = l.cfg.EventLog(i + 1); err != nil {
			return err
		}
	}
	last := &lastOf{rows: d}
	found, err := engine.Send(ctx, c, last, l.cfg.DB, func(int) {})
	l.out.Events[i].Rows, l.out.Events[i].Retries = found.Rows, found.Retries
	if err != nil || !last.known {
		return err
	}
	k := looker{life: l, schema: l.present()}
	defer k.close()
	return k.awaitWritten(ctx, last.row, time.Minute)
}

// present returns the schema of the rows that are written now.
func (l *life) present() *series.Schema {
	if l.growth != nil {
		return l.growth.schema
	}
	return l.schema
}

// lastOf is a dataset that remembers the last row of its pass.
type lastOf struct {
	*rows
	row   oracle.Row
	known bool
}

// Open implements workload.Dataset.
func (d *lastOf) Open() workload.Reader { return &lastReader{d.rows.Open(), d} }

type lastReader struct {
	workload.Reader
	of *lastOf
}

// Next implements workload.Reader.
func (r *lastReader) Next(b *series.Batch, max int) error {
	err := r.Reader.Next(b, max)
	if row, ok := lastRow(b, len(r.of.fixed) > 0); ok {
		r.of.row, r.of.known = row, true
	}
	return err
}

// backfill writes the oldest rows, which the load left out.
func (l *life) backfill(ctx context.Context, i int) error {
	e := &l.out.Events[i]
	if l.cfg.Caps.InOrder > 0 {
		return newUnsupported("rows must arrive in order of their times")
	}
	if l.cfg.Backfill == 0 {
		return newUnsupported("too few rows precede the life")
	}
	e.What = "backfill of the oldest rows"
	last := l.states[len(l.states)-1]
	d := &rows{Dataset: l.cfg.Dataset, growth: l.growth, to: l.cfg.Backfill, fixed: last.fixed, keep: func(n int64, run *series.Run, row int) bool {
		return !anyHas(last.absent[1:], n, run, row) // deleted rows stay away
	}}
	return l.change(ctx, i, func(s *state) { s.absent = s.absent[1:] }, func(ctx context.Context) error { return l.write(ctx, d, i) })
}

// late lets some series send nothing for a while, and then everything at once.
func (l *life) late(ctx context.Context, i int) error {
	v, e := &l.cfg.Events[i], &l.out.Events[i]
	if l.cfg.Caps.InOrder > 0 {
		return newUnsupported("rows must arrive in order of their times")
	}
	of, n := chooseShare(l.schema, v.ShareOf(), i, func(id uint32) bool { return !l.isGone(id) })
	if n == 0 {
		return newUnsupported("earlier events have taken all series")
	}
	pause := v.For
	if pause == 0 {
		pause = experiment.DefaultFor
	}
	e.What = fmt.Sprintf("late rows: %d series sent nothing for %s, and then everything", n, experiment.DurationText(pause))
	missing := l.leaveOut(&absence{to: always, before: always, of: of})
	select {
	case <-time.After(pause):
	case <-l.phase.Written:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	missing.to = l.next
	to, handed := l.next, l.handed
	l.mu.Unlock()
	to, err := l.awaitPlace(ctx, to, handed)
	if err != nil {
		return err
	}
	l.mu.Lock()
	missing.to = to
	l.mu.Unlock()
	d := &rows{Dataset: l.cfg.Dataset, growth: l.growth, from: missing.from, to: missing.to, keep: missing.has}
	return l.change(ctx, i, func(s *state) {
		s.absent = slices.DeleteFunc(s.absent, func(a *absence) bool { return a == missing })
	}, func(ctx context.Context) error { return l.write(ctx, d, i) })
}

// leaveOut has the base leave out rows of some series from now on. No state has them: no query that
// ran before covers them.
func (l *life) leaveOut(a *absence) *absence {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.from = l.next
	l.never = append(l.never, a)
	for i := range l.states {
		l.states[i].absent = append(l.states[i].absent, a)
	}
	return a
}

// correct replaces the values of all rows of some series.
func (l *life) correct(ctx context.Context, i int) error {
	v, e, way := &l.cfg.Events[i], &l.out.Events[i], &l.cfg.Caps.Changes.Correct
	if way.By == "" {
		return newUnsupported("%s", orUnknown(way.Reason))
	}
	of, n := chooseShare(l.schema, v.ShareOf(), i, func(id uint32) bool { return !l.isGone(id) })
	if n == 0 {
		return newUnsupported("earlier events have taken all series")
	}
	e.What = fmt.Sprintf("correction of all rows of %d series, by %s", n, way.By)
	l.mu.Lock()
	to, handed, last := l.next, l.handed, l.states[len(l.states)-1]
	l.mu.Unlock()
	to, err := l.awaitPlace(ctx, to, handed)
	if err != nil {
		return err
	}
	fix := &correction{to: to, of: of}
	fixed := append(slices.Clone(last.fixed), fix)
	d := &rows{Dataset: l.cfg.Dataset, growth: l.growth, to: to, fixed: fixed, keep: func(n int64, run *series.Run, row int) bool {
		return fix.has(n, run, row) && !anyHas(last.absent, n, run, row)
	}}
	return l.change(ctx, i, func(s *state) { s.fixed = append(s.fixed, fix) }, func(ctx context.Context) error {
		if l.cfg.DB.Correct == nil {
			return l.write(ctx, d, i)
		}
		var b series.Batch
		for reader := d.Open(); ; {
			if err := reader.Next(&b, l.cfg.BatchSize); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if err := l.cfg.DB.Correct(ctx, &b); err != nil {
				return err
			}
			e.Rows += int64(b.Rows())
		}
	})
}

func orUnknown(reason string) string {
	if reason == "" {
		return "tsmark knows no way to do it with this system"
	}
	return reason
}

// deleteTenant removes the rows of all series with a tag. The base sends none of them any more.
func (l *life) deleteTenant(ctx context.Context, i int) error {
	v, e, way := &l.cfg.Events[i], &l.out.Events[i], &l.cfg.Caps.Changes.Delete
	if way.By == "" || l.cfg.DB.DeleteSeries == nil {
		return newUnsupported("%s", orUnknown(way.Reason))
	}
	tag, value := v.Tag, v.Value
	if tag == "" {
		table := l.schema.Tables[0]
		at := slices.IndexFunc(table.Tags, func(t series.Tag) bool { return !t.Numeric() })
		if at < 0 {
			return newUnsupported("table %s has no tag", table.Name)
		}
		span := l.schema.Range(table)
		text, _ := table.Tags[at].Values.Append(nil, span.First+(span.End-span.First)/2)
		tag, value = table.Tags[at].Key, string(text)
	}
	var tables []*series.Table
	for _, t := range l.present().Tables {
		if t.Tag(tag) != nil {
			tables = append(tables, t)
		}
	}
	of, n := chooseSeries(l.schema, func(id uint32) bool {
		return slices.ContainsFunc(tables, func(t *series.Table) bool {
			return l.schema.Range(t).Has(id) && hasTag(t, id, tag, value)
		})
	})
	if n == 0 {
		return newUnsupported("no series has %s=%s", tag, value)
	}
	e.What = fmt.Sprintf("deletion of %s=%s (%d series), by %s", tag, value, n, way.By)
	l.leaveOut(&absence{to: always, before: always, of: of, tag: tag, value: value})
	l.mu.Lock()
	handed := l.handed
	l.mu.Unlock()
	if err := l.awaitWritten(ctx, handed); err != nil {
		return err
	}
	gone := &absence{to: always, before: always, of: of, tag: tag, value: value}
	return l.change(ctx, i, func(s *state) { s.absent = append(s.absent, gone) }, func(ctx context.Context) error {
		for _, t := range tables {
			if err := l.cfg.DB.DeleteSeries(ctx, l.present(), t, tag, value); err != nil {
				return err
			}
		}
		return nil
	})
}

// drop removes the oldest rows.
func (l *life) drop(ctx context.Context, i int) error {
	v, e, way := &l.cfg.Events[i], &l.out.Events[i], &l.cfg.Caps.Changes.Drop
	if way.By == "" || l.cfg.DB.DropBefore == nil {
		return newUnsupported("%s", orUnknown(way.Reason))
	}
	start := l.cfg.Base.Start
	before := start.Add(time.Unix(0, l.phase.Watermark()).Sub(start) / 100 * time.Duration(v.ShareOf())).Truncate(time.Second)
	gone := &absence{to: always, before: start.UnixNano()}
	return l.change(ctx, i, func(s *state) { s.absent = append(s.absent, gone) }, func(ctx context.Context) error {
		upTo, err := l.cfg.DB.DropBefore(ctx, l.present(), before)
		if err == nil {
			gone.before = upTo.UnixNano()
			e.What = fmt.Sprintf("removal of rows before %s, by %s", upTo.UTC().Format(time.DateTime), way.By)
			if !upTo.After(start) {
				e.What = fmt.Sprintf("no partition was as old as %s: nothing was removed, by %s", before.UTC().Format(time.DateTime), way.By)
			}
		}
		return err
	})
}

// downsample makes an aggregate of all rows, as dashboards over long times need it.
func (l *life) downsample(ctx context.Context, e *result.LifeEvent) error {
	if l.cfg.DB.Materialize == nil {
		return newUnsupported("tsmark makes no continuous aggregates of this system")
	}
	m := &query.Materialized{Table: l.schema.Tables[0].Name, Bucket: time.Hour, Aggregates: []query.Aggregate{query.Avg, query.Max}}
	for _, f := range l.schema.Tables[0].Fields {
		if f.Type.Numeric() {
			m.Fields = append(m.Fields, f.Name)
		}
	}
	if len(m.Fields) == 0 {
		return newUnsupported("table %s has no numbers", m.Table)
	}
	planned, err := l.cfg.DB.PlanAggregate(l.schema, m)
	if err != nil {
		return err
	}
	e.What = fmt.Sprintf("aggregate %s of %d fields", m.Name(), len(m.Fields))
	return l.measure(ctx, e, func(ctx context.Context) error {
		return l.cfg.Extend(ctx, planned, func(ctx context.Context) error { return l.cfg.DB.Materialize(ctx, l.schema, m, false) })
	})
}

// step runs a step of the driver.
func (l *life) step(ctx context.Context, e *result.LifeEvent, name string) error {
	steps := l.cfg.DB.Steps
	at := slices.IndexFunc(steps, func(s driver.Step) bool { return s.Name == name })
	if at < 0 {
		var names []string
		for _, s := range steps {
			names = append(names, s.Name)
		}
		if len(names) == 0 {
			return newUnsupported("the driver has no steps")
		}
		return newUnsupported("the driver has no step %s; it has %s", name, strings.Join(names, ", "))
	}
	e.What = name + ": " + steps[at].Help
	return l.measure(ctx, e, steps[at].Do)
}

// restart stops the server and starts it. The base waits meanwhile, so that no row is sent twice,
// and then writes the rows that were due; the dashboards go on.
func (l *life) restart(ctx context.Context, e *result.LifeEvent) error {
	if l.cfg.Restart == nil {
		return newUnsupported("%s", l.cfg.NoRestart)
	}
	resume, err := l.pause(ctx)
	if err != nil {
		return err
	}
	defer resume()
	return l.measure(ctx, e, func(ctx context.Context) error {
		how, err := l.cfg.Restart(ctx)
		e.What = "restart of the server, " + how + "; writers wait meanwhile"
		return err
	})
}

// pausePatience is the time in which writers have to write the rows that the base has read: longer than any but a
// writer that keeps rows back until others arrive.
const pausePatience = time.Minute

// pause has the base stop writing, and returns once all rows that it has read are written. The base
// goes on after the first call of resume, or an error.
func (l *life) pause(ctx context.Context) (resume func(), err error) {
	gate := make(chan struct{})
	l.mu.Lock()
	l.gate = gate
	handed := l.handed
	l.mu.Unlock()
	resume = sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.gate = nil
		close(gate)
	})
	patient, cancel := context.WithTimeout(ctx, pausePatience)
	defer cancel()
	if err := l.awaitWritten(patient, handed); err != nil {
		resume()
		if ctx.Err() == nil {
			err = newUnsupported("its writers still kept rows back after %s without new ones", pausePatience)
		}
		return nil, err
	}
	return resume, nil
}
