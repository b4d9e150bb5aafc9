// Package infile makes one-line errors for user-provided files that cannot be read, with the
// problem and how to fix it.
package infile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Unreadable returns the error of a file that cannot be read: its name once, the problem, and how
// to fix it if known. It wraps err.
func Unreadable(name string, err error) error { return Cannot("read", name, err) }

// Cannot is Unreadable of something else that is done with a file: "import".
func Cannot(do, name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if fix := remedy(name, err); fix != "" {
		return fmt.Errorf("cannot %s %s: %w; %s", do, name, err, fix)
	}
	return fmt.Errorf("cannot %s %s: %w", do, name, err)
}

// IsURL reports whether a name that should be a file's is a URL, whatever its scheme.
func IsURL(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, `/\`)
}

// remedy says how to fix an error; empty: nobody knows.
func remedy(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist) && IsURL(name):
		return "it is a URL, and tsmark reads files: download it first"
	case errors.Is(err, fs.ErrNotExist):
		if folder, failed := os.Getwd(); failed == nil && !filepath.IsAbs(name) {
			return "give its right name; it was looked for from " + folder + " on"
		}
		return "give its right name"
	case errors.Is(err, fs.ErrPermission):
		return "let this user read it, as by chmod or chown, or run tsmark as its owner"
	case errors.Is(err, syscall.EISDIR):
		return "give the name of a file in it"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of the name is a file and no folder: give its right name"
	}
	return ""
}
