package owndata

import (
	"fmt"
	"unicode/utf8"
)

// The most that is read: of a table, and of all tables together. No system takes more, and
// an experiment lists every column.
const (
	maxColumns    = 10_000
	maxTables     = 10_000
	maxAllColumns = 100_000
)

// maxBatchValues is how many values a batch has about, so that a wide table takes no more
// memory than a narrow one: a batch with more is full, however few its rows are.
const maxBatchValues = 2 << 20

// errWide is the error of a table, or of a line, with more columns than are read.
func errWide(table string) error {
	return fmt.Errorf("table %s has more than %d columns, which are the most that are read; write its values in rows, with a tag for what the names of columns tell, or leave columns out of the file", table, maxColumns)
}

// addTable counts a table of line protocol.
func (p *profiler) addTable(name []byte) error {
	if !utf8.Valid(name) {
		return errName("measurement", name)
	}
	if p.tables++; p.tables > maxTables {
		return fmt.Errorf("there are more than %d measurements, which are the most that are read; write what their names tell as a tag, or load them in parts", maxTables)
	}
	return nil
}

// addColumn counts a column that is new in a table.
func (p *profiler) addColumn(of *profile, name []byte) error {
	if !utf8.Valid(name) {
		return errName("column", name)
	}
	if len(of.columns) >= maxColumns {
		return errWide(of.name)
	}
	if p.columns++; p.columns > maxAllColumns {
		return fmt.Errorf("all tables together have more than %d columns, which are the most that are read; load the tables in parts", maxAllColumns)
	}
	return nil
}

// errName is the error of a name that is not UTF-8.
func errName(what string, name []byte) error {
	return fmt.Errorf("the name of %s %q is not valid UTF-8; convert the file, as by iconv -f latin1 -t utf-8 if it is Latin-1", what, name[:min(len(name), shown)])
}
