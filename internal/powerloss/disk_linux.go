// Package powerloss simulates what a power failure does to files: writes that were not synced are gone.
//
// A Disk is an ext4 file system in an image file, mounted through a loop device. Its failure is the shutdown
// of the file system that xfstests uses to test recovery: from one moment on nothing reaches the image, not even
// the journal's last transaction, and the next mount recovers the journal as after a real failure.
// This holds for all ways of writing, mapped memory included. What the file system had written before, the image
// keeps: the disk's own cache counts as durable, and the kernel writes data on its own after about
// 30 seconds, so that only a failure sooner than that loses everything unsynced.
package powerloss

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/tsmark/tsmark/internal/scratch"
)

// Disk is a file system whose power can fail. Its methods are used by one goroutine at a time.
type Disk struct {
	// Dir is where it is mounted: a folder that holds nothing else.
	Dir   string
	image string
	// held locks the image as long as this process lives, so that others can tell that the disk is in use.
	held *flock.Flock
}

// Names of a disk in its folder. By them, and by the lock, a disk that a killed process left is known.
const (
	dirName   = "tsmark-disk"
	imageName = "tsmark-disk.ext4"
)

// ErrUnavailable is wrapped by New's error, with the reason, where this machine cannot simulate a power failure.
var ErrUnavailable = errors.New("a power failure cannot be simulated here")

// New makes a file system of size bytes, empty, in a folder that exists, and mounts it below that folder. It replaces a
// disk that a killed process left there. Space is taken as the files grow. It needs root, loop devices, and the commands
// mkfs.ext4 and mount.
func New(ctx context.Context, folder string, size int64) (*Disk, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: mounting a file system needs root", ErrUnavailable)
	}
	folder, err := filepath.Abs(folder)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder) // as the list of mounts has it
	}
	if err != nil {
		return nil, err
	}
	d := &Disk{Dir: filepath.Join(folder, dirName), image: filepath.Join(folder, imageName)}
	if d.held, err = scratch.TryLock(d.image, os.O_CREATE|os.O_RDWR); err != nil {
		return nil, err
	}
	if d.held == nil {
		return nil, fmt.Errorf("another process uses %s", d.image)
	}
	if d.mounted() {
		err = d.unmount(ctx)
	}
	if err == nil {
		err = errors.Join(os.Truncate(d.image, 0), os.Truncate(d.image, size), os.MkdirAll(d.Dir, 0o700))
	}
	if err != nil {
		return nil, errors.Join(err, d.Remove(context.WithoutCancel(ctx)))
	}
	// Without lazy initialization, so that the kernel does not write in the background.
	err = run(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", "-i", "65536", "-J", "size=16", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image)
	if err == nil {
		err = d.mount(ctx)
	}
	if err == nil { // some databases want an empty folder, and some run as another user
		err = errors.Join(os.Remove(filepath.Join(d.Dir, "lost+found")), os.Chmod(d.Dir, 0o755))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrUnavailable, err), d.Remove(context.WithoutCancel(ctx)))
	}
	return d, nil
}

// mountedDisks returns the options of the mounted disks of this machine, by their folders.
func mountedDisks() (map[string]string, error) {
	mounts, err := os.ReadFile("/proc/self/mounts") // device, folder, type and options of each, separated by spaces
	if err != nil {
		return nil, fmt.Errorf("listing mounted file systems: %w", err)
	}
	found := make(map[string]string)
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[2] != "ext4" || !strings.HasPrefix(fields[0], "/dev/loop") {
			continue
		}
		dir := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[1])
		if filepath.Base(dir) == dirName {
			found[dir] = fields[3]
		}
	}
	return found, nil
}

// Stale returns the disks of this machine that killed processes left mounted. The caller removes them.
func Stale() ([]*Disk, error) {
	mounted, err := mountedDisks()
	if err != nil {
		return nil, err
	}
	var found []*Disk
	for dir := range mounted {
		d := &Disk{Dir: dir, image: filepath.Join(filepath.Dir(dir), imageName)}
		if d.held, _ = scratch.TryLock(d.image, os.O_RDWR); d.held != nil { // else it is in use, or another user's
			found = append(found, d)
		}
	}
	return found, nil
}

// Sync writes everything to the image that the processes have not synced themselves.
func (d *Disk) Sync() error {
	f, err := os.Open(d.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// shutdown is EXT4_IOC_SHUTDOWN, which is also XFS_IOC_GOINGDOWN.
const shutdown = 0x8004587d

// noLogFlush makes a shutdown drop what the journal has not written.
const noLogFlush uint32 = 2

// Fail cuts the power: all later calls on the files fail. The processes that use the files still run; the caller
// kills them.
func (d *Disk) Fail() error {
	f, err := os.Open(d.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	flag := noLogFlush
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&flag))); errno != 0 {
		return fmt.Errorf("cutting the power of %s: %w", d.Dir, errno)
	}
	return nil
}

// Recover mounts the file system again after Fail. No process may use its files. A mount namespace that another process
// made meanwhile, such as a container's, also has the disk, which then cannot recover before that process has ended:
// Recover waits for a while.
func (d *Disk) Recover(ctx context.Context) error {
	for deadline := time.Now().Add(unmountPatience); ; {
		if d.mounted() {
			if err := d.unmount(ctx); err != nil {
				return err
			}
		}
		if err := d.mount(ctx); err != nil {
			return err
		}
		mounted, err := mountedDisks()
		switch {
		case err != nil:
			return err
		case !slices.Contains(strings.Split(mounted[d.Dir], ","), "shutdown"):
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%s stays without power: another mount namespace has it, of a container or of ip netns; end that, and run this again", d.Dir)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Remove deletes the file system with its files. No process may use them.
func (d *Disk) Remove(ctx context.Context) error {
	if d.mounted() {
		if err := d.unmount(ctx); err != nil {
			return err // and keep the image, which the mount still uses
		}
	}
	return d.remove()
}

func (d *Disk) mount(ctx context.Context) error {
	return run(ctx, "mount", "-t", "ext4", "-o", "loop,noatime", d.image, d.Dir)
}

// unmountPatience is how long the kernel may take to release the files of a process that was killed.
const unmountPatience = 10 * time.Second

func (d *Disk) unmount(ctx context.Context) error {
	for deadline := time.Now().Add(unmountPatience); ; {
		err := run(ctx, "umount", d.Dir)
		if err == nil || !strings.Contains(err.Error(), "busy") || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// mounted reports whether Dir is on another file system than the folder around it.
func (d *Disk) mounted() bool {
	var inside, outside unix.Stat_t
	return unix.Stat(d.Dir, &inside) == nil && unix.Stat(filepath.Dir(d.Dir), &outside) == nil && inside.Dev != outside.Dev
}

// remove deletes the image and the folder, which must be empty, and unlocks the disk.
func (d *Disk) remove() error {
	err := os.Remove(d.Dir)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(d.image), d.held.Unlock())
}

func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	if text := strings.TrimSpace(string(out)); text != "" {
		return fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return fmt.Errorf("%s: %w", name, err)
}
