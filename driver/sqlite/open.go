package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/driver"
)

// open opens the database file.
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
	if _, err := os.Stat(path); !env.Create && err != nil {
		return nil, fmt.Errorf("there is no %s; load it first, or give another path: %w", path, driver.ErrUnreachable)
	}
	d := &database{
		path:    path,
		driver:  options[optionDriver],
		index:   options[optionIndex],
		journal: options[optionJournalMode],
		writing: make(chan struct{}, 1),
		pragmas: []string{
			"PRAGMA busy_timeout = 10000", // milliseconds, for other processes
			fmt.Sprintf("PRAGMA cache_size = -%d", options.Int(optionCacheSize)*1024), // negative: in KiB
			"PRAGMA temp_store = MEMORY",
			"PRAGMA synchronous = " + options[optionSynchronous],
		},
	}
	d.Counter = d.counter()
	if d.admin, err = d.connect(ctx); err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	// What is no database at all shows here.
	if _, err := d.objects(ctx); err != nil {
		d.admin.close()
		return nil, fmt.Errorf("%s %w", path, err)
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
