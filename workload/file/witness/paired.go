package witness

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// pairedReader reads TSBS's format timescaledb by Go's reader of CSV.
type pairedReader struct{ file *File }

func (pairedReader) name() string { return "Go's reader of CSV" }

// read implements reader.
func (p pairedReader) read(ctx context.Context, columns []column, spans []span, visit func(row int64, values []value)) error {
	failed := func(why error) error {
		return cannot("%s: Go's reader of CSV says %s", p.file.Path, oneLine(why.Error()))
	}
	content, err := openContent(p.file.Path)
	if err != nil {
		return failed(err)
	}
	defer content.Close()
	in := csv.NewReader(bufio.NewReaderSize(content, 64<<10))
	in.FieldsPerRecord, in.ReuseRecord, in.LazyQuotes = -1, true, true
	places, header, values := placesOf(columns), make(map[string][]string), make([]value, len(columns))
	for row, tagged := int64(0), false; ; {
		record, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return failed(err)
		case ctx.Err() != nil:
			return ctx.Err()
		case record[0] == "tags":
			tagged = len(record) == 1 || strings.Contains(record[1], "=")
			clear(values)
			for _, pair := range record[1:] {
				key, text, _ := strings.Cut(pair, "=")
				if at, ok := places[column{key, true}]; ok && text != "" {
					values[at] = value{kind: isText, text: []byte(text)}
				}
			}
			continue
		case !tagged: // the header, since it has no values
			header[record[0]] = append([]string(nil), record[1:]...)
			continue
		case !p.file.Loads(record[0]):
			continue
		}
		if p.file.wants(row, row+1, spans) {
			values[0] = value{kind: isText, text: []byte(record[1])}
			for i, text := range record[2:] {
				if at, ok := places[column{name: header[record[0]][i]}]; ok && text != "" {
					values[at] = value{kind: isText, text: []byte(text)}
				}
			}
			visit(row, values)
			if row >= p.file.Rows {
				return nil
			}
		}
		row++
	}
}
