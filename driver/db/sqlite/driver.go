// Package sqlite is the driver for SQLite, which runs in tsmark's own process, as its own C code or as
// a translation of that to Go. Rows are bound to prepared multi-row statements, and results are read
// from SQLite's memory.
//
// Each table of the schema becomes a table of rows, and its series a table of tags: see package
// query/sql. A row's tags_id is the number of its series, and its time an integer in nanoseconds since
// 1970. The additional table tsmark_mark records the loaded dataset and the objects that tsmark
// created.
//
// By default, rows are clustered by series and time: an index beside the rows would cost a search per row.
package sqlite

import (
	"errors"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionSynchronous = "synchronous"
	optionJournalMode = "journal_mode"
	optionIndex       = "index"
	optionCacheSize   = "cache_size"
	optionDriver      = "driver"
)

// The values of optionDriver.
const (
	driverC  = "cgo" // SQLite's own C code
	driverGo = "go"  // the same, translated to Go
)

// defaultDriver is SQLite's own code where this program holds it: that is what its
// users run.
func defaultDriver() string {
	if hasC {
		return driverC
	}
	return driverGo
}

// The values of optionIndex.
const (
	indexClustered = "clustered"
	indexTagsTime  = "tags_time"
	indexTime      = "time"
	indexBoth      = "both"
	indexNone      = "none"
)

// confinement is the query.Literals.Confinement of its texts.
const confinement = "SQLite compiles it as a subquery first, so it can only read the database file"

// Driver describes SQLite.
func Driver() driver.Driver {
	return driver.Driver{
		Name: "sqlite",
		Help: "SQLite inside tsmark's process, written through prepared statements of many rows",
		Options: []driver.Option{
			sqlkit.PathOption(defaultFile),
			{
				Name:    optionSynchronous,
				Default: "full",
				Help:    "when SQLite forces writes to disk",
				Type:    option.Choice("off", "normal", "full", "extra"),
			},
			{
				Name:    optionJournalMode,
				Default: "wal",
				Help:    "journal by which a batch is rolled back; a loaded database keeps its own",
				// Without a journal a failed batch would stay half written.
				Type: option.Choice("wal", "delete", "truncate", "persist", "memory"),
			},
			{
				Name:    optionIndex,
				Default: indexClustered,
				Layout:  true,
				Help: "clustered (rows are stored by series and time), or rows in the order of arrival with indexes: " +
					"tags_time (series and time), time, both or none",
				Type: option.Choice(indexClustered, indexTagsTime, indexTime, indexBoth, indexNone),
			},
			{
				Name:    optionCacheSize,
				Default: "256",
				Help:    "page cache of each connection, in MiB",
				Type:    option.Integer(1, maxCacheSize),
			},
			{
				Name:    optionDriver,
				Default: defaultDriver(),
				Help:    "code: cgo (SQLite's own C code; needs a tsmark built with cgo) or go (a translation to Go, slower)",
				Type:    option.CheckedBy("choice", checkDriver),
			},
		},
		Profiles: []driver.Profile{
			{Name: "default", Help: "SQLite's own defaults: a rollback journal, 2 MiB of page cache; an index on series and time",
				Options: driver.Options{optionJournalMode: "delete", optionCacheSize: "2", optionIndex: indexTagsTime}},
			{Name: "tuned", Help: "a write-ahead log, rows stored by series and time, 1 GiB of page cache",
				Options: driver.Options{optionJournalMode: "wal", optionCacheSize: "1024", optionIndex: indexClustered}},
		},
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "journal_mode delete, synchronous full",
				Options: driver.Options{optionJournalMode: "delete", optionSynchronous: "full"}},
			{Name: driver.Relaxed, Help: "journal_mode wal, synchronous off", Options: driver.Options{optionJournalMode: "wal", optionSynchronous: "off"}},
			{Name: driver.Strict, Help: "journal_mode wal, synchronous extra", Options: driver.Options{optionJournalMode: "wal", optionSynchronous: "extra"}},
		},
		Caps:       caps,
		Modules:    []string{"modernc.org/sqlite", "github.com/mattn/go-sqlite3"},
		Adopts:     driver.AdoptsOwn,
		Place:      func(o driver.Options) string { return driver.FilePlace(o[sqlkit.Path]) },
		Render:     sqlkit.Render(newDialect),
		Literals:   sqlkit.Literals(newDialect, confinement),
		RenderFrom: sqlkit.RenderFrom(newDialect),
		Open:       open,
	}
}

func caps(o driver.Options) driver.Caps {
	return driver.Caps{
		Language:      "SQL",
		Embedded:      true,
		MaxWriters:    1,
		TimePrecision: precision,
		Lacks:         map[series.Trait]string{series.NaN: "SQLite holds as NULL"},
		Schema:        design(o[optionIndex]).Check,
		Types:         types(),
		Steps:         steps(),
		Changes:       sqlkit.Changes(newDialect(), stepVacuum, "later rows fill the free pages of the file"),
	}
}

// types are the columns of fields. SQLite has five classes of values.
func types() map[series.Type]driver.Stored {
	return map[series.Type]driver.Stored{
		series.Bool:      {As: "INTEGER", Mapped: "0 or 1"},
		series.Int32:     {As: "INTEGER"},
		series.Int:       {As: "INTEGER"},
		series.Float32:   {As: "REAL", Mapped: "the double that equals it"},
		series.Float:     {As: "REAL"},
		series.Text:      {As: "TEXT"},
		series.Timestamp: {As: "INTEGER", Mapped: "its nanoseconds since 1970"},
		series.Date:      {As: "INTEGER", Mapped: "its days since 1970-01-01"},
		series.Blob:      {As: "BLOB"},
	}
}

// defaultFile is the database's name in the run's folder.
const defaultFile = "tsmark.sqlite"

func checkDriver(v string) error {
	if err := option.Choice(driverC, driverGo).Check(v); err != nil {
		return err
	}
	if v == driverC && !hasC {
		return errors.New("is " + driverGo + " in this tsmark, which was built without SQLite's C code; build again with CGO_ENABLED=1 and a C compiler, and without -tags light, on Linux or macOS")
	}
	return nil
}

// maxCacheSize is the largest cache size that SQLite can count in KiB, rounded down.
const maxCacheSize = 2_000_000
