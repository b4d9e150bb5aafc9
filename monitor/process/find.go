package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/process"
)

// ByPort returns the processes that listen on a TCP port of this machine,
// without the children that merely inherited the socket.
func ByPort(ctx context.Context, port int) ([]int, error) {
	pids, listened, err := listeners(ctx, port)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot find who listens on port %d: %w", port, err)
	case !listened:
		return nil, fmt.Errorf("nothing listens on port %d of this machine", port)
	case len(pids) == 0:
		return nil, fmt.Errorf("cannot see which process listens on port %d: run tsmark as that server's user or as root, or name the process or container", port)
	}
	table, err := Table(ctx)
	if err != nil {
		return nil, err
	}
	pids = topmost(table, pids)
	for _, pid := range pids {
		// Docker's forwarder is not the server.
		if nameOf(ctx, int32(pid)) == "docker-proxy" {
			return nil, fmt.Errorf("port %d leads into a container: name the container", port)
		}
	}
	return pids, nil
}

// ByName returns the processes whose program has this name, tsmark itself left
// out, without those that descend from another of them.
func ByName(ctx context.Context, name string) ([]int, error) {
	all, err := process.PidsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	var pids []int
	for _, pid := range all {
		if int(pid) != os.Getpid() && nameOf(ctx, pid) == name {
			pids = append(pids, int(pid))
		}
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("no process named %q runs on this machine", name)
	}
	table, err := Table(ctx)
	if err != nil {
		return nil, err
	}
	return topmost(table, pids), nil
}

// nameOf returns the name of a process's program; empty: it cannot be read.
func nameOf(ctx context.Context, pid int32) string {
	p := process.Process{Pid: pid}
	name, _ := p.NameWithContext(ctx)
	return strings.TrimSuffix(filepath.Base(name), ".exe")
}

// ByPIDFile returns the process whose number is the first line of a file, as
// servers write it. A number left over from a server that ended is an error.
func ByPIDFile(ctx context.Context, file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("cannot read the PID file: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("%s: its first line is not the number of a process", file)
	}
	if _, err := Lookup(ctx, pid); err != nil {
		return 0, fmt.Errorf("%s names process %d, which does not run", file, pid)
	}
	return pid, nil
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
