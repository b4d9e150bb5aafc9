// Package process starts, finds, stops, kills and restarts the servers that a benchmark measures,
// and drops their files from the page cache. It is complete on Linux; on other systems process
// groups or dropping caches are not supported, and the functions say so.
package process

import (
	"context"
	"fmt"
	"slices"
)

// Info is one process of this machine.
type Info struct {
	PID, Parent int
	// Group is the process group; 0: the system has none.
	Group int
	// Started distinguishes processes that had the same PID one after the other. Its unit depends
	// on the system.
	Started int64
	// Ended: a zombie, which only waits for its parent to take notice.
	Ended bool
}

// Tree returns the existing roots and all their descendants, sorted, including ended ones. A
// descendant whose own parent is gone is not found.
func Tree(ctx context.Context, roots ...int) ([]Info, error) {
	table, err := Table(ctx)
	if err != nil {
		return nil, err
	}
	return tree(table, roots), nil
}

// tree picks the roots and their descendants from a table.
func tree(table []Info, roots []int) []Info {
	children := map[int][]int{}
	places := map[int]int{}
	for i, p := range table {
		children[p.Parent] = append(children[p.Parent], p.PID)
		places[p.PID] = i
	}
	var found []Info
	seen := map[int]bool{}
	for next := slices.Clone(roots); len(next) > 0; {
		pid := next[0]
		next = next[1:]
		place, exists := places[pid]
		if !exists || seen[pid] {
			continue
		}
		seen[pid] = true
		found = append(found, table[place])
		next = append(next, children[pid]...)
	}
	slices.SortFunc(found, func(a, b Info) int { return a.PID - b.PID })
	return found
}

// topmost returns the pids that do not descend from any other of them: if children inherit a
// server's socket, the server.
func topmost(table []Info, pids []int) []int {
	parents := map[int]int{}
	for _, p := range table {
		parents[p.PID] = p.Parent
	}
	var top []int
	for _, pid := range pids {
		above, steps := parents[pid], 0
		for above != 0 && !slices.Contains(pids, above) && steps < len(table) {
			above, steps = parents[above], steps+1
		}
		if !slices.Contains(pids, above) && !slices.Contains(top, pid) {
			top = append(top, pid)
		}
	}
	slices.Sort(top)
	return top
}

// Lookup returns a running process, or an error if it does not run.
func Lookup(ctx context.Context, pid int) (Info, error) {
	p, err := lookup(ctx, pid)
	if err != nil || p.Ended {
		return Info{}, fmt.Errorf("no process %d runs here", pid)
	}
	return p, nil
}
