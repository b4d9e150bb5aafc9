//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// pauseWithin is how long processes may take to stand still: a thread within a
// system call, such as a write to a slow disk, goes on to its end.
const pauseWithin = 30 * time.Second

// Pause holds the server and its children where they are: they keep their
// memory and their connections, and use no processor until Continue. It returns
// when all their threads stand still. A server that was only attached to can be
// paused too; whoever paused it must see that it goes on.
func (p *Process) Pause(ctx context.Context) error {
	if err := p.signalAll(ctx, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("cannot pause process %d: %w", p.info.PID, err)
	}
	limit, cancel := context.WithTimeout(ctx, pauseWithin)
	defer cancel()
	for !p.isPaused(limit) {
		if !sleep(limit, time.Millisecond) {
			return fmt.Errorf("cannot pause process %d: %w", p.info.PID, errors.Join(errors.New("some of its threads go on"), ctx.Err()))
		}
	}
	return nil
}

// isPaused reports whether no thread of the server's processes runs.
func (p *Process) isPaused(ctx context.Context) bool {
	for _, m := range p.members(ctx, nil) {
		if !stopped(m.PID) {
			return false
		}
	}
	return true
}

// Continue lets a paused server go on. One that is not paused takes no notice.
func (p *Process) Continue(ctx context.Context) error {
	if err := p.signalAll(ctx, syscall.SIGCONT); err != nil {
		return fmt.Errorf("cannot let process %d go on: %w", p.info.PID, err)
	}
	return nil
}

// signalAll signals the group at once and then whoever left it.
func (p *Process) signalAll(ctx context.Context, signal os.Signal) error {
	if !p.Running(ctx) {
		return errors.New("it has ended")
	}
	var problem error
	if p.group > 1 {
		problem = signalTo(-p.group, signal)
	}
	for _, m := range p.members(ctx, nil) {
		if p.group > 1 && m.Group == p.group {
			continue
		}
		if err := signalTo(m.PID, signal); err != nil {
			problem = err
		}
	}
	return problem
}
