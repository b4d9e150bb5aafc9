package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// database is an open database file; it implements driver.DB.
type database struct {
	sqlkit.Counter
	path    string
	driver  string        // the option's value
	index   string        // the option's value
	journal string        // the option's value
	writing chan struct{} // holds an element while a transaction writes: SQLite has one writer at a time
	open    atomic.Int32  // sessions of writers and queriers

	mu      sync.Mutex // guards what follows
	pragmas []string   // settings of every session
	admin   session    // for everything but writers and queriers
	layout  *layout    // of the schema given to Create; nil before
}

// lock waits until no other session writes. SQLite's own waiting would poll.
func (d *database) lock(ctx context.Context) error {
	select {
	case d.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *database) unlock() { <-d.writing }

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	version, err := d.row(ctx, "SELECT sqlite_version()")
	effective := make(map[string]string)
	for _, name := range []string{"journal_mode", "synchronous", "page_size", "cache_size", "temp_store", "wal_autocheckpoint"} {
		var value []query.Value
		if err == nil {
			value, err = d.row(ctx, "PRAGMA "+name)
		}
		if err != nil {
			return driver.Description{}, fmt.Errorf("describing SQLite: %w", err)
		}
		effective[name] = value[0].String()
	}
	level := map[string]string{"0": "off", "1": "normal", "2": "full", "3": "extra"}
	effective["synchronous"] = level[effective["synchronous"]]
	return driver.Description{
		Version:    version[0].String() + codeOf(d.driver),
		Location:   d.path,
		Durability: durability(effective["journal_mode"], effective["synchronous"]),
		Settings:   effective,
		Elsewhere:  optionPath,
	}, nil
}

// codeOf says which code a driver is, behind the version of what it is made of.
func codeOf(driver string) string {
	if driver == driverC {
		return " (C code)"
	}
	return " (Go translation: modernc.org/sqlite)"
}

// durability says when an acknowledged row is on disk.
func durability(journal, synchronous string) string {
	const batch = "each batch is a transaction; "
	switch {
	case synchronous == "off":
		return batch + "its commit is left to the operating system to write: a crash of the machine loses batches and may destroy the database"
	case journal == "memory":
		return batch + "its commit is forced to disk by fsync before it is acknowledged, but what undoes it is only in memory: " +
			"a crash in the middle of a commit may destroy the database"
	case journal == "wal" && synchronous == "normal":
		return batch + "its commit is in the write-ahead log, which is forced to disk only before it is folded into the database: " +
			"a crash of the machine loses the last batches"
	case journal == "wal":
		return batch + "its commit is in the write-ahead log, and forced to disk by fsync, before it is acknowledged"
	}
	return batch + "its commit is in the database file, and forced to disk by fsync, before it is acknowledged"
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	s, err := d.newSession(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a SQLite connection for reading: %w", err)
	}
	return &querier{d: d, s: s}, nil
}

// newSession opens a session that Close wants closed before.
func (d *database) newSession(ctx context.Context) (session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.admin.closed() {
		return nil, errClosed
	}
	s, err := d.connect(ctx)
	if err == nil {
		d.open.Add(1)
	}
	return s, err
}

// Settle implements driver.DB. SQLite does nothing in the background: what
// is left is to bring the log into the file.
func (d *database) Settle(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settle(ctx); err != nil {
		return fmt.Errorf("settling SQLite: %w", err)
	}
	return nil
}

func (d *database) settle(ctx context.Context) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer d.unlock()
	state, err := d.row(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil && state[0].Int != 0 {
		err = errors.New("a connection is reading the write-ahead log, which cannot be folded into the database")
	}
	return err
}

// AfterLoad implements driver.AfterLoader.
func (d *database) AfterLoad() []driver.Step {
	able := steps()
	for i := range able {
		statement := strings.ToUpper(able[i].Name)
		able[i].Do = func(ctx context.Context) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			if err := d.lock(ctx); err != nil {
				return err
			}
			defer d.unlock()
			if err := exec(ctx, d.admin, statement); err != nil {
				return fmt.Errorf("SQLite's %s: %w", statement, err)
			}
			return nil
		}
	}
	return able
}

// steps are named after their statements.
func steps() []driver.Step {
	return []driver.Step{
		{Name: "analyze", Help: "statistics of the indexes, for the query planner"},
		{Name: "vacuum", Help: "the file rewritten without gaps"},
	}
}

// row returns the only row of an answer. The caller holds mu.
func (d *database) row(ctx context.Context, text string) ([]query.Value, error) {
	var answer query.Answer
	if _, err := d.admin.query(ctx, text, &answer); err != nil {
		return nil, err
	}
	if len(answer.Rows) != 1 {
		return nil, fmt.Errorf("expected one row, found %d", len(answer.Rows))
	}
	return answer.Rows[0], nil
}

// Footprint implements driver.DB: the file, its write-ahead log with that
// log's index, and its journal.
func (d *database) Footprint(context.Context) (int64, error) {
	size, err := driver.FilesSize(d.path, d.path+"-wal", d.path+"-shm", d.path+"-journal")
	if err != nil {
		return -1, fmt.Errorf("measuring SQLite's files: %w", err)
	}
	return size, nil
}

// Close implements driver.DB. Writers and queriers are closed before:
// SQLite keeps the file as long as one is open, and Close says so.
func (d *database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.admin.close()
	if n := d.open.Load(); n > 0 {
		return fmt.Errorf("closing SQLite: %d of its writers and queriers are open and hold %s", n, d.path)
	}
	return nil
}

// querier implements driver.Querier.
type querier struct {
	d *database
	s session
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	return q.s.query(ctx, r.Text, sink)
}

// Close implements driver.Querier.
func (q *querier) Close() error {
	if !q.s.closed() {
		q.s.close()
		q.d.open.Add(-1)
	}
	return nil
}
