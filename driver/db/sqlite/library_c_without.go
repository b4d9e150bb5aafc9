//go:build !cgo || light || !(linux || darwin)

package sqlite

import "errors"

// hasC reports whether this program holds the C library.
const hasC = false

func openC(string) (library, error) {
	return nil, errors.New("this tsmark was built without SQLite's C code; build again with CGO_ENABLED=1 and a C compiler, and without -tags light, on Linux or macOS, or take driver=go")
}
