package sqlite_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
)

// open opens the database in the folder, or in a new one, with options given
// as names and values.
func open(t testing.TB, dir string, pairs ...string) driver.DB {
	t.Helper()
	return conformance.Open(t, sqlite.Driver(), dir, pairs...)
}

// openIn opens the default file with the options given as names and values.
func openIn(t *testing.T, env driver.Env, pairs ...string) (driver.DB, error) {
	t.Helper()
	return sqlite.Driver().Open(t.Context(), env, conformance.Options(t, sqlite.Driver(), pairs...))
}
