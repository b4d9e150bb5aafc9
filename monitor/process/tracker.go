package process

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// Tracker finds the descendants of processes repeatedly at little cost: it reads new processes, and
// all processes only so often that it takes half a percent of the time. The zero value is ready to
// use, by one goroutine.
type Tracker struct {
	known   map[int]Info
	refresh time.Time // when to read all processes again: numbers may have been reused
}

// Tree is like the function Tree, but that it may not know yet which processes
// have ended, and whether they wait for their parents.
func (t *Tracker) Tree(ctx context.Context, roots ...int) ([]Info, error) {
	table, err := t.Table(ctx)
	if err != nil {
		return nil, err
	}
	return tree(table, roots), nil
}

// Table is like the function Table, with the same reservations as Tree.
func (t *Tracker) Table(ctx context.Context) ([]Info, error) {
	var err error
	if time.Now().Before(t.refresh) {
		err = t.update(ctx)
	} else {
		err = t.readAll(ctx)
	}
	if err != nil {
		return nil, err
	}
	table := make([]Info, 0, len(t.known))
	for _, p := range t.known {
		table = append(table, p)
	}
	return table, nil
}

// readAll reads every process.
func (t *Tracker) readAll(ctx context.Context) error {
	begin := time.Now()
	table, err := Table(ctx)
	if err != nil {
		return err
	}
	t.known = make(map[int]Info, len(table))
	for _, p := range table {
		t.known[p.PID] = p
	}
	const share = 200
	t.refresh = time.Now().Add(share * time.Since(begin))
	return nil
}

// update removes processes that have ended and reads new ones.
func (t *Tracker) update(ctx context.Context) error {
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		return fmt.Errorf("cannot list processes: %w", err)
	}
	slices.Sort(pids)
	for pid := range t.known {
		if _, lives := slices.BinarySearch(pids, int32(pid)); !lives {
			delete(t.known, pid)
		}
	}
	for _, pid := range pids {
		if _, known := t.known[int(pid)]; known {
			continue
		}
		if p, err := lookup(ctx, int(pid)); err == nil { // else it has gone already
			t.known[p.PID] = p
		}
	}
	return nil
}
