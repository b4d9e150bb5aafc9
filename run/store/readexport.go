package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/unpack"
	"github.com/tsmark/tsmark/result"
)

// ErrNotExport is wrapped by errors about content that is not an export, or that this program
// cannot read. They are one line.
var ErrNotExport = errors.New("no runs can be read from it")

// errTooLarge is wrapped by errors about an export that is larger than the limit.
var errTooLarge = errors.New("it holds more than may be read")

// DefaultLimit is the default maximum size of an export in bytes.
const DefaultLimit = result.MaxDocument

// ReadExports reads the runs of an export, which may be compressed by zstd or gzip. Its errors wrap
// ErrNotExport, or are those of r.
//
// An export is untrusted. At most limit bytes are read, after decompression, into memory. The
// database in it is opened only if its tables and views are exactly tsmark's, so that it cannot run
// code of its own, and its documents may need no more memory than limit.
func ReadExports(ctx context.Context, r io.Reader, limit int64) ([]Export, error) {
	file, err := readFile(r, limit)
	if err != nil {
		return nil, err
	}
	db, err := openMemory()
	if err != nil {
		return nil, err
	}
	defer db.Close() // it is in memory
	runs, err := readDatabase(ctx, db, file, limit)
	switch {
	case err == nil || ctx.Err() != nil:
		return runs, ctx.Err()
	case errors.Is(err, ErrNotExport):
		return nil, err
	}
	return nil, fmt.Errorf("%w: it is damaged (%s); copy it again", ErrNotExport, printable.OneLine(err.Error()))
}

// headerSize is the size of the header of an SQLite file:
// https://www.sqlite.org/fileformat.html#the_database_header
const headerSize = 100

// readFile reads an SQLite file that claims to be an export.
func readFile(r io.Reader, limit int64) ([]byte, error) {
	raw := &remembering{from: r}
	content, packed, err := unpack.Reader(io.NopCloser(raw))
	if err != nil {
		return nil, explainRead(raw, packed, err)
	}
	defer content.Close() // only used for reading
	text := bufio.NewReaderSize(&limited{content, limit, limit}, 64<<10)
	header, err := text.Peek(headerSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, explainRead(raw, packed, err)
	}
	if err := checkHeader(header); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotExport, err)
	}
	file, err := io.ReadAll(text)
	if err != nil {
		return nil, explainRead(raw, packed, err)
	}
	pageSize, pages := int64(binary.BigEndian.Uint16(file[16:])), int64(binary.BigEndian.Uint32(file[28:]))
	if pageSize == 1 {
		pageSize = 64 << 10
	}
	if int64(len(file)) != pageSize*pages {
		return nil, fmt.Errorf("%w: it is damaged, or was cut off; copy it again", ErrNotExport)
	}
	return file, nil
}

func checkHeader(header []byte) error {
	const magic = "SQLite format 3\x00"
	switch {
	case !bytes.HasPrefix(header, []byte(magic)):
		return errors.New("it was not written by tsmark export; give a file that was")
	case len(header) < headerSize:
		return errors.New("it is damaged, or was cut off; copy it again")
	case binary.BigEndian.Uint32(header[68:]) != applicationID:
		return errors.New("it is an SQLite file that tsmark export did not write; give a file that it wrote")
	}
	switch version := binary.BigEndian.Uint32(header[60:]); {
	case version > schemaVersion:
		return fmt.Errorf("it was written by a newer tsmark (schema %d, this one knows %d); read it with that, or a newer one", version, schemaVersion)
	case version != schemaVersion || header[18] != 1 || header[19] != 1: // a journal next to the file is never read
		return errors.New("its header is damaged; copy it again")
	}
	return nil
}

// explainRead returns the error for an export with unreadable content. An error of the file itself
// is returned unchanged.
func explainRead(raw *remembering, packed bool, err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("%w: %w", ErrNotExport, err)
	case raw.failed != nil || !packed && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotExport, err)
}

// remembering is a reader that records its error.
type remembering struct {
	from   io.Reader
	failed error
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failed = err
	}
	return n, err
}

// limited reads at most left bytes.
type limited struct {
	from        io.Reader
	limit, left int64 // limit is only used in the error
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, newSizeError(l.limit)
	}
	return n, err
}

func newSizeError(limit int64) error {
	return fmt.Errorf("%w, %s; if you trust it, allow more with --max-size", errTooLarge, humanize.IBytes(uint64(limit)))
}

