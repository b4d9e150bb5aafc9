package sqlite

import (
	"fmt"
	"syscall"

	lib "modernc.org/sqlite/lib"

	"github.com/tsmark/tsmark/driver"
)

// failure is an error of SQLite's.
type failure struct {
	code    int32 // extended
	message string
}

func (f *failure) Error() string { return f.message }

// explain converts a result code, which is the same in both libraries, to an error. The error of a full
// disk wraps syscall.ENOSPC, and that of an unusable file wraps driver.ErrUnreachable.
func explain(code int32, message string) error {
	f := &failure{code: code, message: message}
	switch code & 0xff {
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w; free space there, or choose another file system (%w)", syscall.ENOSPC, f)
	case lib.SQLITE_BUSY:
		return fmt.Errorf("%w: another process uses it; end that process or give another path (%w)", driver.ErrUnreachable, f)
	case lib.SQLITE_CANTOPEN, lib.SQLITE_IOERR, lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return fmt.Errorf("%w: %w", driver.ErrUnreachable, f)
	case lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: it is no SQLite file; give another path", driver.ErrExisting)
	}
	return f
}
