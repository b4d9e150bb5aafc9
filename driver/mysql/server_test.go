package mysql_test

import (
	"context"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/mysql"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// databases counts those that tests have made.
var databases atomic.Int64

// server returns options that lead to a new database of the server for tests. Others
// may be given as names and values.
func server(t testing.TB, given ...string) map[string]string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	first := conformance.TestServer(t, mysql.Driver())
	admin(t, first, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name)
	t.Cleanup(func() { admin(t, first, "DROP DATABASE "+name) })
	return conformance.TestServer(t, mysql.Driver(), append([]string{"database", name}, given...)...)
}

// admin runs statements.
func admin(t testing.TB, options map[string]string, statements ...string) {
	t.Helper()
	ctx := context.Background() // not t.Context(): it has ended where the test cleans up
	kind := mysql.Driver()
	resolved, err := kind.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	db, err := kind.Open(ctx, driver.Env{}, resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	q, err := db.NewQuerier(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	for _, s := range statements {
		if _, err := q.Do(ctx, driver.Request{Text: s}, nil); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// The suite in each layout, with each form of times and each way to write.
func TestConformance(t *testing.T) {
	conformance.Run(t, mysql.Driver(), server(t))
}

func TestConformanceWide(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, mysql.Driver(), server(t, "layout", "wide", "times", "bigint"))
}

func TestConformanceInsert(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, mysql.Driver(), server(t, "method", "insert", "partition", "12h"))
}

func TestConformanceWideInsert(t *testing.T) {
	conformance.Run(t, mysql.Driver(), server(t, "layout", "wide", "method", "insert", "times", "bigint", "partition", "12h", "index", "tags_time"))
}

func TestConformanceNarrow(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, mysql.Driver(), server(t, "layout", "narrow"))
}

func TestConformancePrepared(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, mysql.Driver(), server(t, "method", "prepared"))
}

func TestConformanceNarrowPrepared(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, mysql.Driver(), server(t, "layout", "narrow", "method", "prepared", "times", "bigint", "partition", "12h"))
}
