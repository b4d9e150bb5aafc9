package owndata

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/internal/unpack"
	"github.com/tsmark/tsmark/workload"
)

// The formats of files.
const (
	formatCSV     = "csv"
	formatPoints  = "influx" // as generate has it
	formatPaired  = "timescaledb"
	formatObjects = "ndjson"
	formatParquet = "parquet"
	formatArrow   = "arrow"
)

// Formats lists the formats of files.
func Formats() []string {
	return []string{formatCSV, formatPoints, formatObjects, formatParquet, formatArrow, formatPaired}
}

// tagged reports whether the format says of each row which table it is of, and what is a tag
// and what a field.
func (l *layout) tagged() bool { return l.format == formatPoints || l.format == formatPaired }

// extensions are those of files that a folder is searched for, by format.
var extensions = [...]struct{ name, format string }{
	{".csv", formatCSV}, {".tsv", formatCSV}, {".txt", formatCSV}, {".ndjson", formatObjects}, {".jsonl", formatObjects}, {".json", formatObjects},
	{".lp", formatPoints}, {".influx", formatPoints}, {".line", formatPoints}, {".parquet", formatParquet}, {".arrow", formatArrow}, {".arrows", formatArrow}, {".feather", formatArrow},
}

// inputFile is a file with rows.
type inputFile struct {
	name     string
	size     int64
	modified time.Time
}

// expand finds the files that names stand for: files, folders, whose files are taken that
// have the extension of a format, and patterns. Each is there once; those of one folder or
// pattern are in the order of their names.
func expand(names []string) ([]inputFile, error) {
	var files []inputFile
	add := func(name string) error {
		if slices.ContainsFunc(files, func(f inputFile) bool { return f.name == name }) {
			return nil
		}
		info, err := os.Stat(name)
		if err != nil {
			return infile.Unreadable(name, err)
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file; rows are read more than once, so save them to a file", name)
		}
		files = append(files, inputFile{name, info.Size(), info.ModTime()})
		return nil
	}
	for _, name := range names {
		info, err := os.Stat(name)
		found := []string{name}
		switch {
		case err == nil && info.IsDir():
			if found, err = inFolder(name); err != nil {
				return nil, err
			}
		case err != nil && strings.ContainsAny(name, "*?["):
			if found, err = filepath.Glob(name); err != nil || len(found) == 0 {
				return nil, fmt.Errorf("no file matches %s; give another pattern, or the names of the files", name)
			}
		case err != nil:
			return nil, infile.Unreadable(name, err)
		}
		for _, f := range found {
			if err := add(f); err != nil {
				return nil, err
			}
		}
	}
	if len(files) == 0 {
		return nil, errors.New("names no file")
	}
	return files, nil
}

func inFolder(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, infile.Unreadable(name, err)
	}
	var found []string
	for _, e := range entries {
		if !e.IsDir() && formatOfName(e.Name()) != "" {
			found = append(found, filepath.Join(name, e.Name()))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the folder %s has no file whose name ends as one of a known format, such as .csv, .ndjson, .lp, .parquet or .arrow; name the files", name)
	}
	return found, nil
}

// withoutExtension is a name without folder and extensions.
func withoutExtension(name string) string {
	base, _, _ := strings.Cut(filepath.Base(name), ".")
	return base
}

// formatOfName tells the format by a file's name; empty: it does not say.
func formatOfName(name string) string {
	name = strings.ToLower(name)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	for _, e := range extensions {
		if strings.HasSuffix(name, e.name) {
			return e.format
		}
	}
	return ""
}

// formatOf tells the format by the file's first bytes, or by its name.
func formatOf(f inputFile) (string, error) {
	in, err := open(f)
	if err != nil {
		return "", err
	}
	defer in.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("reading %s: %w", f.name, err)
	}
	head = head[:n]
	switch {
	case n == 0:
		return "", fmt.Errorf("%s is empty; give a file with rows, or leave it out", f.name)
	case bytes.HasPrefix(head, []byte(magicParquet)):
		return formatParquet, nil
	case bytes.HasPrefix(head, []byte(magicArrow)), bytes.HasPrefix(head, []byte{0xff, 0xff, 0xff, 0xff}):
		return formatArrow, nil
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \r\n")
	if hasPairedHeader(text) {
		return formatPaired, nil
	}
	if named := formatOfName(f.name); named != "" && !isPlainText(f.name) {
		return named, nil
	}
	switch {
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")) && bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("{")):
		return formatObjects, nil
	case beginsWithPoint(head):
		return formatPoints, nil
	}
	return formatCSV, nil
}

// isPlainText reports whether a name says no more than that a file is of text.
func isPlainText(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"), ".txt")
}

// beginsWithPoint reports whether the first line is one of line protocol, comments and
// statements before it left out.
func beginsWithPoint(head []byte) bool {
	cut, err := newPointLines(bytes.NewReader(head)).next()
	if err == nil {
		_, _, err = cutHead(cut.head, nil)
	}
	for rest := cut.fields; err == nil && len(rest) > 0; {
		_, rest, err = cutField(rest)
	}
	if err != nil {
		return false
	}
	_, ok := number.Int(cut.time)
	return ok
}

// open opens a file's content, decompressed.
func open(f inputFile) (io.ReadCloser, error) {
	raw, err := os.Open(f.name)
	if err != nil {
		return nil, infile.Unreadable(f.name, err)
	}
	content, _, err := unpack.Reader(raw)
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("reading %s: %w", f.name, err)
	}
	return content, nil
}

