package conformance

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// databases counts the databases that NewDatabase has made, for their names.
var databases atomic.Int64

// NewDatabase makes a database on the driver's server for tests, and returns options
// that lead to it, together with given, names and values. The test's cleanup drops it with
// the statement drop, in which %s is its name.
func NewDatabase(t testing.TB, d driver.Driver, drop string, options ...string) map[string]string {
	t.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), databases.Add(1)) // tests of several packages run at once
	first := TestServer(t, d)
	Statements(t, d, first, fmt.Sprintf(drop, name), "CREATE DATABASE "+name)
	t.Cleanup(func() { Statements(t, d, first, fmt.Sprintf(drop, name)) })
	return TestServer(t, d, append([]string{connection.Database, name}, options...)...)
}

// Statements runs statements one after the other through a querier of the options'
// own.
func Statements(t testing.TB, d driver.Driver, options map[string]string, texts ...string) {
	t.Helper()
	ctx := context.Background() // not t.Context(): it has ended during cleanup
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(ctx, driver.Env{}, resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(t, db)
	q, err := db.NewQuerier(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(t, q)
	for _, text := range texts {
		if _, err := q.Do(ctx, driver.Request{Text: text}, nil); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// OpenAt opens a target at options for a load. It is closed with the test.
func OpenAt(t testing.TB, d driver.Driver, options map[string]string) driver.DB {
	t.Helper()
	pairs := make([]string, 0, 2*len(options))
	for name, value := range options {
		pairs = append(pairs, name, value)
	}
	db := Open(t, d, "", pairs...)
	t.Cleanup(func() { Close(t, db) })
	return db
}

// TryAt opens a target at options for a load, and returns its error.
func TryAt(t testing.TB, d driver.Driver, options map[string]string) error {
	t.Helper()
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(t.Context(), driver.Env{Create: true}, resolved)
	if err == nil {
		Close(t, db)
	}
	return err
}
