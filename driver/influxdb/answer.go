package influxdb

import (
	"fmt"
	"io"
	"strings"

	"github.com/tsmark/tsmark/driver/jsonrows"
)

// answer reads answers as they come: JSON documents, one or, where they are
// chunked, several, each with results of statements, these with series, and
// those with rows: the time, the tags of the series, the other columns.
type answer struct {
	jsonrows.Reader
	chunked bool
	more    bool // the newest series or result said that more of it comes
}

// read reads an answer.
func (a *answer) read() error {
	a.more = false
	err := a.Documents(a.document)
	if err == nil && a.more {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// document reads one document. io.EOF: there is none.
func (a *answer) document() error {
	return a.Object(func(name string) error {
		switch name {
		case "results":
			return a.Array(a.result)
		case "error":
			return a.failure()
		}
		return a.Skip()
	})
}

// result reads the result of a statement.
func (a *answer) result() error {
	a.more = false
	return a.Object(func(name string) error {
		switch name {
		case "series":
			return a.Array(a.series)
		case "error":
			return a.failure()
		case "partial":
			return a.partial()
		}
		return a.Skip()
	})
}

// partial reads the flag that says that the rest of a series comes with the
// next chunk. Without chunks there is no next one: the server's max-row-limit
// has cut the answer off, or the answer is whole and longer than 10,000 rows, of
// which InfluxDB 1.6.7 leaves the flag of the first ones. Nobody can tell.
func (a *answer) partial() error {
	partial, err := a.True()
	if err != nil || !partial {
		return err
	}
	a.more = true
	if !a.chunked {
		return fmt.Errorf("the answer is marked as partial, as one of more than 10,000 rows is whether rows are missing or not; give %s=10000", optionChunked)
	}
	return nil
}

// failure reads an error within an answer.
func (a *answer) failure() error {
	message, err := a.Text()
	if err != nil {
		return err
	}
	return said(message)
}

// series reads the rows of a series.
func (a *answer) series() error {
	a.NoLabels()
	a.Columns, a.LabelsBehind = a.Columns[:0], 0
	return a.Object(func(name string) error {
		switch name {
		case "tags":
			return a.Object(func(string) error { return a.Label() })
		case "columns":
			return a.Array(a.column)
		case "values":
			return a.Array(a.Row)
		case "partial":
			return a.partial()
		}
		return a.Skip()
	})
}

// column reads the name of a column.
func (a *answer) column() error {
	name, err := a.Text()
	kind := jsonrows.Number
	switch {
	case name == "time":
		kind = jsonrows.Nanoseconds
		if len(a.Columns) == 0 {
			a.LabelsBehind = 1
		}
	case strings.HasPrefix(name, zeroPrefix):
		kind = jsonrows.Count
	case strings.HasPrefix(name, ownPrefix):
		kind = jsonrows.Hidden
	}
	a.Columns = append(a.Columns, kind)
	return err
}