// readDatabase reads the runs of the database in the file, into an empty one in memory.
func readDatabase(ctx context.Context, db *sql.DB, file []byte, limit int64) ([]Export, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.Raw(func(c any) error { return c.(serializer).Deserialize(file) }); err != nil {
		return nil, err
	}
	// https://www.sqlite.org/security.html
	if _, err := conn.ExecContext(ctx, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON"); err != nil {
		return nil, err
	}
	if err := checkSchema(ctx, conn); err != nil {
		return nil, err
	}
	// Pages shared by several rows would turn a small file into a large one.
	var checked string
	if err := conn.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&checked); err != nil {
		return nil, err
	}
	if checked != "ok" {
		return nil, errors.New(checked)
	}
	runs, err := readDocuments(ctx, conn, limit)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if err := readLogs(ctx, conn, &runs[i]); err != nil {
			return nil, err
		}
	}
	for i := range runs {
		if err := checkExport(&runs[i]); err != nil {
			return nil, fmt.Errorf("%w: run %s: %s", ErrNotExport, printable.Text(runs[i].Run.ID), printable.OneLine(err.Error()))
		}
		runs[i].Document = nil
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%w: it holds none", ErrNotExport)
	}
	return runs, nil
}

// checkSchema refuses a database unless its tables, views, indexes and triggers are those of an
// export.
func checkSchema(ctx context.Context, from querier) error {
	empty, err := openEmptyExport(ctx)
	if err != nil {
		return err
	}
	defer empty.Close()
	want, err := schemaOf(ctx, empty)
	if err != nil {
		return err
	}
	got, err := schemaOf(ctx, from)
	if err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%w: its tables are not those of an export by this tsmark; read it with the version that wrote it", ErrNotExport)
	}
	return nil
}

// schemaOf lists the objects of a database by the statements that create them.
func schemaOf(ctx context.Context, from querier) (list []string, err error) {
	err = eachRow(ctx, from, func(rows *sql.Rows) error {
		var object string
		err := rows.Scan(&object)
		list = append(list, object)
		return err
	}, "SELECT format('%s %s %s %s', type, name, tbl_name, sql) FROM sqlite_schema ORDER BY 1")
	return list, err
}

// Memory that a text may need: {} is a whole target or query type, the shortest entry of a map
// needs a name and a value, that of an array a number.
const (
	memoryOfObject = 1 << 10
	memoryOfPair   = 64
	memoryOfNumber = 16
)

func memoryOf(document []byte) int64 {
	count := func(b byte) int64 { return int64(bytes.Count(document, []byte{b})) }
	return memoryOfObject*count('{') + memoryOfPair*count(':') + memoryOfNumber*count(',')
}

func readDocuments(ctx context.Context, from querier, limit int64) (runs []Export, err error) {
	memory := limit
	err = eachRow(ctx, from, func(rows *sql.Rows) error {
		var id string
		var e Export
		if err := rows.Scan(&id, &e.Document); err != nil {
			return err
		}
		if memory -= memoryOf(e.Document); memory < 0 {
			return fmt.Errorf("%w: %w", ErrNotExport, newSizeError(limit))
		}
		if e.Run, err = result.DecodeStrictly(e.Document); err != nil {
			return fmt.Errorf("%w: this tsmark does not know its format; import it with the version that wrote it, or a newer one (%s)", ErrNotExport, printable.OneLine(err.Error()))
		}
		runs = append(runs, e)
		return checkStored(e.Run, id)
	}, "SELECT id, document FROM documents ORDER BY id")
	return runs, err
}

func readLogs(ctx context.Context, from querier, e *Export) error {
	err := eachRow(ctx, from, func(rows *sql.Rows) error {
		var l Log
		err := rows.Scan(&l.Name, &l.Data)
		e.Logs = append(e.Logs, l)
		return err
	}, "SELECT name, data FROM logs WHERE run = ? ORDER BY name", e.Run.ID)
	if err != nil {
		return err
	}
	sum := ""
	err = eachRow(ctx, from, func(rows *sql.Rows) error { return rows.Scan(&sum) }, "SELECT sha256 FROM checksums WHERE run = ?", e.Run.ID)
	if err == nil && sum != checksum(e.Document, e.Logs) {
		err = errors.New("its SHA-256 is another one")
	}
	return err
}

// checkExport refuses content that no results folder can have. Nothing in an export may refer to a
// file outside of the run's folder.
func checkExport(e *Export) error {
	if _, err := e.Run.Pool(); err != nil {
		return err
	}
	for _, l := range e.Logs {
		if !fileName(l.Name) || !operationLog(l.Name) {
			return fmt.Errorf("%q cannot be an operation log in its folder", l.Name)
		}
	}
	return nil
}

// fileName reports whether a name is a valid name of a file below a folder, on every system.
func fileName(name string) bool {
	return fs.ValidPath(name) && name != "." && path.Clean(name) == name &&
		!strings.ContainsAny(name, `\:`) && filepath.IsLocal(filepath.FromSlash(name))
}

// SameRun reports whether the records of two runs are identical.
func SameRun(a, b *result.Run) (bool, error) {
	first, err := result.Encode(a)
	if err != nil {
		return false, err
	}
	second, err := result.Encode(b)
	return bytes.Equal(first, second), err
}
