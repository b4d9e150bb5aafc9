//go:build !linux

package process

import (
	"context"
	"fmt"
	"slices"

	"github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
)

// Table returns all processes.
func Table(ctx context.Context) ([]Info, error) {
	procs, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	table := make([]Info, 0, len(procs))
	for _, p := range procs {
		if info, err := infoOf(ctx, p); err == nil { // else it has gone meanwhile
			table = append(table, info)
		}
	}
	return table, nil
}

func lookup(ctx context.Context, pid int) (Info, error) {
	p, err := process.NewProcessWithContext(ctx, int32(pid))
	if err != nil {
		return Info{}, err
	}
	return infoOf(ctx, p)
}

func infoOf(ctx context.Context, p *process.Process) (Info, error) {
	parent, err := p.PpidWithContext(ctx)
	if err != nil {
		return Info{}, err
	}
	started, err := p.CreateTimeWithContext(ctx)
	if err != nil {
		return Info{}, err
	}
	status, _ := p.StatusWithContext(ctx)
	return Info{
		PID: int(p.Pid), Parent: int(parent), Group: groupOf(int(p.Pid)), Started: started,
		Ended: slices.Contains(status, process.Zombie),
	}, nil
}

// listeners returns the processes with a TCP socket that listens on the port, and whether any such
// socket exists.
func listeners(ctx context.Context, port int) (pids []int, listened bool, err error) {
	sockets, err := net.ConnectionsWithContext(ctx, "tcp")
	if err != nil {
		return nil, false, err
	}
	for _, s := range sockets {
		if s.Status != "LISTEN" || s.Laddr.Port != uint32(port) {
			continue
		}
		listened = true
		if s.Pid > 0 {
			pids = append(pids, int(s.Pid))
		}
	}
	return pids, listened, nil
}

// stopped reports whether a process is stopped by a signal, or has ended. Threads are not examined
// here.
func stopped(pid int) bool {
	status, err := (&process.Process{Pid: int32(pid)}).Status()
	return err != nil || !slices.ContainsFunc(status, func(s string) bool { return s != process.Stop && s != process.Zombie })
}
