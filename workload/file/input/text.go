package input

import (
	"fmt"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
)

// ListSome names the first few of a list.
func ListSome(names []string) string {
	const most = 12
	text := ""
	for i, name := range names {
		switch {
		case i == most:
			return fmt.Sprintf("%s and %d more", text, len(names)-most)
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}

// TrimBlanks cuts off blanks.
func TrimBlanks(text []byte) []byte {
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	return text
}

// RemoveDuplicates returns the list without repeated names.
func RemoveDuplicates(names []string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// IsNumber reports whether a text is a number.
func IsNumber(text []byte) bool {
	_, ok := number.Float(text)
	return ok
}

// WholeText reports whether a text consists of digits, with an optional sign.
func WholeText(text []byte) bool {
	for i, b := range text {
		if (b < '0' || b > '9') && (b != '-' || i > 0) {
			return false
		}
	}
	return len(text) > 0
}

// How to fix a file that is damaged, one of another format than its name or its first
// bytes say, and a line.
const (
	CopyAgain   = "copy it again, or make it again"
	NameFormat  = "give the format that it has (csv, ndjson, influx, parquet, arrow, timescaledb, openmetrics, victoriametrics or annotated-csv)"
	CorrectLine = "correct the line"
	// GiveEncoding is for a text that is not UTF-8.
	GiveEncoding = "give the encoding of the file (own.encoding, --encoding), such as windows-1252 or latin1"
)

func DuplicateError(row, what string, name []byte) error {
	return fmt.Errorf("the %s has %s %s twice; %s", row, what, name, CorrectLine)
}

// WidthError is the error of a table, or of a line, with more columns than are read.
func WidthError(table string) error {
	return fmt.Errorf("table %s has more than %d columns, which are the most that are read; write its values in rows, with a tag for what the names of columns tell, or leave columns out of the file", table, MaxColumns)
}

// NameError is the error of a name that is not UTF-8.
func NameError(what string, name []byte) error {
	return fmt.Errorf("the name of %s %q is not valid UTF-8; "+GiveEncoding, what, name[:min(len(name), MaxShown)])
}

// The most that is read: of a table, and of all tables together. No system takes more, and
// an experiment lists every column.
const (
	MaxColumns    = 10_000
	MaxTables     = 10_000
	MaxAllColumns = 100_000
)

// maxBatchValues is the approximate number of values after which a batch is full, however few rows
// it has, so that a wide table takes no more memory than a narrow one.
const maxBatchValues = 2 << 20

// MaxExact is the largest number up to which doubles hold all integers.
const MaxExact = 1 << 53

// MergeTypes is the type that holds values of both; 0 stands for no values.
func MergeTypes(a, b series.Type) series.Type {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == b, a == 0:
		return b
	case a == series.Int && b == series.Int32:
		return series.Int
	case a == series.Timestamp && b == series.Date:
		return series.Timestamp
	case a.Numeric() && b.Numeric():
		return series.Float
	}
	return series.Text
}

// TimeOfPoints is the name that the time of line protocol has.
const TimeOfPoints = "time"
