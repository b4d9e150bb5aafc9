// Package outfile writes files and folders that appear under their names only when they are
// complete.
//
// A program whose standard output may be a pipe should call signal.Ignore(syscall.SIGPIPE).
// Otherwise Go ends it when the reader has gone; with the call, a File returns an error that wraps
// syscall.EPIPE.
package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"github.com/gofrs/flock"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/internal/scratch"
)

// File is an output being written. It is used by one goroutine.
type File struct {
	name   string // as the user wrote it, for messages
	final  string // what the temporary file becomes; empty: f is written in place
	f      *os.File
	held   *flock.Flock   // says that this process writes the temporary file; may be nil
	keep   bool           // f is not ours to close
	w      io.Writer      // what Write writes to: f or a compressor
	finish []func() error // passes on what the layers between w and f hold back
	err    error          // the first one of Write
	done   bool
}

// Create creates the named file. A name that ends in .gz or .zst selects compression. The empty
// name and "-" stand for standard output.
//
// A regular file is written under a temporary name in the same folder, the folder of the link's
// target if the name is a symbolic link, and Commit replaces an existing file. A file that is not
// regular (a device, a named pipe) is written in place; opening a named pipe waits for its reader.
//
// Errors are one line that says how to fix it.
func Create(name string) (*File, error) {
	if name == "" || name == "-" || name == "/dev/stdout" {
		return &File{name: "standard output", f: os.Stdout, keep: true, w: os.Stdout}, nil
	}
	if ext := filepath.Ext(name); slices.Contains([]string{".bz2", ".xz", ".lz4", ".br", ".zip", ".7z", ".lzma", ".sz", ".Z"}, ext) {
		return nil, fmt.Errorf("cannot write %s: tsmark compresses as .gz or .zst, not as %s", name, ext)
	}
	f := &File{name: name}
	if err := f.open(); err != nil {
		return nil, explain(name, err)
	}
	if err := f.compress(); err != nil {
		f.Discard()
		return nil, explain(name, err)
	}
	return f, nil
}

// open opens f.f: the temporary file, or the named one if that cannot be replaced.
func (f *File) open() error {
	final, named, err := destination(f.name)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	info, err := os.Stat(final)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if os.IsPathSeparator(f.name[len(f.name)-1]) {
			return syscall.EISDIR
		}
	case err != nil:
		return err
	case info.IsDir():
		return syscall.EISDIR
	default:
		existing, err := os.OpenFile(final, os.O_WRONLY, 0)
		if err != nil {
			return err // even where a rename could replace it: its owner protected it
		}
		if !named || !info.Mode().IsRegular() {
			f.f, f.w = existing, existing
			return nil
		}
		if err := existing.Close(); err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	f.final = final
	f.f, f.held, err = createTemp(final, mode)
	f.w = f.f
	return err
}

// createTemp creates a hidden file in the folder of the final one. Unlike os.CreateTemp it sets the
// permissions of the final file. The file is locked for RemoveLeftovers if the file system supports
// locks.
func createTemp(final string, mode fs.FileMode) (*os.File, *flock.Flock, error) {
	dir, base := filepath.Split(final)
	for {
		temp := fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		held, err := scratch.TryLock(temp, os.O_WRONLY)
		if held != nil || err != nil {
			return f, held, nil
		}
		_ = f.Close() // RemoveLeftovers of another process was quicker, and removes it
	}
}

// unlock releases the lock of createTemp, if there is one.
func unlock(held *flock.Flock) {
	if held != nil {
		_ = held.Unlock()
	}
}

// temporary matches the names that createTemp gives.
var temporary = regexp.MustCompile(`^\..+\.[0-9a-f]{8}\.tmp$`)

// RemoveLeftovers removes the temporary files of this package in a folder whose processes have
// ended. It skips files that it cannot lock or remove.
func RemoveLeftovers(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() && temporary.MatchString(entry.Name()) {
			scratch.RemoveUnlocked(filepath.Join(dir, entry.Name()))
		}
	}
}

// destination follows symbolic links, to a file that need not exist. It
// reports whether the path is the file's name: links below /proc and /dev/fd
// stand for an open file, which may have none.
func destination(path string) (_ string, named bool, _ error) {
	for range 40 { // as many as Linux follows
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, true, nil // opening returns the error
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", false, err
		}
		if !filepath.IsAbs(link) {
			// Not Join, which takes "..", even behind a link, for a step back.
			link = filepath.Dir(path) + string(filepath.Separator) + link
		}
		if followed, err := os.Stat(path); err == nil {
			if direct, err := os.Stat(link); err != nil || !os.SameFile(followed, direct) {
				return path, false, nil
			}
		}
		path = link
	}
	return "", false, syscall.ELOOP
}

// compress puts a compressor before f.f if the name selects one.
func (f *File) compress() error {
	var open func(io.Writer) (io.WriteCloser, error)
	switch filepath.Ext(f.name) {
	case ".gz":
		open = func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }
	case ".zst":
		open = func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }
	default:
		return nil
	}
	// Compressors write in small pieces.
	buffer := bufio.NewWriterSize(f.f, 256<<10)
	c, err := open(buffer)
	if err != nil {
		return err
	}
	f.w = c
	f.finish = []func() error{c.Close, buffer.Flush}
	return nil
}

// Write implements io.Writer. Uncompressed data is not buffered, so callers should write large
// pieces: 64 KiB or more. After an error the file cannot be committed.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		err = explain(f.name, err)
		if f.err == nil {
			f.err = err
		}
	}
	return n, err
}

// Commit finishes the file and gives it its name once it is safely on disk. If that fails, or a
// Write failed before, it returns the first error and leaves the previous file of that name in
// place.
func (f *File) Commit() error {
	if f.done {
		return nil
	}
	err := f.err
	if err == nil {
		err = f.commit()
	}
	if err != nil {
		f.Discard()
		return err
	}
	f.done = true
	return nil
}

func (f *File) commit() error {
	for _, finish := range f.finish {
		if err := finish(); err != nil {
			return explain(f.name, err)
		}
	}
	if f.keep {
		return nil
	}
	if f.final == "" {
		return explain(f.name, f.f.Close())
	}
	if err := f.f.Sync(); err != nil {
		return explain(f.name, err)
	}
	if err := f.f.Close(); err != nil {
		return explain(f.name, err)
	}
	defer unlock(f.held)
	return explain(f.name, os.Rename(f.f.Name(), f.final))
}

// Discard ends the writing and removes the temporary file. After Commit it
// does nothing, so that it can be deferred.
func (f *File) Discard() {
	if f.done {
		return
	}
	f.done = true
	if f.keep {
		return
	}
	// Errors are ignored: the caller fails already, or gives up.
	_ = f.f.Close()
	if f.final != "" {
		_ = os.Remove(f.f.Name())
		unlock(f.held)
	}
}
