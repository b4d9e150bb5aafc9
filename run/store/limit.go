package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tsmark/tsmark/driver/kit/connection"
)

// Time limits for a database. A folder has none: SQLite waits for other processes no longer than
// its busy_timeout.
const (
	// statementLimit is the time limit for a group of statements: a document of some hundred MiB
	// over a slow network needs far less.
	statementLimit = time.Minute
	// silentLimit is the time limit after a statement had no answer, so that the remaining work at
	// the end of a run, or after Ctrl-C, does not wait for each statement again.
	silentLimit = time.Second
)

// errSilent is wrapped by the errors about a database that did not answer in time.
var errSilent = errors.New("the database of the results does not answer")

// withLimit calls do with a context that ends at the limit, and says so in its error.
func (s *Store) withLimit(ctx context.Context, do func(context.Context) error) error {
	if s.limit == 0 {
		return do(ctx)
	}
	limit := s.limit
	if s.silent.Load() {
		limit = min(limit, silentLimit)
	}
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(limited)
	waited := time.Since(begin)
	switch {
	case err == nil || limited.Err() == nil && waited < limit: // dialling may end slightly before the context
		s.silent.Store(false)
		if unreached := (*pgconn.ConnectError)(nil); errors.As(err, &unreached) {
			return connection.Cause("", err) // on one line
		}
		return err
	case waited < min(limit, silentLimit): // the caller ended it
		return err
	}
	s.silent.Store(true)
	return fmt.Errorf("%w (waited %s): it is silent, or another session holds a lock there",
		errSilent, waited.Round(time.Second/10))
}
