package owndata

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/columnar"
	"github.com/tsmark/tsmark/workload/file/delimited"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/lineformat"
	"github.com/tsmark/tsmark/workload/file/object"
	"github.com/tsmark/tsmark/workload/file/sample"
)

// tagged reports whether each row names its table, its tags and its fields.
func (l *layout) tagged() bool {
	return l.format == input.FormatPoints || l.format == input.FormatPaired || sample.Reads(l.format)
}

// columnar reports whether the format has typed columns, and not texts.
func (l *layout) columnar() bool {
	return l.format == input.FormatParquet || l.format == input.FormatArrow
}

// formatOf detects the format from the file's first bytes, or from its name.
func formatOf(f input.File) (string, error) {
	in, err := input.Open(f)
	if err != nil {
		return "", err
	}
	defer in.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(in, head)
	if n == 0 && err != nil && !errors.Is(err, io.EOF) { // an error behind the first bytes is found again, with its line
		return "", fmt.Errorf("reading %s: %w", f.Name, err)
	}
	head = head[:n]
	switch {
	case n == 0:
		return "", fmt.Errorf("%s is empty; give a file with rows, or leave it out", f.Name)
	case bytes.HasPrefix(head, []byte(columnar.MagicParquet)):
		return input.FormatParquet, nil
	case bytes.HasPrefix(head, []byte(columnar.MagicArrow)), bytes.HasPrefix(head, []byte{0xff, 0xff, 0xff, 0xff}):
		return input.FormatArrow, nil
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \r\n")
	if lineformat.HasPairedHeader(text) {
		return input.FormatPaired, nil
	}
	if found := sample.FormatOf(text); found != "" {
		return found, nil
	}
	if named := input.FormatOfName(f.Name); named != "" && !input.IsPlainText(f.Name) {
		return named, nil
	}
	switch {
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")) && bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("{")):
		return input.FormatObjects, nil
	case beginsWithPoint(head):
		return input.FormatPoints, nil
	}
	return input.FormatCSV, nil
}

// beginsWithPoint reports whether the first line is one of line protocol, comments and
// statements before it left out.
func beginsWithPoint(head []byte) bool {
	cut, err := lineformat.NewPointLines(bytes.NewReader(head)).Next()
	if err == nil {
		_, _, err = lineformat.CutHead(cut.Head, nil)
	}
	for rest := cut.Fields; err == nil && len(rest) > 0; {
		_, rest, err = lineformat.CutField(rest)
	}
	if err != nil {
		return false
	}
	_, ok := number.Int(cut.Time)
	return ok
}

// contentOf is one digest of all files, in their order.
func contentOf(files []workload.File) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s %d\n", f.SHA256, f.Bytes)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// rows reads the rows of one file.
type rows interface {
	// Next puts rows into the filler until that is full; io.EOF: there are no more,
	// though some may have been put.
	Next(*input.Filler) error
	// Place returns the place of the row that an error is about, without the file.
	Place() input.Error
}

// openOwn is the rows of a file, and the file.
type opened struct {
	rows
	file   string
	closer io.Closer
}

// Close implements io.Closer.
func (o *opened) Close() error { return o.closer.Close() }

// locate adds the place of the row to an error of Next.
func (o *opened) locate(err error) error {
	at := o.Place()
	at.File, at.Err = o.file, err
	return &at
}

// errNoTable is the error of a file whose name names none of the tables.
var errNoTable = errors.New("belongs to no table: with several tables, the name of each file without extension is that of its table")

// tableOf is the table that the rows of a file are of; of line protocol any one.
func (l *layout) tableOf(x *input.Index, f input.File) (*input.Table, error) {
	if len(x.Tables) == 1 || l.tagged() {
		return x.Tables[0], nil
	}
	if t := x.ByName[input.WithoutExtension(f.Name)]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s %w", f.Name, errNoTable)
}

// openRows opens the rows of a file by a layout.
func openRows(f input.File, l *layout, x *input.Index) (*opened, error) {
	fail := func(closer io.Closer, err error) (*opened, error) {
		closer.Close()
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	t, err := l.tableOf(x, f)
	if err != nil {
		return nil, err
	}
	if l.columnar() {
		return openRecords(f, l, t)
	}
	in, err := input.Open(f)
	if err != nil {
		return nil, err
	}
	if sample.Reads(l.format) {
		return &opened{sample.NewRows(sample.Open(l.format, in), x), f.Name, in}, nil
	}
	switch l.format {
	case input.FormatPoints:
		return &opened{lineformat.NewPointRows(lineformat.NewPointLines(in), lineformat.NewHeads(x)), f.Name, in}, nil
	case input.FormatPaired:
		lines, err := lineformat.NewPairedLines(in)
		if err != nil {
			return fail(in, err)
		}
		return &opened{lineformat.NewPairedRows(lines, lineformat.NewHeads(x)), f.Name, in}, nil
	case input.FormatObjects:
		r, err := object.NewRows(input.NewLineReader(in), t, l.timeColumns())
		if err != nil {
			return fail(in, err)
		}
		if !x.Frozen {
			r.Named = t.Named
		}
		return &opened{r, f.Name, in}, nil
	}
	records, columns, err := delimited.Open(in, l.delimiter, l.columns)
	if err != nil {
		in.Close()
		return nil, &input.Error{File: f.Name, Line: 1, Err: err}
	}
	r := &delimited.Rows{Records: *records, Table: t, Columns: columns, TimeAt: slices.Index(columns, l.time), Comma: l.decimal == ","}
	if r.Roles, r.Missing, err = t.Roles(columns, l.timeColumns()...); err != nil {
		return fail(in, err)
	}
	return &opened{r, f.Name, in}, nil
}
