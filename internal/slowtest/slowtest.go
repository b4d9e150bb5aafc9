// Package slowtest keeps go test ./... short for people. Only tests import it.
package slowtest

import (
	"flag"
	"os"
	"testing"
)

// Skip skips a slow test, or one that needs much of the machine, in a plain go test ./...: CI runs it, and so does a
// command with -run, such as go test ./cli -run .
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv("CI") == "" && flag.Lookup("test.run").Value.String() == "" {
		t.Skip("slow: CI runs it, and so does -run .")
	}
}
