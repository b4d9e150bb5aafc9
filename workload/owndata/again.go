package owndata

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/witness"
)

// newSample returns a sample of rows that are read twice. The same files give the same one.
func newSample(l *layout) *witness.Sample {
	var seed strings.Builder
	for _, f := range l.files {
		fmt.Fprintf(&seed, "%d ", f.Size)
	}
	return witness.NewSample(witness.Seed(seed.String()))
}

// again says how a second reader reads a file.
func (s *survey) again(i int) (witness.File, error) {
	l := s.layout
	f := witness.File{Path: l.files[i].Name, Format: l.format, Time: l.time, TimeOfDay: l.timeOfDay, TimeFormat: l.timeFormat, TimeZone: l.timeZone, Null: l.null, Encoding: l.encoding, Comma: l.decimal == ",", Rows: s.files[i].Rows}
	if c, err := input.NewClock(l.timeFormat); err == nil && c.Layout != "" {
		f.TimeFormat = c.Layout
	}
	switch l.format {
	case input.FormatPoints, input.FormatPaired:
		f.Loads = func(table string) bool { return s.index.ByName[table] != nil }
	case input.FormatCSV:
		f.Delimiter, f.HasHeader = l.delimiter, len(l.columns) == 0
		var err error
		if f.Header, err = l.header(l.files[i]); err != nil {
			return f, err
		}
	}
	return f, nil
}
