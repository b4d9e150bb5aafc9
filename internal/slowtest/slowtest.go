// Package slowtest keeps a plain go test ./... short, for people: CI runs all tests. Only tests import it.
package slowtest

import (
	"flag"
	"os"
	"testing"
)

// Plain reports whether somebody tests whole packages: neither with -run or -fuzz, nor as CI does.
func Plain() bool {
	return os.Getenv("CI") == "" && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == ""
}

// Skip leaves a slow test to CI, and to commands with -run, such as go test ./cli -run .
func Skip(t testing.TB) {
	t.Helper()
	if Plain() {
		t.Skip("slow: CI runs it, and so does -run .")
	}
}

// Short is testing.Short, and true in a plain go test as well.
func Short() bool { return testing.Short() || Plain() }
