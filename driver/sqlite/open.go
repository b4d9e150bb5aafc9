package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/driver"
)

// open opens the database file, which it makes where there is none.
func open(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
	d, err := openFile(ctx, env, options)
	if err != nil {
		return nil, fmt.Errorf("opening SQLite: %w", err)
	}
	return d, nil
}

func openFile(ctx context.Context, env driver.Env, options driver.Options) (*database, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := options[optionPath]
	if path == "" {
		path = filepath.Join(env.Dir, defaultFile)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("%w: make the folder of %s first: %w", driver.ErrUnreachable, path, err)
	}
	if _, err := os.Stat(path); env.Existing && err != nil {
		return nil, fmt.Errorf("there is no %s; load it first, or give another path: %w", path, driver.ErrUnreachable)
	}
	d := &database{
		path:    path,
		driver:  options[optionDriver],
		index:   options[optionIndex],
		writing: make(chan struct{}, 1),
		pragmas: []string{
			"PRAGMA busy_timeout = 10000", // milliseconds, for other processes
			fmt.Sprintf("PRAGMA cache_size = -%d", options.Int(optionCacheSize)*1024), // negative: in KiB
			"PRAGMA temp_store = MEMORY",
			"PRAGMA synchronous = " + options[optionSynchronous],
		},
	}
	if d.admin, err = d.connect(ctx); err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	// Foreign data is refused before anything is written to it, and what is
	// only asked keeps the journal that it was loaded with.
	_, _, err = d.readStamp(ctx)
	if errors.Is(err, driver.ErrNoMark) || errors.Is(err, driver.ErrForeign) && env.Foreign {
		err = nil
	}
	if err == nil && !env.Existing && !env.Foreign {
		// Only wal is kept in the file: each connection must be told the others.
		journal := "PRAGMA journal_mode = " + options[optionJournalMode]
		d.pragmas = append(d.pragmas, journal)
		err = exec(ctx, d.admin, fmt.Sprintf("PRAGMA page_size = %d", pageSize), journal) // of a file that is empty yet
	}
	if err != nil {
		d.admin.close()
		return nil, err
	}
	return d, nil
}

// connect opens a session with the settings of the options.
func (d *database) connect(ctx context.Context) (session, error) {
	connect := connectGo
	if d.driver == driverC {
		connect = connectC
	}
	s, err := connect(d.path)
	if err != nil {
		return nil, err
	}
	if err := exec(ctx, s, d.pragmas...); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}
