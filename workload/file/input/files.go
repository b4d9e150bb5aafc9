// Package input is shared by all readers of users' files: files and their names, lines of text,
// times, the tables and series of a dataset, and a Filler that puts rows into batches.
package input

import (
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

	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/unpack"
)

// The formats of files.
const (
	FormatCSV     = "csv"
	FormatPoints  = "influx" // as generate has it
	FormatPaired  = "timescaledb"
	FormatObjects = "ndjson"
	FormatParquet = "parquet"
	FormatArrow   = "arrow"
	// Exports of monitoring systems.
	FormatMetrics   = "openmetrics"     // text formats of Prometheus
	FormatExport    = "victoriametrics" // JSON lines of /api/v1/export
	FormatAnnotated = "annotated-csv"   // answers of InfluxDB to Flux
)

// Formats lists the formats of files.
func Formats() []string {
	return []string{FormatCSV, FormatPoints, FormatObjects, FormatParquet, FormatArrow, FormatPaired, FormatMetrics, FormatExport, FormatAnnotated}
}

// extensions lists the file name extensions searched in a folder, by format.
var extensions = [...]struct{ name, format string }{
	{".csv", FormatCSV}, {".tsv", FormatCSV}, {".txt", FormatCSV}, {".ndjson", FormatObjects}, {".jsonl", FormatObjects}, {".json", FormatObjects},
	{".prom", FormatMetrics}, {".openmetrics", FormatMetrics}, {".lp", FormatPoints}, {".influx", FormatPoints}, {".line", FormatPoints}, {".parquet", FormatParquet}, {".arrow", FormatArrow}, {".arrows", FormatArrow}, {".feather", FormatArrow},
}

// File is a file with rows.
type File struct {
	Name     string
	Size     int64
	Encoding string // of a text; empty: UTF-8, or UTF-16 by its first bytes
	modified time.Time
}

// Expand finds the files that names stand for: files, folders, whose files are taken that
// have the extension of a format, and patterns. Each is there once; those of one folder or
// pattern are in the order of their names.
func Expand(names []string) ([]File, error) {
	var files []File
	add := func(name string) error {
		if slices.ContainsFunc(files, func(f File) bool { return f.Name == name }) {
			return nil
		}
		info, err := os.Stat(name)
		if err != nil {
			return infile.Unreadable(name, err)
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file; rows are read more than once, so save them to a file", name)
		}
		files = append(files, File{Name: name, Size: info.Size(), modified: info.ModTime()})
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
		if !e.IsDir() && FormatOfName(e.Name()) != "" {
			found = append(found, filepath.Join(name, e.Name()))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the folder %s has no file whose name ends as one of a known format, such as .csv, .ndjson, .lp, .parquet or .arrow; name the files", name)
	}
	return found, nil
}

// WithoutExtension is a name without folder and extensions.
func WithoutExtension(name string) string {
	base, _, _ := strings.Cut(filepath.Base(name), ".")
	return base
}

// FormatOfName returns the format according to a file's name; empty: unknown.
func FormatOfName(name string) string {
	name = strings.ToLower(unpack.TrimExtension(name))
	for _, e := range extensions {
		if strings.HasSuffix(name, e.name) {
			return e.format
		}
	}
	return ""
}

// IsPlainText reports whether a name says no more than that a file is of text.
func IsPlainText(name string) bool {
	return strings.HasSuffix(strings.ToLower(unpack.TrimExtension(name)), ".txt")
}

// Open opens a file's content, decompressed, and a text in UTF-8.
func Open(f File) (io.ReadCloser, error) {
	raw, err := os.Open(f.Name)
	if err != nil {
		return nil, infile.Unreadable(f.Name, err)
	}
	content, _, err := unpack.Reader(raw)
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("reading %s: %w", f.Name, err)
	}
	text, err := decodeText(content, f.Encoding)
	if err != nil {
		content.Close()
		return nil, fmt.Errorf("reading %s: %w", f.Name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{text, content}, nil
}

// Hash returns the SHA-256 of the file's bytes on disk, in hexadecimal digits.
func Hash(f File) (string, error) {
	raw, err := os.Open(f.Name)
	if err != nil {
		return "", infile.Unreadable(f.Name, err)
	}
	defer raw.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, raw); err != nil {
		return "", fmt.Errorf("reading %s: %w", f.Name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// CheckUnchanged returns an error where a file is not the one that was surveyed.
func (f File) CheckUnchanged() error {
	info, err := os.Stat(f.Name)
	switch {
	case err != nil:
		return infile.Unreadable(f.Name, err)
	case info.Size() != f.Size || !info.ModTime().Equal(f.modified):
		return fmt.Errorf("%s was changed since it was surveyed; run it again", f.Name)
	}
	return nil
}
