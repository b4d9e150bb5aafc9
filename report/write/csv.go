package write

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// CSVWriter writes lines of CSV that a spreadsheet can open safely, whatever their
// texts: each cell is on one line and printable, and a cell that begins like a
// formula but is not a number gets an apostrophe in front.
type CSVWriter struct{ *csv.Writer }

// NewCSV returns a writer of lines.
func NewCSV(w io.Writer) CSVWriter { return CSVWriter{csv.NewWriter(w)} }

// Write writes a line.
func (c CSVWriter) Write(cells []string) error {
	for i, cell := range cells {
		cell = printable.Line(cell)
		if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
			if _, err := strconv.ParseFloat(cell, 64); err != nil {
				cell = "'" + cell
			}
		}
		cells[i] = cell
	}
	return c.Writer.Write(cells)
}

// Column is a figure of a CSV file: its documentation comes from the same list. The value is
// a text, a number, or nil.
type Column[T any] struct {
	Name, Unit, Doc string
	Value           func(T) any
}

// WriteCSV writes a line of all columns for each of the lines. C is a package's own type of
// a Column.
func WriteCSV[C ~struct {
	Name, Unit, Doc string
	Value           func(T) any
}, T any](w io.Writer, columns []C, lines []T) error {
	out, cells := NewCSV(w), make([]string, len(columns))
	for i, c := range columns {
		cells[i] = Column[T](c).Name
	}
	err := out.Write(cells)
	for _, line := range lines {
		if err != nil {
			return err
		}
		for i, c := range columns {
			cells[i] = csvText(Column[T](c).Value(line))
		}
		err = out.Write(cells)
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}

// csvText writes numbers with nine digits: more than any clock gives, and the same on
// all processors.
func csvText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 9, 64)
	case result.Value:
		if v.IsKnown() {
			return csvText(float64(v))
		}
	case stats.Value:
		if v.Bound != stats.Unknown {
			return csvText(v.Figure)
		}
	}
	return ""
}
