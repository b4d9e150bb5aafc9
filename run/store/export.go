package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// ExportSuffix is the suffix of the default names of exports.
const ExportSuffix = ".tsmark"

// Export is a run in a file, for transfer to another results folder.
type Export struct {
	Run *result.Run
	// Document is the run as stored, byte for byte; nil: as encoded by result.Encode. ReadExports
	// leaves it empty.
	Document []byte
	Logs     []Log
}

// Log is an operation log in a run's folder.
type Log struct {
	Name string // relative to the folder, with slashes
	Data []byte
}

// An export is an SQLite database with the tables and views of a results folder and these tables.
// Its header has the application ID and the version of the schema.
const (
	applicationID = 0x74736d6b // "tsmk"
	exportTables  = `
CREATE TABLE logs (
    run  TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    name TEXT NOT NULL, -- relative to the run's folder
    data BLOB NOT NULL,
    PRIMARY KEY (run, name)
);
CREATE TABLE checksums (
    run    TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL -- of the document, and of the names and contents of the logs
);`
)

// serializer is a connection of the driver "sqlite".
type serializer interface {
	Serialize() ([]byte, error)
	Deserialize([]byte) error
}

// openMemory opens a database in memory with a single connection.
func openMemory() (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("opening a database in memory: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// openEmptyExport returns an export without runs.
func openEmptyExport(ctx context.Context) (*sql.DB, error) {
	db, err := openMemory()
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;\n", applicationID, schemaVersion)+tables+sqliteViews+exportTables)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("creating the tables of an export: %w", err), db.Close())
	}
	return db, nil
}

// WriteExports writes an export of the runs. The function computes the figures for its views.
func WriteExports(ctx context.Context, w io.Writer, figures func(*result.Run) Figures, runs []Export) error {
	db, err := openEmptyExport(ctx)
	if err != nil {
		return err
	}
	defer db.Close() // it is in memory
	s := &Store{db: db, figures: figures, place: new(folder)}
	for i := range runs {
		if err := s.export(ctx, &runs[i]); err != nil {
			return fmt.Errorf("exporting run %s: %w", runs[i].Run.ID, err)
		}
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("exporting runs: %w", err)
	}
	defer conn.Close()
	var file []byte
	err = conn.Raw(func(c any) (err error) {
		file, err = c.(serializer).Serialize()
		return err
	})
	if err != nil {
		return fmt.Errorf("exporting runs: %w", err)
	}
	_, err = w.Write(file)
	return err
}

func (s *Store) export(ctx context.Context, e *Export) error {
	logs := slices.SortedFunc(slices.Values(e.Logs), func(a, b Log) int { return strings.Compare(a.Name, b.Name) })
	added, err := s.insert(ctx, e.Run, e.Document)
	if err == nil && !added {
		err = errors.New("it was named twice")
	}
	if err != nil {
		return err
	}
	for _, l := range logs {
		if _, err := s.exec(ctx, "INSERT INTO logs (run, name, data) VALUES (?, ?, ?)", e.Run.ID, l.Name, l.Data); err != nil {
			return err
		}
	}
	_, err = s.exec(ctx, "INSERT INTO checksums (run, sha256) VALUES (?, ?)", e.Run.ID, checksum(e.Document, logs))
	return err
}

// checksum is the SHA-256 of a document and the logs, in hex.
func checksum(document []byte, logs []Log) string {
	h := sha256.New() // a hash accepts all writes
	fmt.Fprintf(h, "%d\n", len(document))
	h.Write(document)
	for _, l := range logs {
		fmt.Fprintf(h, "%q %d\n", l.Name, len(l.Data))
		h.Write(l.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// maxLog is the maximum size of an operation log in an export, enough for some million operations.
const maxLog = 64 << 20

// ReadLogs reads the operation logs in a run's folder, in the order of their names. It returns the
// names of logs that are too large for an export.
func ReadLogs(dir string) (logs []Log, tooLarge []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() || strings.HasPrefix(path.Base(name), ".") || !operationLog(name) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if info.Size() > maxLog {
			tooLarge = append(tooLarge, file)
			return nil
		}
		data, err := os.ReadFile(file)
		logs = append(logs, Log{name, data})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // the user removed the folder: the figures are in the database
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading the operation logs: %w", err)
	}
	return logs, tooLarge, nil
}

// operationLog reports whether a file of a run's folder is an operation log, judging by its name.
func operationLog(name string) bool {
	return strings.HasSuffix(name, ".oplog") || strings.HasSuffix(name, ".tsmlog")
}
