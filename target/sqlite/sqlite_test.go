package sqlite_test

import (
	"testing"

	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/sqlite"
	"github.com/tsmark/tsmark/target/targettest"
)

// open opens the database in the folder, or in a new one, with options given
// as names and values.
func open(t testing.TB, dir string, given ...string) target.Target {
	t.Helper()
	return targettest.Open(t, sqlite.Kind(), dir, given...)
}

// openIn opens the default file with the options given as names and values.
func openIn(t *testing.T, env target.Env, given ...string) (target.Target, error) {
	t.Helper()
	return sqlite.Kind().Open(t.Context(), env, targettest.Options(t, sqlite.Kind(), given...))
}
