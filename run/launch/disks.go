package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tsmark/tsmark/internal/powerloss"
	"github.com/tsmark/tsmark/run/plan"
)

// disks are the disks of a run that crashes its targets. Nil: the run crashes nothing.
type disks struct {
	wanted   bool                       // the power shall fail
	byTarget map[string]*powerloss.Disk // in use
	none     error                      // why this machine has none; nil: not known yet, or it has
}

// ForCrashes says that the run crashes its targets, before the first of them is opened. With power, the files of servers
// that tsmark starts and of embedded databases are on disks whose power can fail, if the machine can have them.
func (s *Servers) ForCrashes(power bool) {
	s.disks = &disks{wanted: power, byTarget: make(map[string]*powerloss.Disk)}
}

// Folder returns the folder for the files of an embedded database, whose target has the folder dir: on a disk, or dir.
func (s Servers) Folder(ctx context.Context, planned *plan.Target, dir string) (string, error) {
	if !planned.Caps.Embedded || pathOf(planned) != "" {
		return dir, nil
	}
	return s.disks.folder(ctx, planned.Name, dir, dir)
}

// pathOf returns the file that the user has chosen for an embedded database; empty: none.
func pathOf(planned *plan.Target) string { return planned.Options["path"] }

// folder returns the folder of a target's disk, which it makes in the folder dir; by default, the other folder.
func (d *disks) folder(ctx context.Context, target, dir, other string) (string, error) {
	if d == nil || !d.wanted || d.none != nil {
		return other, nil
	}
	disk := d.byTarget[target]
	if disk == nil {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return "", fmt.Errorf("%w: making the folder of a disk: %w", plan.ErrInput, err)
		}
		var err error
		if disk, err = NewDisk(ctx, dir); errors.Is(err, powerloss.ErrUnavailable) {
			d.none = err
			return other, nil
		} else if err != nil {
			return "", err
		}
		d.byTarget[target] = disk
	}
	return disk.Dir, nil
}

// remove removes the disks with all files. No process may use them.
func (d *disks) remove(ctx context.Context) error {
	if d == nil {
		return nil
	}
	var problems []error
	for _, target := range slices.Sorted(maps.Keys(d.byTarget)) {
		if err := d.byTarget[target].Remove(ctx); err != nil {
			problems = append(problems, fmt.Errorf("removing the disk of target %s: %w", target, err))
			continue
		}
		_ = os.Remove(filepath.Dir(d.byTarget[target].Dir)) // unless it has the log of a server
		delete(d.byTarget, target)
	}
	return errors.Join(problems...)
}

// diskSize is the size of a disk in bytes. It takes only the space of its files.
const diskSize = 16 << 30

// NewDisk makes a disk in a folder. Before, it removes the disks that killed processes left on this machine, with
// the servers that use them. Its error wraps powerloss.ErrUnavailable if the machine can have no disk.
func NewDisk(ctx context.Context, folder string) (*powerloss.Disk, error) {
	stale, err := powerloss.Stale()
	if err != nil {
		return nil, err
	}
	for _, disk := range stale {
		err := stopLeftOver(ctx, filepath.Join(filepath.Dir(disk.Dir), pidFile))
		if err == nil {
			err = disk.Remove(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: a killed tsmark left the disk %s; end the processes that use it, which fuser -m lists, and run umount on it: %w", plan.ErrInput, disk.Dir, err)
		}
	}
	return powerloss.New(ctx, folder, diskSize)
}
