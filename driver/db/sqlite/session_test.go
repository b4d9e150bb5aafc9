package sqlite_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

func TestAnswers(t *testing.T) {
	db := open(t, "")
	conformance.CheckRows(t, conformance.Query(t, db, "SELECT 9223372036854775807, -9223372036854775808, 1.0, 1e999, NULL, '', 'it''s', 'a' || char(0) || 'b', x'e697a5'; "),
		conformance.Row(math.MaxInt64, math.MinInt64, 1.0, math.Inf(1), nil, "", "it's", "a\x00b", "日"))

	q := conformance.Querier(t, db)
	defer conformance.Close(t, q)
	const count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, 'abc', NULL FROM n"
	cost, err := q.Do(t.Context(), driver.Request{Text: count}, nil)
	if want := (driver.Cost{Rows: 5000, Bytes: 5000 * (8 + 3)}); cost != want || err != nil {
		t.Errorf("cost %+v, %v; want %+v", cost, err, want)
	}
	for text, says := range map[string]string{
		"SELECT 1 \x00; DROP TABLE nobody": "NUL",
		"SELECT 1; SELECT 2":               "not one statement",
		" -- nothing":                      "not one statement",
		"":                                 "not one statement",
		`SELECT "nothing"`:                 "nothing",
		`SELECT 1 FROM sqlite_schema WHERE name = "nothing"`: "nothing",
		"SELECT abs(-9223372036854775807 - 1)":               "overflow", // in the middle of the answer
		"SELEC":                                              "SELEC",
	} {
		if _, err := q.Do(t.Context(), driver.Request{Text: text}, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	enough := errors.New("enough")
	rows := 0
	_, err = q.Do(t.Context(), driver.Request{Text: count}, query.SinkFunc(func([]query.Value) error {
		if rows++; rows == 3 {
			return enough
		}
		return nil
	}))
	if err != enough || rows != 3 {
		t.Errorf("the sink's error became %v after %d rows", err, rows)
	}
}

// A query ends soon after its context, and the next one is not hit.
func TestInterruptedQuery(t *testing.T) {
	db := open(t, "")
	q := conformance.Querier(t, db)
	defer conformance.Close(t, q)
	const long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	for _, limit := range []time.Duration{0, time.Microsecond, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		start := time.Now()
		_, err := q.Do(ctx, driver.Request{Text: long}, nil)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", limit, err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("interrupting took %v", took)
		}
		if _, err := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil {
			t.Errorf("the next query: %v", err)
		}
	}
}

// A lock that another process holds is an error that says so. Here another
// connection stands for the process.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	holder, waiting := open(t, dir), open(t, dir)
	h, w := conformance.Querier(t, holder), conformance.Querier(t, waiting)
	defer conformance.Close(t, h)
	defer conformance.Close(t, w)
	do := func(q driver.Querier, text string) error {
		_, err := q.Do(t.Context(), driver.Request{Text: text}, nil)
		return err
	}
	if err := errors.Join(do(h, "BEGIN IMMEDIATE"), do(w, "PRAGMA busy_timeout = 20")); err != nil {
		t.Fatal(err)
	}
	err := do(w, "BEGIN IMMEDIATE")
	if !errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), "end that process or give another path") {
		t.Errorf("while it is held: %v", err)
	}
	if err := errors.Join(do(h, "COMMIT"), do(w, "BEGIN IMMEDIATE"), do(w, "COMMIT")); err != nil {
		t.Errorf("when it is free: %v", err)
	}
}

func TestFull(t *testing.T) {
	db := open(t, "")
	q := conformance.Querier(t, db)
	defer conformance.Close(t, q)
	for _, text := range []string{"PRAGMA max_page_count = 4", "CREATE TABLE t (a)"} {
		if _, err := q.Do(t.Context(), driver.Request{Text: text}, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := q.Do(t.Context(), driver.Request{Text: "INSERT INTO t VALUES (zeroblob(100000))"}, nil)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free space there") {
		t.Errorf("a full disk: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		env  driver.Env
		path string
		says string
	}{
		"no folder":       {driver.Env{Create: true}, filepath.Join(dir, "none", "x"), "make the folder"},
		"a folder":        {driver.Env{Create: true}, dir, dir},
		"nothing to read": {driver.Env{Dir: dir}, "", "load it first"},
	} {
		db, err := openIn(t, test.env, "path", test.path)
		if !errors.Is(err, driver.ErrUnreachable) || !strings.Contains(err.Error(), test.says) || db.Required != nil {
			t.Errorf("%s: %v, %v", name, db, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("something was made: %v, %v", entries, err)
	}
}

// TestLifecycle checks that settling checkpoints the log, that replacing data shrinks the file, and
// that closing fails while statements are open.
func TestLifecycle(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	table := conformance.Table("a")
	conformance.Prepare(t, db, 10, table)
	footprint := func(when string) int64 {
		t.Helper()
		if err := db.Settle(t.Context()); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		n, err := db.Footprint(t.Context())
		if err != nil {
			t.Errorf("%s: %v", when, err)
		}
		return n.Bytes
	}
	empty := footprint("prepared")
	var b series.Batch
	conformance.Fill(b.Add(table), 20_000, 0, 10)
	conformance.Write(t, db, &b)
	unsettled, err := db.Footprint(t.Context())
	if err != nil || unsettled.Bytes < 100_000 {
		t.Errorf("footprint with a log: %+v, %v", unsettled, err)
	}
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	full := footprint("loaded")
	if log := size("tsmark.sqlite-wal"); log != 0 || full >= unsettled.Bytes || full != size("tsmark.sqlite")+size("tsmark.sqlite-shm") {
		t.Errorf("settled: %d bytes, of the log %d; before it were %d", full, log, unsettled.Bytes)
	}
	conformance.Prepare(t, db, 10, table)
	if n := footprint("prepared again"); n != empty {
		t.Errorf("%d bytes after replacing the data; it began with %d", n, empty)
	}

	q := conformance.Querier(t, db)
	if err := db.Close(); err == nil || !strings.Contains(err.Error(), "1 of its") {
		t.Errorf("closing with an open querier: %v", err)
	}
	conformance.Close(t, q)
	conformance.Close(t, q)
	_, queryErr := q.Do(t.Context(), driver.Request{Text: "SELECT 1"}, nil)
	_, counted := db.Census(t.Context(), table)
	_, described := db.Describe(t.Context())
	_, opened := db.NewQuerier(t.Context(), 0)
	for what, err := range map[string]error{
		"runs": queryErr, "counts": counted, "describes": described, "opens": opened, "settles": db.Settle(t.Context()),
		"prepares": session.New(db).Prepare(t.Context(), &series.Schema{}, session.Mark{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("a closed querier %s: %v", what, err)
		}
	}
	conformance.Close(t, db)
}
