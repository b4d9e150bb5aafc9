// Package witness reads a sample of the rows of users' files a second time, with readers that share
// no code with those of the load, and compares all values. A value that one library misreads is
// then neither loaded nor taken as expected contents.
//
// DuckDB reads Parquet, CSV and JSON, InfluxData's own decoder reads line protocol, Go's CSV reader
// reads TSBS's format timescaledb, and a small decoder of this package reads Arrow. Values are
// compared by meaning: the number 1.10 and the text 1.1 of JSON are equal.
//
// The program passes DuckDB to this package: linking it takes seconds, and most tests compare
// nothing.
package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/internal/unpack"
	"github.com/tsmark/tsmark/workload"
)

// The formats of files, as package input names them.
const (
	CSV     = "csv"
	Objects = "ndjson"
	Points  = "influx"
	Parquet = "parquet"
	Arrow   = "arrow"
	Paired  = "timescaledb"
)

// tagged reports whether a tag and a field of the file may have one name.
func (f *File) tagged() bool { return f.Format == Points || f.Format == Paired }

// File is a file to be read a second time.
type File struct {
	Path       string
	Format     string
	Header     []string                // of CSV: the names of all columns
	HasHeader  bool                    // of CSV: the first record has these names
	Delimiter  byte                    // of CSV
	Comma      bool                    // of CSV: decimals have a comma
	Time       string                  // column of the time; of line protocol it has none
	TimeOfDay  string                  // column of the times of day, where Time has dates alone; empty: none
	TimeFormat string                  // as the setting time-format says, where it is a layout one of Go
	TimeZone   string                  // of times without an offset; empty: UTC
	Encoding   string                  // of texts; empty: UTF-8, or UTF-16 by the first bytes
	Null       string                  // text of a missing value, in addition to an empty text
	Loads      func(table string) bool // of line protocol: whether rows of a measurement are loaded
	Rows       int64                   // that were loaded
}

// unable says why a file, or a column of it, could not be read a second time: no sign that
// it was read wrongly the first time.
type unable struct{ reason string }

func (u *unable) Error() string { return u.reason }

func cannot(format string, args ...any) error { return &unable{fmt.Sprintf(format, args...)} }

// Difference is the error of values that two readers read differently.
type Difference struct {
	File   string
	Row    int64 // from 0
	Column string
	First  string // what the load's reader says
	Second string // and the other one
	Reader string
	More   int64 // further values of the sample that differ
}

// Error implements error.
func (d *Difference) Error() string {
	more := ""
	if d.More > 0 {
		more = fmt.Sprintf(" (and %s more values of the sample)", humanize.Comma(d.More))
	}
	return fmt.Sprintf("%s:row %d: column %s: tsmark reads %s and %s reads %s%s; write the file again in another encoding or format, or leave the column out",
		d.File, d.Row, d.Column, d.First, d.Reader, d.Second, more)
}

// reader reads rows of a file, in any order.
type reader interface {
	// name returns the name of the reader, with its version if known.
	name() string
	// read calls visit with the values of each row of the spans, by their place in columns.
	// Values are valid until it returns. The first row that a file has beyond all that were
	// loaded is visited, too, and the header of CSV as row -1, with the names. An *unable
	// error says why rows cannot be read.
	read(ctx context.Context, columns []column, spans []span, visit func(row int64, values []value)) error
}

// span is consecutive rows of a file.
type span struct{ first, rows int64 }

// wants reports whether the rows from first up to, but not including, end contain a row of the
// spans, or the first row beyond all that were loaded.
func (f *File) wants(first, end int64, spans []span) bool {
	wanted := first <= f.Rows && end > f.Rows
	for _, s := range spans {
		wanted = wanted || s.first < end && s.first+s.rows > first
	}
	return wanted
}

// placesOf maps columns to their places.
func placesOf(columns []column) map[column]int {
	places := make(map[column]int, len(columns))
	for i, c := range columns {
		places[c] = i
	}
	return places
}

// maxColumns is the maximum number of columns of a file that are compared: a random choice if there
// are more.
const maxColumns = 1000

// Check reads the rows of the sample again and compares them; file describes the files, of
// which there are n. Without DuckDB, which may be nil, its formats are not compared. The error is
// a *Difference, that of file, or the context's.
func (s *Sample) Check(ctx context.Context, d *DuckDB, n int, file func(i int) (File, error)) (workload.Reread, error) {
	var found workload.Reread
	skipped := make(map[string]bool)
	for i := range n {
		windows := s.windowsOf(i)
		if len(windows) == 0 {
			continue
		}
		f, err := file(i)
		if err != nil {
			return found, err
		}
		rows, columns, name, err := s.file(ctx, d, &f, windows, skipped)
		if why := (*unable)(nil); errors.As(err, &why) {
			skipped[why.reason] = true
			continue
		} else if err != nil {
			return found, err
		}
		found.Reader, found.Rows, found.Columns = name, found.Rows+rows, max(found.Columns, columns)
	}
	found.Skipped = slices.Sorted(maps.Keys(skipped))
	if more := len(found.Skipped) - maxSkipped; more > 0 {
		found.Skipped = append(found.Skipped[:maxSkipped], fmt.Sprintf("and %d more", more))
	}
	return found, nil
}

