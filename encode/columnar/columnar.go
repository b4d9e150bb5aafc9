// Package columnar writes a dataset as one columnar file a table, with the
// types of its values kept: for people's own tools rather than for a
// database's loader.
//
// A file has the column time, a timestamp in nanoseconds in UTC, then the
// table's tags, then its fields. Text tags are strings with a dictionary,
// numeric tags doubles. A field has the column type of its own type: booleans,
// integers and floats of 32 and 64 bits, strings, timestamps in nanoseconds, dates
// and bytes. What a row lacks is NULL: a tag that its series has not, a field without a value,
// and a field beyond the width of its series.
package columnar

import (
	"bufio"
	"fmt"
	"io"

	"github.com/tsmark/tsmark/series"
)

const (
	// maxRows is the most rows of a row group or record batch: as many as a
	// row group of DuckDB, which reads them in parallel one by one.
	maxRows = 122_880
	// maxCells bounds the values that all tables together hold back, to 64 MiB.
	// Row groups of wide tables are shorter.
	maxCells = 8 << 20
	// maxText is the maximum size in bytes of the free texts that a table buffers, plus those of
	// fewRows rows.
	maxText = 64 << 20
	fewRows = 1 << 10
	// bufferSize combines the small writes of the libraries.
	bufferSize = 256 << 10
	// timeColumn is the name of the first column.
	timeColumn = "time"
)

// Format is a columnar file format.
type Format struct {
	Name string // also the file name's extension
	Help string
	// open returns a function that opens the files of a dataset, with row groups of at most the
	// given number of rows. The files may share memory: they are written in turn.
	open func(rows int) func(io.Writer, *table) (file, error)
}

// Formats lists the formats.
func Formats() []Format {
	return []Format{
		{"parquet", "a folder with a Parquet file a table, types kept", openParquet},
		{"arrow", "a folder with an Arrow IPC file a table, types kept", openArrow},
	}
}

// FlatColumn is a column of a Flat: of floats, integers, texts, booleans or timestamps.
type FlatColumn struct {
	Name string
	Type series.Type
}

// file is the rows of one table being written.
type file interface {
	// write appends the rows that the table holds as one row group.
	write(*table) error
	// close writes the data after the last row.
	close() error
}

// Writer writes the rows of one schema. It is used by one goroutine. It keeps
// 4 bytes a series and tag besides the distinct values of the tags, and rows
// of each table up to a row group.
type Writer struct {
	tables map[*series.Table]*table
	order  []*table // as in the schema
	rows   int      // of a row group
}

// New begins a file for each table of the schema: create is called with the
// file's name, which is the table's with the format's extension. An error of
// create is returned as it is.
func (f Format) New(s *series.Schema, create func(name string) (io.Writer, error)) (*Writer, error) {
	columns := 0
	for _, t := range s.Tables {
		if err := distinctColumns(t); err != nil {
			return nil, err
		}
		columns += 2 + len(t.Fields)
	}
	w := &Writer{
		tables: make(map[*series.Table]*table, len(s.Tables)),
		rows:   max(1, min(maxRows, maxCells/max(1, columns))),
	}
	open := f.open(w.rows)
	shared := make(map[series.TagValues]*tag)
	for _, of := range s.Tables {
		tags, err := newTags(of, s.Range(of), shared)
		if err != nil {
			return nil, err
		}
		t := newTable(of, tags, w.rows)
		out, err := create(of.Name + "." + f.Name)
		if err != nil {
			return nil, err
		}
		t.out = bufio.NewWriterSize(out, bufferSize)
		if t.file, err = open(t.out, t); err != nil {
			return nil, fmt.Errorf("table %s: %w", of.Name, err)
		}
		w.tables[of] = t
		w.order = append(w.order, t)
	}
	return w, nil
}

// Write appends the rows of the batch to the files of their tables.
func (w *Writer) Write(b *series.Batch) error {
	for i := range b.Runs {
		run := &b.Runs[i]
		t := w.tables[run.Table]
		for from := 0; from < run.Rows(); {
			n := min(run.Rows()-from, w.rows-t.rows())
			if t.free {
				n = min(n, fewRows)
			}
			t.append(run, from, n)
			from += n
			if t.full(w.rows) {
				if err := t.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Close writes what Write held back and finishes the files. It does not close
// what create returned.
func (w *Writer) Close() error {
	for _, t := range w.order {
		if t.rows() > 0 {
			if err := t.flush(); err != nil {
				return err
			}
		}
		if err := t.file.close(); err != nil {
			return fmt.Errorf("table %s: %w", t.of.Name, err)
		}
		if err := t.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// distinctColumns returns an error where two columns of the table would have
// the same name.
func distinctColumns(t *series.Table) error {
	seen := map[string]bool{timeColumn: true}
	check := func(name string) error {
		if seen[name] {
			return fmt.Errorf("table %s would have two columns %q", t.Name, name)
		}
		seen[name] = true
		return nil
	}
	for i := range t.Tags {
		if err := check(t.Tags[i].Key); err != nil {
			return err
		}
	}
	for _, f := range t.Fields {
		if err := check(f.Name); err != nil {
			return err
		}
	}
	return nil
}
