package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Table returns all processes. It takes about 10 µs for each.
func Table(ctx context.Context) ([]Info, error) {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	table := make([]Info, 0, len(procs))
	for _, p := range procs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if info, err := lookup(ctx, p.PID); err == nil { // else it has gone meanwhile
			table = append(table, info)
		}
	}
	return table, nil
}

// lookup reads the kernel's line about a process: PID (NAME) STATE PARENT GROUP …, with the start as
// field 22. Package procfs scans all 52 fields, which takes most of its time.
func lookup(_ context.Context, pid int) (Info, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Info{}, err
	}
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:])) // the name may contain anything
	if len(fields) < 20 {
		return Info{}, fmt.Errorf("/proc/%d/stat has only %d fields after the name", pid, len(fields))
	}
	parent, badParent := strconv.Atoi(fields[1])
	group, badGroup := strconv.Atoi(fields[2])
	started, badStart := strconv.ParseInt(fields[19], 10, 64)
	return Info{PID: pid, Parent: parent, Group: group, Started: started, Ended: fields[0] == "Z" || fields[0] == "X"},
		errors.Join(badParent, badGroup, badStart)
}

// stopped reports whether all threads of a process are stopped by a signal, or it
// has gone.
func stopped(pid int) bool {
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return true
	}
	for _, t := range threads {
		stat, err := t.Stat()
		if err != nil {
			continue // it has ended meanwhile
		}
		switch stat.State {
		case "T", "Z", "X":
		default:
			return false
		}
	}
	return true
}

// listeners returns the processes with a TCP socket that listens on the port, and whether any such
// socket exists.
func listeners(ctx context.Context, port int) (pids []int, listened bool, err error) {
	sockets := map[string]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, readErr := os.ReadFile(file)
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) { // no IPv6
			return nil, false, readErr
		}
		for _, inode := range listening(string(table), port) {
			sockets["socket:["+inode+"]"] = true
		}
	}
	if len(sockets) == 0 {
		return nil, false, nil
	}
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, true, err
	}
	for _, p := range procs {
		if err := ctx.Err(); err != nil {
			return nil, true, err
		}
		targets, _ := p.FileDescriptorTargets() // fails for processes of others
		if slices.ContainsFunc(targets, func(t string) bool { return sockets[t] }) {
			pids = append(pids, p.PID)
		}
	}
	return pids, true, nil
}

// listening returns the inodes of the sockets in the state LISTEN (0A) at a
// port. Each line behind the first of the kernel's table holds number, local
// and remote address:port in hexadecimal, state, five more fields and the inode
// (proc_net_tcp in the kernel's documentation).
func listening(table string, port int) []string {
	var inodes []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) > 9 && fields[3] == "0A" && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
			inodes = append(inodes, fields[9])
		}
	}
	return inodes
}
