package process

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/process"
)

// ByPort returns the processes that listen on TCP ports of this machine,
// without the children that merely inherited the socket. One that listens on two of
// the ports is there once.
func ByPort(ctx context.Context, ports ...int) ([]int, error) {
	var all []int
	for _, port := range ports {
		pids, err := byPort(ctx, port)
		if err != nil {
			return nil, err
		}
		all = append(all, pids...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func byPort(ctx context.Context, port int) ([]int, error) {
	pids, listened, err := listeners(ctx, port)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot find who listens on port %d: %w", port, err)
	case !listened:
		return nil, fmt.Errorf("nothing listens on port %d of this machine", port)
	case len(pids) == 0:
		return nil, fmt.Errorf("cannot see which process listens on port %d: run tsmark as that server's user or as root", port)
	}
	table, err := Table(ctx)
	if err != nil {
		return nil, err
	}
	pids = topmost(table, pids)
	for _, pid := range pids {
		// Docker's forwarder is not the server.
		if nameOf(ctx, int32(pid)) == "docker-proxy" {
			return nil, fmt.Errorf("port %d leads into a container, whose processes are not measured: start the server without one", port)
		}
	}
	return pids, nil
}

// nameOf returns the name of a process's program; empty: it cannot be read.
func nameOf(ctx context.Context, pid int32) string {
	p := process.Process{Pid: pid}
	name, _ := p.NameWithContext(ctx)
	return strings.TrimSuffix(filepath.Base(name), ".exe")
}

// pidsOf returns the numbers of processes that have not ended.
func pidsOf(infos []Info) []int {
	var pids []int
	for _, p := range infos {
		if !p.Ended {
			pids = append(pids, p.PID)
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}
