// Package powerloss simulates what a power failure does to files: writes that were not synced are gone.
//
// A Disk is an ext4 file system in an image file, mounted through a loop device. The image is a file of a second
// such file system, whose page cache plays the disk's own volatile cache: a write is in it until the first file system
// flushes the disk, which syncs the image. The failure is the shutdown of both file systems, which xfstests uses to test
// recovery: from one moment on nothing is written, not even the journals' last transactions, and the next mounts
// recover the journals as after a real failure. This holds for all ways of writing, mapped memory and direct I/O
// included. The kernel writes both caches on its own, each after about 30 seconds, so that unsynced writes may
// survive a failure a minute later.
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
	cache string // where the file system that holds its image is mounted
	store string // the image of that file system
	// held locks the store as long as this process lives, so that others can tell that the disk is in use.
	held *flock.Flock
}

// Names of a disk in its folder. By them, and by the lock, a disk that a killed process left is known.
const (
	dirName   = "tsmark-disk"
	cacheName = "tsmark-disk.cache"
	storeName = "tsmark-disk.ext4"
)

// newDisk returns the disk of a folder, which need not exist yet.
func newDisk(folder string) *Disk {
	return &Disk{Dir: filepath.Join(folder, dirName), cache: filepath.Join(folder, cacheName), store: filepath.Join(folder, storeName)}
}

// image returns the file that holds the file system of Dir.
func (d *Disk) image() string { return filepath.Join(d.cache, "image") }

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
	d := newDisk(folder)
	if d.held, err = scratch.TryLock(d.store, os.O_CREATE|os.O_RDWR); err != nil {
		return nil, err
	}
	if d.held == nil {
		return nil, fmt.Errorf("another process uses %s", d.store)
	}
	if err = d.unmount(ctx); err == nil {
		err = errors.Join(os.MkdirAll(d.Dir, 0o700), os.MkdirAll(d.cache, 0o700))
	}
	if err != nil {
		return nil, errors.Join(err, d.Remove(context.WithoutCancel(ctx)))
	}
	if err = format(ctx, d.store, size+size/8); err == nil { // unused blocks take no space
		err = mount(ctx, d.store, d.cache)
	}
	if err == nil {
		err = format(ctx, d.image(), size)
	}
	if err == nil {
		err = mount(ctx, d.image(), d.Dir)
	}
	if err == nil { // some databases want an empty folder, and some run as another user
		err = errors.Join(os.Remove(filepath.Join(d.Dir, "lost+found")), os.Chmod(d.Dir, 0o755), d.Sync())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrUnavailable, err), d.Remove(context.WithoutCancel(ctx)))
	}
	return d, nil
}

// format makes an empty file system of size bytes in a file.
func format(ctx context.Context, image string, size int64) error {
	f, err := os.Create(image)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Close())
	}
	if err != nil {
		return err
	}
	// Without lazy initialization, so that the kernel does not write in the background.
	return run(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", "-i", "65536", "-J", "size=16", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
}

// mountedDisks returns the options of the mounted file systems of this machine's disks, by their folders.
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
		if base := filepath.Base(dir); base == dirName || base == cacheName {
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
		if filepath.Base(dir) != cacheName { // which is mounted first, and longest
			continue
		}
		d := newDisk(filepath.Dir(dir))
		if d.held, _ = scratch.TryLock(d.store, os.O_RDWR); d.held != nil { // else it is in use, or another user's
			found = append(found, d)
		}
	}
	return found, nil
}

// Sync makes everything durable that the processes have written, and not synced themselves.
func (d *Disk) Sync() error {
	return errors.Join(inFolder(d.Dir, unix.Syncfs), inFolder(d.cache, unix.Syncfs))
}

func inFolder(dir string, do func(fd int) error) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return do(int(f.Fd()))
}

// shutdown is EXT4_IOC_SHUTDOWN, which is also XFS_IOC_GOINGDOWN.
const shutdown = 0x8004587d

// noLogFlush makes a shutdown drop what the journal has not written.
const noLogFlush uint32 = 2

// Fail cuts the power: all later calls on the files fail. The processes that use the files still run; the caller
// kills them.
func (d *Disk) Fail() error {
	// The disk first: a journal that is shut down writes that to the disk, and flushes it.
	for _, dir := range []string{d.cache, d.Dir} {
		if err := inFolder(dir, func(fd int) error {
			flag := noLogFlush
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), shutdown, uintptr(unsafe.Pointer(&flag))); errno != 0 {
				return errno
			}
			return nil
		}); err != nil {
			return fmt.Errorf("cutting the power of %s: %w", dir, err)
		}
	}
	return nil
}

// Recover mounts the file systems again after Fail. No process may use the files. A mount namespace that another process
// made meanwhile, such as a container's, also has the disk, which then cannot recover before that process has ended:
// Recover waits for a while.
func (d *Disk) Recover(ctx context.Context) error {
	err := d.unmount(ctx)
	if isBusy(err) {
		return fmt.Errorf("%s stays without power: another process or mount namespace has it, such as that of a container or of ip netns; end that, and run this again: %w", d.Dir, err)
	}
	if err == nil {
		err = d.mount(ctx)
	}
	if err != nil {
		return err
	}
	mounted, err := mountedDisks()
	for _, dir := range []string{d.Dir, d.cache} {
		if slices.Contains(strings.Split(mounted[dir], ","), "shutdown") {
			return fmt.Errorf("%s stays without power, though it was unmounted", dir)
		}
	}
	return err
}

// Remove deletes the disk with its files. No process may use them.
func (d *Disk) Remove(ctx context.Context) error {
	if err := d.unmount(ctx); err != nil {
		return err // and keep the store, which the mounts still use
	}
	for _, dir := range []string{d.Dir, d.cache} {
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return errors.Join(os.Remove(d.store), d.held.Unlock())
}

// mount mounts both file systems.
func (d *Disk) mount(ctx context.Context) error {
	if err := mount(ctx, d.store, d.cache); err != nil {
		return err
	}
	return mount(ctx, d.image(), d.Dir)
}

func mount(ctx context.Context, image, dir string) error {
	return run(ctx, "mount", "-t", "ext4", "-o", "loop,noatime", image, dir)
}

// unmountPatience is how long the kernel may take to release the files of a process that was killed, or an image.
const unmountPatience = 10 * time.Second

// unmount unmounts the file systems that are mounted.
func (d *Disk) unmount(ctx context.Context) error {
	for _, dir := range []string{d.Dir, d.cache} {
		for deadline := time.Now().Add(unmountPatience); isMounted(dir); {
			err := run(ctx, "umount", dir)
			if err == nil {
				break
			}
			if !isBusy(err) || time.Now().After(deadline) {
				return err
			}
			select {
			case <-ctx.Done():
				return err
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

func isBusy(err error) bool { return err != nil && strings.Contains(err.Error(), "busy") }

// isMounted reports whether a folder is on another file system than the folder around it.
func isMounted(dir string) bool {
	var inside, outside unix.Stat_t
	return unix.Stat(dir, &inside) == nil && unix.Stat(filepath.Dir(dir), &outside) == nil && inside.Dev != outside.Dev
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
