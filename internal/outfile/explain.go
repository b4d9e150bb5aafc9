package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tsmark/tsmark/internal/infile"
)

// explain turns an error of the system into one line that says what could not be written and how to
// fix it. It returns nil for nil.
func explain(name string, err error) error {
	if err == nil {
		return nil
	}
	// The path in a *PathError may be a temporary one.
	cause := err
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		cause = path.Err
	case errors.As(err, &link):
		cause = link.Err
	}
	return fmt.Errorf("cannot write %s: %w%s", name, cause, remedy(name, cause))
}

// remedy returns advice about the error, as the end of a message.
func remedy(name string, err error) string {
	dir := filepath.Dir(name)
	switch {
	case errors.Is(err, errNotFolder):
		return "; choose another name"
	case errors.Is(err, errNotEmpty):
		return "; choose another name, or empty it first"
	case errors.Is(err, syscall.EISDIR):
		return "; give the name of a file, in it or elsewhere"
	case errors.Is(err, syscall.ENOTDIR):
		return "; a part of the path is a file: choose another folder"
	case errors.Is(err, fs.ErrNotExist) && infile.IsURL(name):
		return "; it is a URL, and tsmark writes files: name a file, and upload it afterwards"
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("; create the folder %s first, or choose another", dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("; choose a folder that you may write to, or change the permissions of %s", dir)
	case errors.Is(err, syscall.EROFS):
		return "; choose a folder on another file system"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "; free space there, or choose another file system"
	case errors.Is(err, syscall.ELOOP):
		return "; fix the link, or choose another name"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "; choose a shorter name"
	case errors.Is(err, syscall.EPIPE):
		return "; the program that reads it has ended"
	}
	return ""
}