// hash returns the SHA-256 of a file as it stands on disk, in hexadecimal digits.
func hash(f inputFile) (string, error) {
	raw, err := os.Open(f.name)
	if err != nil {
		return "", infile.Unreadable(f.name, err)
	}
	defer raw.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, raw); err != nil {
		return "", fmt.Errorf("reading %s: %w", f.name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// contentOf is one digest of all files, in their order.
func contentOf(files []workload.File) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s %d\n", f.SHA256, f.Bytes)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// unchanged returns an error where a file is not the one that was surveyed.
func (f inputFile) unchanged() error {
	info, err := os.Stat(f.name)
	switch {
	case err != nil:
		return infile.Unreadable(f.name, err)
	case info.Size() != f.size || !info.ModTime().Equal(f.modified):
		return fmt.Errorf("%s was changed since it was surveyed; run it again", f.name)
	}
	return nil
}

// rows reads the rows of one file.
type rows interface {
	// next puts rows into the filler until that is full; io.EOF: there are no more,
	// though some may have been put.
	next(*filler) error
	// place says where the row stands that an error is about, but for the file.
	place() Error
}

// opened is the rows of a file, and the file.
type opened struct {
	rows
	file   string
	closer io.Closer
}

// Close implements io.Closer.
func (o *opened) Close() error { return o.closer.Close() }

// group is the row group that the last rows are of; 0 where a file has none.
func (o *opened) group() int {
	if r, ok := o.rows.(*recordFile); ok {
		return r.filled
	}
	return 0
}

// only has the row groups read that are wanted, and no others.
func (o *opened) only(wanted func(group int) bool) {
	if r, ok := o.rows.(*recordFile); ok {
		r.source.only(wanted)
	}
}

// located says of an error of next where the row stands.
func (o *opened) located(err error) error {
	at := o.place()
	at.File, at.Err = o.file, err
	return &at
}

// errNoTable is the error of a file whose name names none of the tables.
var errNoTable = errors.New("belongs to no table: with several tables, the name of each file without extension is that of its table")

// tableOf is the table that the rows of a file are of; of line protocol any one.
func (x *index) tableOf(f inputFile, l *layout) (*table, error) {
	if len(x.tables) == 1 || l.tagged() {
		return x.tables[0], nil
	}
	if t := x.byName[withoutExtension(f.name)]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s %w", f.name, errNoTable)
}

// openRows opens the rows of a file by a layout.
func openRows(f inputFile, l *layout, x *index) (*opened, error) {
	fail := func(closer io.Closer, err error) (*opened, error) {
		closer.Close()
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	t, err := x.tableOf(f, l)
	if err != nil {
		return nil, err
	}
	if l.format == formatParquet || l.format == formatArrow {
		source, closer, err := openRecords(f, l.format, func(name string) bool {
			_, isTag := t.tagAt[name]
			_, isField := t.fieldAt[name]
			return name == l.time || isTag || isField
		})
		if err != nil {
			return nil, err
		}
		r, err := newRecordFile(source, t, l.time)
		if err != nil {
			return fail(closer, err)
		}
		return &opened{r, f.name, closer}, nil
	}
	in, err := open(f)
	if err != nil {
		return nil, err
	}
	switch l.format {
	case formatPoints:
		return &opened{newPointRows(newPointLines(in), x), f.name, in}, nil
	case formatPaired:
		lines, err := newPairedLines(in)
		if err != nil {
			return fail(in, err)
		}
		return &opened{newPairedRows(lines, x), f.name, in}, nil
	case formatObjects:
		r, err := newObjectRows(newLineReader(in), t, l.timeColumns())
		if err != nil {
			return fail(in, err)
		}
		if !x.frozen {
			r.seen = t.seen
		}
		return &opened{r, f.name, in}, nil
	}
	records, columns, err := openCSV(in, l.delimiter, l.columns)
	if err != nil {
		in.Close()
		return nil, &Error{File: f.name, Line: 1, Err: err}
	}
	r := &csvRows{records: *records, table: t, columns: columns, timeAt: slices.Index(columns, l.time)}
	if r.roles, r.missing, err = t.roles(columns, l.timeColumns()...); err != nil {
		return fail(in, err)
	}
	return &opened{r, f.name, in}, nil
}

// The first bytes of files of record batches; those of Parquet are its last ones, too.
const (
	magicParquet = "PAR1"
	magicArrow   = "ARROW1"
)

// How to fix a file that is damaged, one of another format than its name or its first
// bytes say, and a line.
const (
	copyAgain  = "copy it again, or make it again"
	giveFormat = "give the format that it has (csv, ndjson, influx, parquet, arrow or timescaledb)"
	correct    = "correct the line"
)

// whole returns an error where a file does not begin or does not end as Parquet does.
func whole(raw *os.File) error {
	info, err := raw.Stat()
	if err != nil {
		return err
	}
	begin, end := make([]byte, len(magicParquet)), make([]byte, len(magicParquet))
	_, err = raw.ReadAt(begin, 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}), bytes.HasPrefix(begin, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return errors.New("is Parquet that is compressed as a whole, whose parts cannot be found; decompress it, as by gunzip or unzstd")
	case string(begin) != magicParquet:
		return errors.New("is no Parquet: it begins otherwise; " + giveFormat)
	}
	if _, err = raw.ReadAt(end, max(0, info.Size()-int64(len(end)))); err != nil {
		return err
	}
	if info.Size() < 3*int64(len(magicParquet)) || string(end) != magicParquet {
		return errors.New("is cut off: it does not end as Parquet does; " + copyAgain)
	}
	return nil
}

// unread is what is wrong with a file of record batches that the library cannot read: it is
// damaged, or the library lacks something.
func unread(why any) string {
	text := fmt.Sprint(why)
	for _, lacks := range []string{"unimplemented", "not implemented", "not supported", "unsupported", "not yet"} {
		if strings.Contains(strings.ToLower(text), lacks) {
			return fmt.Sprintf("has an encoding, compression or type that tsmark cannot read (%s); write it again with others, as with Parquet's encoding PLAIN and compression zstd", text)
		}
	}
	return fmt.Sprintf("is damaged (%s); %s", text, copyAgain)
}

// openRecords opens a file of record batches, of which those columns are read that are
// wanted; nil: all.
func openRecords(f inputFile, format string, wanted func(string) bool) (source recordSource, closer io.Closer, err error) {
	raw, err := os.Open(f.name)
	if err != nil {
		return nil, nil, infile.Unreadable(f.name, err)
	}
	// The library panics for some files that are damaged.
	defer func() {
		if p := recover(); p != nil {
			raw.Close()
			source, closer, err = nil, nil, fmt.Errorf("%s %s", f.name, unread(p))
		}
	}()
	fail := func(err error) (recordSource, io.Closer, error) {
		raw.Close()
		return nil, nil, fmt.Errorf("%s: %w", f.name, err)
	}
	if format == formatParquet {
		if err := whole(raw); err != nil {
			return fail(err)
		}
		p, err := openParquet(raw, wanted)
		if err != nil {
			return fail(err)
		}
		return p, raw, nil
	}
	magic := make([]byte, len(magicArrow))
	if _, err := raw.ReadAt(magic, 0); err != nil && !errors.Is(err, io.EOF) {
		return fail(err)
	}
	if string(magic) == magicArrow {
		of, err := ipc.NewFileReader(raw, ipc.WithAllocator(bounded{memory.DefaultAllocator}))
		if err != nil {
			return fail(fmt.Errorf("is no whole Arrow file (%w); %s", err, copyAgain))
		}
		return &arrowFileSource{of: of}, raw, nil
	}
	content, _, err := unpack.Reader(raw)
	if err != nil {
		return fail(err)
	}
	of, err := ipc.NewReader(content, ipc.WithAllocator(bounded{memory.DefaultAllocator}))
	if err != nil {
		content.Close()
		return nil, nil, fmt.Errorf("%s: is no Arrow that can be read (%w); %s, or %s", f.name, err, giveFormat, copyAgain)
	}
	return &arrowStreamSource{of: of}, content, nil
}
