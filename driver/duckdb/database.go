//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// database is an open database file; it implements driver.DB.
type database struct {
	sqlkit.Counter
	path string
	raw  duck.Database
	open atomic.Int32 // sessions of writers and queriers

	mu     sync.Mutex // guards what follows
	admin  *session   // for everything but writers and queriers
	layout *layout    // of the schema given to Create; nil before
}

// connect opens a session.
func (d *database) connect() (*session, error) {
	s := new(session)
	if duck.Connect(d.raw, &s.conn) != duck.StateSuccess {
		return nil, errors.New("DuckDB gives no further connection")
	}
	return s, nil
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	settings := []string{"threads", "memory_limit", "checkpoint_threshold", "preserve_insertion_order", "default_block_size"}
	columns := []string{"version()"}
	for _, name := range settings {
		columns = append(columns, fmt.Sprintf("current_setting('%s')::VARCHAR", name))
	}
	values, err := d.row(ctx, "SELECT "+strings.Join(columns, ", "))
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing DuckDB: %w", err)
	}
	effective := make(map[string]string, len(settings))
	for i, name := range settings {
		effective[name] = values[i+1].String()
	}
	return driver.Description{
		Version:  strings.TrimPrefix(values[0].String(), "v"),
		Location: d.path,
		Durability: "each batch is a transaction; its commit is in the write-ahead log, " +
			"and forced to disk by fsync, before it is acknowledged",
		Settings:  effective,
		Elsewhere: optionPath,
	}, nil
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	s, err := d.newSession(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a DuckDB connection for reading: %w", err)
	}
	return &querier{d: d, s: s}, nil
}

// newSession opens a session that Close wants closed before.
func (d *database) newSession(ctx context.Context) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.raw.Ptr == nil {
		return nil, errClosed
	}
	s, err := d.connect()
	if err == nil {
		d.open.Add(1)
	}
	return s, err
}

// Settle implements driver.DB. DuckDB works in the background only where
// a commit makes it: what is left is to bring the log into the file.
func (d *database) Settle(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.admin.exec(ctx, "CHECKPOINT"); err != nil {
		return fmt.Errorf("settling DuckDB: %w", err)
	}
	return nil
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

// Footprint implements driver.DB: the file and its write-ahead log, less
// the blocks in the file that hold nothing. DuckDB seldom gives those back: a
// file that held more before would else be counted at its old size.
func (d *database) Footprint(ctx context.Context) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	values, err := d.row(ctx, "SELECT free_blocks * block_size FROM pragma_database_size() WHERE database_name = current_database()")
	if err != nil {
		return -1, fmt.Errorf("measuring DuckDB's files: %w", err)
	}
	size, err := driver.FilesSize(d.path, d.path+".wal")
	if err != nil {
		return -1, fmt.Errorf("measuring DuckDB's files: %w", err)
	}
	return size - values[0].Int, nil
}

// Close implements driver.DB. Writers and queriers are closed before:
// DuckDB keeps the file as long as one is open, and Close says so.
func (d *database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.admin.close()
	duck.Close(&d.raw)
	if n := d.open.Load(); n > 0 {
		return fmt.Errorf("closing DuckDB: %d of its writers and queriers are open and hold %s", n, d.path)
	}
	return nil
}

// querier implements driver.Querier.
type querier struct {
	d *database
	s *session
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	return q.s.query(ctx, r.Text, sink)
}

// Close implements driver.Querier.
func (q *querier) Close() error {
	if q.s.conn.Ptr != nil {
		q.s.close()
		q.d.open.Add(-1)
	}
	return nil
}
