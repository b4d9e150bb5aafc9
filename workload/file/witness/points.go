package witness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
)

// pointReader reads line protocol by InfluxData's decoder.
type pointReader struct{ file *File }

func (pointReader) name() string { return "InfluxData's decoder of line protocol" }

// read implements reader.
func (p pointReader) read(ctx context.Context, columns []column, spans []span, visit func(row int64, values []value)) error {
	failed := func(why error) error {
		return cannot("%s: InfluxData's decoder says %s", p.file.Path, oneLine(why.Error()))
	}
	content, err := openContent(p.file.Path)
	if err != nil {
		return failed(err)
	}
	defer content.Close()
	in := bufio.NewReaderSize(content, 64<<10)
	if err := skipStatements(in); err != nil {
		return failed(err)
	}
	places, last := placesOf(columns), int64(0)
	for _, s := range spans {
		last = max(last, s.first+s.rows)
	}
	values := make([]value, len(columns))
	d := lineprotocol.NewDecoder(in)
	for row := int64(0); d.Next() && (row < last || last == p.file.Rows); {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		name, err := d.Measurement()
		if err != nil {
			return failed(err)
		}
		if !p.file.Loads(string(name)) {
			continue
		}
		if p.file.wants(row, row+1, spans) {
			clear(values)
			if err := p.point(d, places, values); err != nil {
				return failed(err)
			}
			visit(row, values)
			if row >= p.file.Rows {
				return nil
			}
		}
		row++
	}
	if d.Err() != nil {
		return failed(d.Err())
	}
	return nil
}

// point reads tags, fields and time of a line.
func (p pointReader) point(d *lineprotocol.Decoder, places map[column]int, values []value) error {
	for {
		key, text, err := d.NextTag()
		if err != nil {
			return err
		}
		if key == nil {
			break
		}
		if at, ok := places[column{string(key), true}]; ok {
			values[at] = value{kind: isText, text: bytes.Clone(text)}
		}
	}
	for {
		key, kind, text, err := d.NextFieldBytes()
		if err != nil {
			return err
		}
		if key == nil {
			break
		}
		at, ok := places[column{name: string(key)}]
		if !ok {
			continue
		}
		v := value{kind: isText, text: bytes.Clone(text)}
		switch kind {
		case lineprotocol.Int, lineprotocol.Uint:
			v.kind = isDigits
		}
		values[at] = v
	}
	time, err := d.TimeBytes()
	if err != nil {
		return err
	}
	values[0] = value{kind: isText, text: bytes.Clone(time)}
	return nil
}

// skipStatements skips comments, and the statements between # DDL and # DML.
func skipStatements(in *bufio.Reader) error {
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	for statements := false; ; {
		begin, err := in.Peek(1)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if !statements && !bytes.ContainsAny(begin, "# \r\n") {
			return nil
		}
		if !statements && begin[0] == ' ' {
			return nil // the decoder reports the error
		}
		line, err := in.ReadSlice('\n')
		if comment, ok := bytes.CutPrefix(line, []byte("#")); ok {
			switch strings.ToUpper(string(bytes.TrimSpace(comment))) {
			case "DDL":
				statements = true
			case "DML":
				statements = false
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) { // no statement is that long
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}
