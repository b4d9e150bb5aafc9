package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Session is a connection to a database in tsmark's own process, used by one
// goroutine at a time.
type Session interface {
	// Query is Conn's Query. It wraps ctx's error if that ends it.
	Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error)
	// CheckText is driver.Optional's CheckText.
	CheckText(text string) error
	// Close releases the connection; a second call does nothing.
	Close()
	Closed() bool
}

// Embedded implements the part of driver.DB that databases in files, opened in tsmark's own process,
// share. It is a Conn of its own session, used by one caller at a time.
type Embedded[S Session] struct {
	Tables
	System  string // in errors
	Path    string
	Connect func(context.Context) (S, error)
	// Begin is the statement that begins a transaction for writing.
	Begin string
	// Load returns a loader that writes batches in a session. Its Close leaves the session open.
	Load func(S) Loader

	mu   sync.Mutex   // guards what follows
	own  S            // for everything but writers and queriers
	open atomic.Int32 // sessions of writers and queriers
}

// ErrClosed is the error of an operation on a closed connection.
var ErrClosed = errors.New("the connection is closed")

// Path is the name of the option PathOption.
const Path = "path"

// PathOption returns the option for a database's file, with the name as the default.
func PathOption(name string) driver.Option {
	return driver.Option{
		Name:  Path,
		Empty: name + " in the run's folder",
		Help:  "database file, created if it does not exist",
		Type: option.CheckedBy("path", func(path string) error {
			if path == ":memory:" {
				return errors.New("must be a file: a database in memory would be gone before it can be queried")
			}
			return nil
		}),
	}
}

// OpenFile opens a system's database at the path in the options, or at a file with the name in the
// folder of env.
func OpenFile(ctx context.Context, env driver.Env, o driver.Options, system, name string,
	open func(ctx context.Context, path string, o driver.Options) (driver.DB, error)) (driver.DB, error) {
	err := ctx.Err()
	var path string
	if err == nil {
		path, err = file(env, o, name)
	}
	if err == nil {
		var db driver.DB
		if db, err = open(ctx, path, o); err == nil {
			return db, nil
		}
	}
	return driver.DB{}, fmt.Errorf("opening %s: %w", system, err)
}

// file returns the path of a database's file. Its error says why it cannot be opened.
func file(env driver.Env, o driver.Options, name string) (string, error) {
	path := o[Path]
	if path == "" {
		path = filepath.Join(env.Dir, name)
	}
	path, err := filepath.Abs(path) // otherwise x:y may be parsed as something other than a file
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return "", fmt.Errorf("%w: make the folder of %s first: %w", driver.ErrUnreachable, path, err)
	}
	if _, err := os.Stat(path); !env.Create && err != nil {
		return "", fmt.Errorf("there is no %s; load it first, or give another path: %w", path, driver.ErrUnreachable)
	}
	return path, nil
}

// Open connects, once all other fields are set.
func (e *Embedded[S]) Open(ctx context.Context) (err error) {
	e.Place, e.Own, e.Described, e.Run = e.Path, e, true, RunBy(e)
	if e.Change == nil {
		e.Change = e.Transact
	}
	e.own, err = e.Connect(ctx)
	return err
}

// Optional returns the optional functions that Embedded implements.
func (e *Embedded[S]) Optional() driver.Optional {
	o := e.Tables.Optional()
	o.CheckText = e.CheckText
	return o
}

// CheckText implements driver.DB.
func (e *Embedded[S]) CheckText(_ context.Context, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.own.CheckText(text)
}

// Query implements Conn.
func (e *Embedded[S]) Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.own.Query(ctx, text, sink)
}

// Exec implements Conn.
func (e *Embedded[S]) Exec(ctx context.Context, texts ...string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Exec(ctx, e.own, texts...)
}

// Exec runs statements one after the other and drops their answers.
func Exec(ctx context.Context, c interface {
	Query(context.Context, string, query.Sink) (driver.Cost, error)
}, texts ...string) error {
	for _, text := range texts {
		if _, err := c.Query(ctx, text, nil); err != nil {
			return err
		}
	}
	return nil
}

// conn turns a session into a Conn.
type conn struct{ Session }

func (c conn) Exec(ctx context.Context, texts ...string) error { return Exec(ctx, c, texts...) }

// Transact implements the Change of Tables.
func (e *Embedded[S]) Transact(ctx context.Context, _ []string, do func(Conn) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := Exec(ctx, e.own, e.Begin)
	if err != nil {
		return err
	}
	if err = do(conn{e.own}); err == nil {
		err = Commit(ctx, e.own)
	}
	if err != nil {
		Rollback(ctx, e.own)
	}
	return err
}

// Commit ends the transaction of a session. It is not interruptible, because the outcome would be
// unknown.
func Commit(ctx context.Context, s Session) error {
	return Exec(context.WithoutCancel(ctx), s, "COMMIT")
}

// Rollback undoes the transaction of a session. If the database has already done so, it fails, which is
// harmless.
func Rollback(ctx context.Context, s Session) {
	_ = Exec(context.WithoutCancel(ctx), s, "ROLLBACK")
}

// session opens a session that must be closed before Close.
func (e *Embedded[S]) session(ctx context.Context) (s S, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return s, err
	}
	if e.own.Closed() {
		return s, ErrClosed
	}
	if s, err = e.Connect(ctx); err == nil {
		e.open.Add(1)
	}
	return s, err
}

// release closes such a session.
func (e *Embedded[S]) release(s S) {
	if !s.Closed() {
		s.Close()
		e.open.Add(-1)
	}
}

// Grow implements Grow of driver.Optional. The database refuses rows with columns that a table lacks.
func (e *Embedded[S]) Grow(schema *series.Schema) error {
	return e.Rejoin(context.Background(), schema)
}

// NewWriter implements driver.DB. Create or Grow must have been called since the database was opened.
func (e *Embedded[S]) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	layout, err := e.Layout()
	if err == nil {
		var s S
		if s, err = e.session(ctx); err == nil {
			return &embeddedWriter[S]{Writer{System: e.System, Layout: layout, Loader: e.Load(s)}, e, s}, nil
		}
	}
	return nil, fmt.Errorf("opening a %s connection for writing: %w", e.System, err)
}

// embeddedWriter is a Writer with its session.
type embeddedWriter[S Session] struct {
	Writer
	of *Embedded[S]
	s  S
}

// Close implements driver.Writer.
func (w *embeddedWriter[S]) Close() error {
	err := w.Writer.Close()
	w.of.release(w.s)
	return err
}

// NewQuerier implements driver.DB.
func (e *Embedded[S]) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	s, err := e.session(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a %s connection for reading: %w", e.System, err)
	}
	return &embeddedQuerier[S]{e, s}, nil
}

// embeddedQuerier implements driver.Querier.
type embeddedQuerier[S Session] struct {
	of *Embedded[S]
	s  S
}

// Do implements driver.Querier.
func (q *embeddedQuerier[S]) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	return q.s.Query(ctx, r.Text, sink)
}

// Close implements driver.Querier.
func (q *embeddedQuerier[S]) Close() error {
	q.of.release(q.s)
	return nil
}

// Close implements driver.DB. Writers and queriers must be closed before: the library keeps the file
// open while a session is open, and Close returns an error.
func (e *Embedded[S]) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.own.Close()
	if n := e.open.Load(); n > 0 {
		return fmt.Errorf("closing %s: %d of its writers and queriers are open and hold %s", e.System, n, e.Path)
	}
	return nil
}
