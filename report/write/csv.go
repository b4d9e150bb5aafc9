package write

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/printable"
)

// CSVWriter writes lines of CSV that a spreadsheet can open, whoever wrote
// their texts: each cell is on one line and printable, and one that begins as a
// formula does, and is no number, has an apostrophe before it.
type CSVWriter struct{ *csv.Writer }

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
