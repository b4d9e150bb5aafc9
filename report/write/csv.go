package write

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
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

// WriteParquet writes the lines of WriteCSV as a Parquet file. Numbers are doubles. Columns without any
// value are left out, since their type is unknown.
func WriteParquet[C ~struct {
	Name, Unit, Doc string
	Value           func(T) any
}, T any](w io.Writer, columns []C, lines []T) error {
	var flat []columnar.FlatColumn
	cells := make([][]any, len(lines))
	for _, c := range columns {
		column := columnar.FlatColumn{Name: Column[T](c).Name, Type: series.Float}
		values, known := make([]any, len(lines)), false
		for i, line := range lines {
			values[i] = plainValue(Column[T](c).Value(line))
			switch values[i].(type) {
			case string:
				column.Type = series.Text
			case bool:
				column.Type = series.Bool
			}
			known = known || values[i] != nil
		}
		if !known {
			continue
		}
		flat = append(flat, column)
		for i, v := range values {
			if _, isText := v.(string); column.Type == series.Text && v != nil && !isText {
				v = csvText(v)
			}
			cells[i] = append(cells[i], v)
		}
	}
	out, err := columnar.NewFlat(w, flat)
	if err != nil {
		return err
	}
	for _, row := range cells {
		if err := out.Add(row...); err != nil {
			return err
		}
	}
	return out.Close()
}

// plainValue returns a value of a column as a string, bool, float64, or nil: unknown, or an empty text.
func plainValue(v any) any {
	switch v := v.(type) {
	case string:
		if v != "" {
			return v
		}
	case bool, float64:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case result.Value:
		if v.IsKnown() {
			return float64(v)
		}
	case stats.Value:
		if v.Bound != stats.Unknown {
			return v.Figure
		}
	}
	return nil
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
