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

// pauseWithin is the time limit for processes to stop: a thread within a system call, such as a
// write to a slow disk, finishes it first.
const pauseWithin = 30 * time.Second

// Pause stops the server and its children: they keep their memory and connections, and use no
// processor until Continue. It returns when all their threads have stopped. An attached server can
// be paused too; the caller must make sure that it continues.
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

// signalAll signals the group and then all processes that left it.
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
