package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// Folder is a new folder being filled, which appears under its name only when
// all of its files are whole. It is used by one goroutine.
type Folder struct {
	name  string // as the user wrote it, for messages
	final string // final name of the temporary folder
	temp  string
	files []*File
	// ours checks the existing file or folder of that name: its error says why it may not be
	// replaced. Nil: only an empty folder may be replaced.
	ours func(dir string) error
	done bool
}

// CreateFolder creates the named folder, under a temporary name in the same parent folder. An
// existing folder must be empty: Commit replaces it.
//
// Errors are one line that says how to fix it.
func CreateFolder(name string) (*Folder, error) {
	f := &Folder{name: name}
	if err := f.open(); err != nil {
		return nil, explain(name, err)
	}
	return f, nil
}

// ReplaceFolder is CreateFolder for a folder that may contain files: Commit puts the new folder in
// its place, and removes the old one. ours is called with the path of the existing folder, before
// anything is written and again before it is replaced. Its error, one line that says how to fix it,
// prevents the replacement.
func ReplaceFolder(name string, ours func(dir string) error) (*Folder, error) {
	f := &Folder{name: name, ours: ours}
	if err := f.open(); err != nil {
		return nil, explain(name, err)
	}
	return f, nil
}

func (f *Folder) open() error {
	final, named, err := destination(filepath.Clean(f.name))
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o777)
	info, err := os.Stat(final)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.IsDir() || !named:
		return errNotFolder
	default:
		mode = info.Mode().Perm()
		if err := f.replaceable(final); err != nil {
			return err
		}
	}
	if f.final, err = filepath.Abs(final); err != nil { // "." has no name to rename to
		return err
	}
	dir, base := filepath.Split(f.final)
	for {
		f.temp = fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
		if err := os.Mkdir(f.temp, mode); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// replaceable returns why the folder may not be replaced; nil: it may.
func (f *Folder) replaceable(dir string) error {
	err := empty(dir)
	if errors.Is(err, errNotEmpty) && f.ours != nil {
		return f.ours(dir)
	}
	return err
}

// The reasons not to replace an existing file or folder.
var (
	errNotFolder = errors.New("it is not a folder")
	errNotEmpty  = errors.New("the folder is not empty")
)

// empty returns an error if the folder contains anything.
func empty(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := d.Readdirnames(1); err == nil {
		return errNotEmpty
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// Create begins a file in the folder. It is finished and closed with the
// folder. The name has no path.
func (f *Folder) Create(name string) (io.Writer, error) {
	shown := filepath.Join(f.name, name)
	if name != filepath.Base(name) || name == "." || name == ".." {
		return nil, explain(shown, syscall.EINVAL)
	}
	temp := filepath.Join(f.temp, name)
	out, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, explain(shown, err)
	}
	// The file has its name already: it is the folder that is renamed.
	file := &File{name: shown, final: temp, f: out, w: out}
	f.files = append(f.files, file)
	return file, nil
}

// WriteBytes writes a file of the folder or of its subfolders, which it creates: the name has
// slashes. It closes the file at once, unlike Create, so that there may be any number of files.
func (f *Folder) WriteBytes(name string, data []byte) error {
	shown := filepath.Join(f.name, filepath.FromSlash(name))
	if !fs.ValidPath(name) || name == "." {
		return explain(shown, syscall.EINVAL)
	}
	temp := filepath.Join(f.temp, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(temp), 0o777); err != nil {
		return explain(shown, err)
	}
	return explain(shown, os.WriteFile(temp, data, 0o666))
}

// Commit finishes the files and gives the folder its name once they are safely on disk. If that
// fails, or a Write failed before, it returns the first error and leaves the previous file or
// folder of that name in place.
func (f *Folder) Commit() error {
	if f.done {
		return nil
	}
	if err := f.commit(); err != nil {
		f.Discard()
		return err
	}
	f.done = true
	return nil
}

func (f *Folder) commit() error {
	for _, file := range f.files {
		if err := file.Commit(); err != nil {
			return err
		}
	}
	if f.ours != nil && !errors.Is(empty(f.final), fs.ErrNotExist) {
		return explain(f.name, f.replace())
	}
	// Rename does not replace an existing folder, and Rmdir only removes an empty one.
	switch err := syscall.Rmdir(f.final); {
	case err == nil, errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, syscall.ENOTDIR):
		return explain(f.name, errNotFolder)
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist):
		return explain(f.name, errNotEmpty)
	default:
		return explain(f.name, err)
	}
	return explain(f.name, os.Rename(f.temp, f.final))
}

// replace puts the folder in the place of the existing one, which it removes. Between two renames,
// readers briefly find no folder.
func (f *Folder) replace() error {
	old := f.temp + ".old"
	if err := os.Rename(f.final, old); err != nil {
		return err
	}
	// Under another name, no process adds files after the check.
	err := f.replaceable(old)
	if err == nil {
		err = os.Rename(f.temp, f.final)
	}
	if err != nil {
		return errors.Join(err, os.Rename(old, f.final))
	}
	return os.RemoveAll(old)
}

// Discard ends the writing and removes the temporary folder. After Commit it
// does nothing, so that it can be deferred.
func (f *Folder) Discard() {
	if f.done {
		return
	}
	f.done = true
	// Errors are ignored: the caller fails already, or gives up.
	for _, file := range f.files {
		file.Discard()
	}
	_ = os.RemoveAll(f.temp)
}
