package suite

import "context"

// T is the part of *testing.T that the suite uses. Package certify has another implementation, for
// users without go test.
//
// A message "SUBJECT: n/a: REASON", or "n/a: REASON" for a whole check, names something that the
// system does not support. It is not a failure.
type T interface {
	Helper()
	Name() string
	// Context ends just before the functions of Cleanup are called.
	Context() context.Context
	// TempDir returns a new folder, which is removed after the check.
	TempDir() string
	Failed() bool
	Log(args ...any)
	Logf(format string, args ...any)
	Error(args ...any)
	Errorf(format string, args ...any)
	// Fatal, Fatalf, Skip and Skipf end the calling goroutine.
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
	Skipf(format string, args ...any)
}
