package cli

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tsmark/tsmark/conformance"
)

// resultsDatabase makes a database for results on the server for tests. Its
// password is in PGPASSWORD.
func resultsDatabase(t *testing.T) (url, host, port string) {
	t.Helper()
	host, port = conformance.Address(t, "postgres")
	t.Setenv("PGPASSWORD", conformance.Password(t))
	admin, err := sql.Open("pgx", fmt.Sprintf("postgres://tsmark@%s:%s/postgres", host, port))
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("results_%d", time.Now().UnixNano())
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		if err := errors.Join(err, admin.Close()); err != nil {
			t.Error(err)
		}
	})
	return fmt.Sprintf("postgres://tsmark@%s:%s/%s", host, port, name), host, port
}

// All commands work with results in PostgreSQL.
func TestResultsInPostgres(t *testing.T) {
	url, host, port := resultsDatabase(t)
	testscript.Run(t, testscript.Params{
		Files:               []string{filepath.Join("testdata", "servers", "results.txtar")},
		RequireExplicitExec: true,
		Cmds:                commands(),
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{"NO_COLOR": "1", "RESULTS": url, "HOST": host, "PORT": port, "PGPASSWORD": conformance.Password(t)} {
				env.Setenv(name, value)
			}
			return nil
		},
	})
}
