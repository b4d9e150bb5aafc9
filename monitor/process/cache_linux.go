package process

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const canDrop = true

// dropAll drops the cache of the whole machine. Changed pages cannot be
// dropped, so they are written first.
func dropAll(dropFile string) error {
	f, err := os.OpenFile(dropFile, os.O_WRONLY, 0)
	if err != nil {
		return whyNot(err)
	}
	defer f.Close()
	unix.Sync()
	_, err = f.WriteString("3\n")
	return whyNot(err)
}

// whyNot removes the path from an error that is shown in a sentence.
func whyNot(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// dropFileCache writes a file's changed pages to disk and drops all its pages
// that no process maps. It needs no more than the right to read the file.
func dropFileCache(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return fmt.Errorf("cannot write %s out: %w", name, err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("cannot drop the pages of %s: %w", name, err)
	}
	return nil
}

// residentBytes returns how many bytes of a file are in the page cache, according to mincore. For
// files that the user may not write, kernels since 5.2 report all bytes.
func residentBytes(name string) (size, resident int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	// A window at a time, so that no file is too large.
	const window = 1 << 30
	page := int64(os.Getpagesize())
	pages := make([]byte, (min(info.Size(), window)+page-1)/page)
	for at := int64(0); at < info.Size(); at += window {
		length := min(window, info.Size()-at)
		present, err := presentPages(f, at, length, pages[:(length+page-1)/page])
		if err != nil {
			return 0, 0, fmt.Errorf("cannot see how much of %s is in memory: %w", name, err)
		}
		resident += min(present*page, length)
	}
	return info.Size(), resident, nil
}

// presentPages counts the pages of a part of a file that are in the page cache. It maps the file,
// which reads no data.
func presentPages(f *os.File, at, length int64, pages []byte) (int64, error) {
	mapped, err := unix.Mmap(int(f.Fd()), at, int(length), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	defer unix.Munmap(mapped)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(length), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		return 0, errno
	}
	var present int64
	for _, p := range pages {
		present += int64(p & 1)
	}
	return present, nil
}
