package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// killWithin is the time limit for killed processes to disappear: the kernel first frees their
// memory, which can be many gigabytes.
const killWithin = 30 * time.Second

// Stop signals the server's first process to end, gives its children the rest of the grace period
// to follow, and then kills all remaining processes. The end of ctx also ends the grace period, so
// an impatient user leaves no process running. A paused server is resumed first. Stop returns nil
// if the server has ended already.
func (p *Process) Stop(ctx context.Context) error {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	// The clean-up itself must not be cut short.
	free := context.WithoutCancel(ctx)
	// Children that outlive their parent are found only if they are noted now.
	members := p.members(free, nil)
	grace, cancel := context.WithTimeout(ctx, orElse(p.command.Grace, 10*time.Second))
	defer cancel()
	signal := p.command.Signal
	if signal == nil {
		signal = terminate()
	}
	if p.Running(free) {
		if err := signalTo(p.info.PID, signal); err != nil {
			return fmt.Errorf("cannot stop process %d: %w", p.info.PID, err)
		}
		_ = p.Continue(free) // it may have ended by now, as it should
	}
	for p.Running(free) && sleep(grace, 10*time.Millisecond) {
	}
	members = p.members(free, members)
	for _, m := range members {
		if m.PID != p.info.PID {
			_ = signalTo(m.PID, signal) // if it is ignored, SIGKILL follows
		}
	}
	for len(members) > 0 && sleep(grace, 20*time.Millisecond) {
		members = p.members(free, members)
	}
	return p.kill(free, members)
}

// Kill kills the server and its children at once, as in a crash: nothing is flushed. It returns
// when they have ended.
func (p *Process) Kill() error {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	ctx := context.Background() // it is bounded by killWithin
	return p.kill(ctx, p.members(ctx, nil))
}

// killNow kills the first process and its group, if it has one, and waits for
// nothing.
func (p *Process) killNow() {
	if p.group != 0 {
		_ = killGroup(p.group)
	}
	_ = signalTo(p.info.PID, os.Kill)
}

// kill ends the members, and those they fork meanwhile.
func (p *Process) kill(ctx context.Context, members []Info) error {
	limit, cancel := context.WithTimeout(ctx, killWithin)
	defer cancel()
	var problem error
	for len(members) > 0 || p.Running(ctx) {
		if slices.ContainsFunc(members, func(m Info) bool { return p.group != 0 && m.Group == p.group }) {
			problem = killGroup(p.group)
		}
		for _, m := range members {
			if err := signalTo(m.PID, os.Kill); err != nil {
				problem = err
			}
		}
		if !sleep(limit, 5*time.Millisecond) {
			return errors.Join(fmt.Errorf("processes %v do not end", pidsOf(members)), problem)
		}
		members = p.members(ctx, members)
	}
	return p.memory.remove()
}

// members returns the server's processes that run: its group, its descendants,
// and those known before. Another process that took over the number of one that
// ended is not among them. Where processes cannot be listed it is the first
// one alone.
func (p *Process) members(ctx context.Context, known []Info) []Info {
	table, err := Table(ctx)
	if err != nil {
		if p.Running(ctx) {
			return []Info{p.info}
		}
		return nil
	}
	return membersIn(table, p.info, p.group, known)
}

// membersIn picks a server's processes from a table.
func membersIn(table []Info, first Info, group int, known []Info) []Info {
	started := map[int]int64{first.PID: first.Started}
	for _, k := range known {
		started[k.PID] = k.Started
	}
	isOther := func(m Info) bool {
		before, ok := started[m.PID]
		return ok && before != m.Started
	}
	isMember := map[int]bool{}
	if slices.ContainsFunc(table, func(m Info) bool { return m.PID == first.PID && isOther(m) }) {
		group = 0 // a number is reused only when its group is empty
	} else {
		for _, m := range tree(table, []int{first.PID}) {
			isMember[m.PID] = true
		}
	}
	for _, k := range known {
		isMember[k.PID] = true
	}
	var members []Info
	for _, m := range table {
		if m.Ended || m.PID == os.Getpid() || isOther(m) {
			continue
		}
		if isMember[m.PID] || group != 0 && m.Group == group {
			members = append(members, m)
		}
	}
	return members
}

// sleep waits for d and reports whether ctx is still active.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