// maxSkipped is the maximum number of lines about values that were not compared.
const maxSkipped = 10

// file compares the windows of one file.
func (s *Sample) file(ctx context.Context, d *DuckDB, f *File, windows []*window, skipped map[string]bool) (rows int64, columns int, name string, err error) {
	r, err := open(f, d)
	if err != nil {
		return 0, 0, "", err
	}
	c := newComparison(f, r.name(), windows)
	if all := len(c.columns); all > 2+maxColumns {
		c.choose(s.seed, maxColumns)
		skipped[fmt.Sprintf("all but %[2]d random columns of the %[3]d of %[1]s", f.Path, maxColumns, all)] = true
	}
	var spans []span
	for _, w := range c.windows {
		spans = append(spans, span{w.first, w.rows})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, cannot("reading %s again took more than %v", f.Path, maxTime))
	defer cancel()
	if err := r.read(ctx, c.columns, spans, c.row); err != nil {
		if ctx.Err() != nil {
			return 0, 0, "", context.Cause(ctx)
		}
		return 0, 0, "", err
	}
	c.finish()
	for reason := range c.skipped {
		skipped[reason] = true
	}
	if c.difference != nil {
		return 0, 0, "", c.difference
	}
	return c.rows, len(c.columns), r.name(), nil
}

// maxTime bounds the reading of one file.
const maxTime = 2 * time.Minute

// open chooses the reader of a file.
func open(f *File, d *DuckDB) (reader, error) {
	if err := readable(f); err != nil {
		return nil, err
	}
	switch f.Format {
	case Arrow:
		return openArrow(f)
	case Points:
		return pointReader{f}, nil
	case Paired:
		return pairedReader{f}, nil
	}
	return openDuckDB(f, d)
}

// readable returns an error for a text in an encoding or a compression that no second reader knows.
func readable(f *File) error {
	switch {
	case f.Format == Parquet || f.Format == Arrow:
		return nil
	case !slices.Contains([]string{CSV, Objects, Points, Paired}, f.Format):
		return cannot("%s: no second reader knows its format %s", f.Path, f.Format)
	case f.Encoding != "" && !strings.EqualFold(f.Encoding, "utf-8"):
		return cannot("%s: no second reader knows its encoding %s", f.Path, f.Encoding)
	}
	if begin := firstLine(f.Path, 2); begin == "\xff\xfe" || begin == "\xfe\xff" || strings.Contains(begin, "\x00") {
		return cannot("%s: no second reader knows its encoding UTF-16", f.Path)
	}
	if kind := compressionOf(f.Path); f.Format != Points && f.Format != Paired && !slices.Contains([]string{"uncompressed", "gzip", "zstd"}, kind) {
		return cannot("%s: no second reader knows its compression %s", f.Path, kind)
	}
	return nil
}

// oneLine is a message of others in one line, and not a long one.
func oneLine(message string) string {
	const most = 200
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	if len(message) > most {
		message = message[:most] + "…"
	}
	return message
}

// compressionOf names the compression of a file by its first bytes: uncompressed, or as package unpack has it.
func compressionOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "uncompressed"
	}
	defer f.Close()
	var begin [4]byte
	n, _ := io.ReadFull(f, begin[:]) // as many as there are
	return cmp.Or(unpack.Compression(begin[:n]), "uncompressed")
}

// openContent opens a file's content, decompressed.
func openContent(path string) (io.ReadCloser, error) {
	raw, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	content, _, err := unpack.Reader(raw)
	if err != nil {
		raw.Close()
		return nil, err
	}
	return content, nil
}

// firstLine returns the first line of a text, decompressed, limited to most bytes.
func firstLine(path string, most int) string {
	content, err := openContent(path)
	if err != nil {
		return ""
	}
	defer content.Close()
	begin := make([]byte, most)
	n, _ := io.ReadFull(content, begin)
	line, _, _ := strings.Cut(string(begin[:n]), "\n")
	return line
}

// jsonLayout returns DuckDB's name of the layout of a JSON file, from its first line: one object
// per line, unless the line begins an array or an incomplete object.
func jsonLayout(path string) string {
	const most = 256 << 10
	line := firstLine(path, most)
	text := strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	if strings.HasPrefix(text, "[") || text != "" && !strings.HasSuffix(text, "}") && len(line) < most {
		return "auto"
	}
	return "newline_delimited"
}

// delimiterLine reports whether a file of CSV begins with Excel's line sep=; of the delimiter,
// and whether that line is anything but these five characters.
func delimiterLine(path string) (there, odd bool) {
	whole := firstLine(path, 16)
	line := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(whole, "\ufeff"), "\r"), `"`)
	there = len(line) == len("sep=;") && strings.EqualFold(line[:4], "sep=")
	return there, there && line != whole
}
