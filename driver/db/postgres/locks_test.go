package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// Somebody who has a table locked makes loads end in a line that
// says who it is, and the connection serves on.
func TestLockedByOthers(t *testing.T) {
	options := server(t)
	d := limit.Driver(postgres.Driver(), limit.Limits{Statement: 3 * time.Second, Step: time.Minute})
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(t.Context(), driver.Env{Create: true}, resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 3}
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{Tool: "first"}); err != nil {
		t.Fatal(err)
	}
	config, err := pgwire.NewConfig(connection.NewSettings(resolved))
	if err != nil {
		t.Fatal(err)
	}
	config.Set("application_name", "payroll")
	other, err := pgwire.Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, other)
	if err := other.Exec(t.Context(), "BEGIN", "SELECT * FROM "+schema.Tables[0].Name); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	err = session.New(db).Prepare(t.Context(), schema, session.Mark{})
	if err == nil || time.Since(begin) > 20*time.Second {
		t.Fatalf("%v after %v", err, time.Since(begin))
	}
	t.Log(err)
	for _, want := range []string{"waited 2.7s for a lock in vain", "user tsmark, application payroll", "idle in transaction", "has table " + schema.Tables[0].Name + " locked (AccessShareLock)", "pg_terminate_backend(", "--statement-timeout"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it does not say %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "\n") || errors.Is(err, driver.ErrUnreachable) {
		t.Errorf("several lines, or the server counts as gone: %q", err)
	}
	// A failed drop changes nothing.
	if mark, err := session.New(db).Mark(t.Context()); err != nil || mark.Tool != "first" {
		t.Errorf("after that: %+v, %v", mark, err)
	}
	if err := other.Exec(t.Context(), "SELECT * FROM tsmark_mark"); err != nil {
		t.Fatal(err)
	}
	// The note's limit is hardly longer than the lock's: whichever ends first, it ends.
	if err := session.New(db).SetMark(t.Context(), session.Mark{}); err == nil || !strings.Contains(err.Error(), "--statement-timeout") {
		t.Errorf("writing the mark: %v", err)
	}
	if err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); err != nil {
		t.Errorf("once it is free: %v", err)
	}

	// Reading a locked table ends soon, too, and says the same.
	if err := other.Exec(t.Context(), "BEGIN", "LOCK TABLE "+schema.Tables[0].Name); err != nil {
		t.Fatal(err)
	}
	_, err = db.Census(t.Context(), schema.Tables[0])
	for _, want := range []string{"for a lock in vain", "application payroll", "has table " + schema.Tables[0].Name + " locked (AccessExclusiveLock)", "pg_terminate_backend("} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("counting: it does not say %q: %v", want, err)
		}
	}
	if err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Census(t.Context(), schema.Tables[0]); err != nil {
		t.Errorf("counting once it is free: %v", err)
	}
}
