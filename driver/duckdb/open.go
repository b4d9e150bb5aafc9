//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/driver"
)

// open opens the database file.
func open(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("opening DuckDB: %w", err)
	}
	path := options[optionPath]
	if path == "" {
		path = filepath.Join(env.Dir, defaultFile)
	}
	// DuckDB would take "x:y" for the file y of the extension x.
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("opening DuckDB: %w", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("opening DuckDB: %w: make the folder of %s first: %w", driver.ErrUnreachable, path, err)
	}
	if _, err := os.Stat(path); !env.Create && err != nil {
		return nil, fmt.Errorf("opening DuckDB: there is no %s; load it first, or give another path: %w", path, driver.ErrUnreachable)
	}
	raw, err := openFile(path, map[string]string{
		"threads":      options[optionThreads],
		"memory_limit": options[optionMemoryLimit],
		// Nothing may be downloaded in the middle of a measurement.
		"autoinstall_known_extensions": "false",
	})
	if err != nil {
		return nil, fmt.Errorf("opening DuckDB: %w", err)
	}
	d := &database{path: path, raw: raw}
	d.Counter = d.counter()
	if d.admin, err = d.connect(); err != nil {
		duck.Close(&d.raw)
		return nil, fmt.Errorf("opening DuckDB: %w", err)
	}
	return d, nil
}

// openFile opens the file with the settings, of which empty ones are left to
// DuckDB.
func openFile(path string, settings map[string]string) (duck.Database, error) {
	var config duck.Config
	if duck.CreateConfig(&config) != duck.StateSuccess {
		return duck.Database{}, errors.New("DuckDB has no memory for its settings")
	}
	defer duck.DestroyConfig(&config)
	for name, value := range settings {
		if value != "" && duck.SetConfig(config, name, value) != duck.StateSuccess {
			return duck.Database{}, fmt.Errorf("DuckDB does not take %s=%s", name, value)
		}
	}
	var raw duck.Database
	var message string
	if duck.OpenExt(path, &raw, config, &message) == duck.StateSuccess {
		return raw, nil
	}
	switch {
	case strings.Contains(message, "not a valid DuckDB database file"):
		return raw, fmt.Errorf("%s %w: it is no DuckDB file; give another path", path, driver.ErrExisting)
	case strings.Contains(message, "Could not set lock"):
		return raw, fmt.Errorf("%s %w: another process holds it; end that process or give another path (%s)",
			path, driver.ErrUnreachable, message)
	}
	return raw, fmt.Errorf("%s %w: %s", path, driver.ErrUnreachable, message)
}
