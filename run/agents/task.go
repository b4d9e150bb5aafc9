package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/engine/pace"
)

// task is a command in execution on an agent.
type task struct {
	of      *membership
	phase   string
	command Command
	ctx     context.Context
	stop    context.CancelCauseFunc
	start   chan int64    // has the common start time, by the agent's clock
	ended   chan struct{} // closed when the work has ended

	progress    atomic.Int64
	began, skew atomic.Int64

	sharing sync.Mutex
	values  map[string]int64
	fresh   bool      // a value was not sent yet
	sent    time.Time // time of the last sent values
	later   *time.Timer

	file *os.File // of the result; nil: nothing was written
	err  error    // of writing it
}

func newTask(m *membership, o order) *task {
	t := &task{of: m, phase: o.Phase, command: o.Command, start: make(chan int64, 1), ended: make(chan struct{}), values: map[string]int64{}}
	t.ctx, t.stop = context.WithCancelCause(m.ctx)
	return t
}

// execute does the work and sends its result.
func (t *task) execute() {
	m := t.of
	err := m.work.Do(t.ctx, t.command, t)
	close(t.ended)
	t.send(true)
	d := done{Command: t.command.ID, Began: t.began.Load(), Skew: t.skew.Load()}
	err = errors.Join(err, t.err)
	if t.file != nil {
		size, failed := t.deliver()
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("delivering the result: %w", failed))
		}
		d.Size = size
	}
	if err != nil {
		d.Error = err.Error()
	}
	t.stop(nil)
	m.mu.Lock()
	m.task = nil // the next command may arrive before the answer
	m.mu.Unlock()
	m.reportOutcome(d)
}

// deliver sends the result to the server, and returns its size; 0: it was not sent.
func (t *task) deliver() (size int64, err error) {
	defer os.Remove(t.file.Name())
	if size, err = t.file.Seek(0, io.SeekCurrent); err != nil || t.err != nil {
		return 0, errors.Join(err, t.file.Close())
	}
	if err := t.file.Close(); err != nil {
		return 0, err
	}
	ctx := t.ctx
	if ctx.Err() != nil { // it was stopped, and its progress is still useful
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(t.of.ctx, t.of.welcome.Timing.Stop/2)
		defer cancel()
	}
	if err := t.of.put(ctx, t.command.ID, t.file.Name(), size); err != nil {
		return 0, err
	}
	return size, nil
}

// Ready implements Task.
func (t *task) Ready(ctx context.Context) (time.Time, error) {
	if !t.command.StartsTogether {
		t.began.Store(t.of.agent.Now().UnixNano())
		return time.Now(), nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unhook := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	defer unhook()
	m := t.of
	answered := make(chan error, 1)
	go func() {
		answered <- request(ctx, m.control, subjectOf(readySubject, m.welcome.Coordinator, m.id), about{Command: t.command.ID}, 2*m.welcome.Timing.Beat)
	}()
	var at time.Time
	for at.IsZero() {
		select {
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		case err := <-answered:
			if err != nil {
				return time.Time{}, err
			}
			answered = nil
		case local := <-t.start: // the message arrived, though its answer may have been late
			at = time.Unix(0, local)
		}
	}
	now := m.agent.Now()
	instant := time.Now().Add(at.Sub(now))
	pacer, err := pace.NewPacer(instant)
	if err != nil {
		return time.Time{}, err
	}
	defer pacer.Close()
	if _, err := pacer.Wait(ctx, 0); err != nil {
		return time.Time{}, context.Cause(ctx)
	}
	skew := time.Since(instant)
	t.began.Store(at.Add(skew).UnixNano())
	t.skew.Store(int64(skew))
	return instant, nil
}

// Progress implements Task.
func (t *task) Progress(done int64) { t.progress.Store(done) }

// Share implements Task.
func (t *task) Share(name string, value int64) {
	t.sharing.Lock()
	defer t.sharing.Unlock()
	if last, ok := t.values[name]; ok && value <= last {
		return
	}
	t.values[name] = value
	t.fresh = true
	if t.later == nil {
		t.later = time.AfterFunc(max(0, t.of.welcome.Timing.Share-time.Since(t.sent)), func() { t.send(false) })
	}
}

// send sends the shared values; again includes values that were already sent.
func (t *task) send(again bool) {
	t.sharing.Lock()
	defer t.sharing.Unlock()
	if t.later != nil {
		t.later.Stop()
		t.later = nil
	}
	if len(t.values) == 0 || !again && !t.fresh {
		return
	}
	t.fresh, t.sent = false, time.Now()
	t.of.send(shareSubject, shares{t.command.ID, maps.Clone(t.values)})
}

// Minimum implements Task.
func (t *task) Minimum(name string) (int64, bool) {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	v, ok := t.of.least[t.phase][name]
	return v, ok
}

// Write implements Task.
func (t *task) Write(p []byte) (n int, err error) {
	if t.file == nil && t.err == nil {
		t.file, t.err = resultFile(t.of.agent.Dir)
	}
	if t.err != nil {
		return 0, fmt.Errorf("keeping the result: %w", t.err)
	}
	n, t.err = t.file.Write(p)
	return n, t.err
}
