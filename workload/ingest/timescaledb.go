package ingest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
)

// timescaleDB reads a row of timescaledb format, two lines, from the beginning
// of the text and returns how long it was.
func (p *parser) timescaleDB(text []byte) (int, error) {
	first := bytes.IndexByte(text, '\n') + 1
	if first == 0 {
		return 0, errShort
	}
	b := p.guess(text)
	if b == nil && !bytes.HasPrefix(text, []byte("tags")) {
		return first, errors.New("a row begins with a line of tags")
	}
	end := bytes.IndexByte(text[first:], '\n')
	if end < 0 {
		return 0, errShort
	}
	end += first
	var at int
	if b != nil {
		at = len(b.text)
	} else {
		comma := bytes.IndexByte(text[first:end], ',')
		switch {
		case bytes.HasPrefix(text[first:end], []byte("tags,")):
			return first, errors.New("no line of values after these tags")
		case comma <= 0:
			return end + 1, &valuesError{errors.New("no table and time before the values")}
		}
		at = first + comma + 1
		var err error
		if b = p.catalog.find(text[:at]); b == nil {
			if b, err = p.catalog.resolve(text[:at], text[first:at-1]); err != nil {
				return end + 1, err
			}
		}
		p.follow(b)
	}
	row := p.place(b.table)
	if err := p.timescaleDBValues(b, text[at:end], row); err != nil {
		p.discard()
		return end + 1, &valuesError{err}
	}
	return end + 1, nil
}

// timescaleDBValues reads a time and the values after it.
func (p *parser) timescaleDBValues(b *begin, line []byte, row int) error {
	at := bytes.IndexByte(line, ',')
	if at < 0 {
		return errors.New("no values after the time")
	}
	time, err := p.timeOf(line[:at])
	if err != nil {
		return err
	}
	columns, fields := p.run.Columns, b.table.Fields
	p.missing = p.missing[:0]
	f := 0
	for ; at < len(line) && f < b.width; f++ {
		at++ // the comma before the value
		begin := at
		c := &columns[f]
		field := &fields[f]
		switch missing := at == len(line) || line[at] == ','; {
		case missing:
			p.missing = append(p.missing, f)
		case field.Type == series.Int:
			n := uint64(0)
			for ; at < len(line); at++ {
				d := line[at] - '0'
				if d > 9 {
					break
				}
				n = n*10 + uint64(d)
			}
			if at == begin || at > begin+18 || at < len(line) && line[at] != ',' {
				for at < len(line) && line[at] != ',' {
					at++
				}
				v, ok := number.Int(line[begin:at])
				if !ok {
					return fmt.Errorf("field %s: %q is no whole number", fields[f].Name, short(line[begin:at]))
				}
				n = uint64(v)
			}
			c.Ints[row] = int64(n)
		case field.Type == series.Float:
			for at < len(line) && line[at] != ',' {
				at++
			}
			v, ok := number.Float(line[begin:at])
			if !ok {
				return fmt.Errorf("field %s: %q is no decimal number", field.Name, short(line[begin:at]))
			}
			c.Floats[row] = v
		default:
			for at < len(line) && line[at] != ',' {
				at++
			}
			if err := plainValue(field, c, row, line[begin:at]); err != nil {
				return fmt.Errorf("field %s: %q %w", field.Name, short(line[begin:at]), err)
			}
		}
	}
	if at < len(line) || f < b.width {
		return fmt.Errorf("%d values, where other rows of the series have %d: a line was cut", 1+bytes.Count(line, []byte{','})-1, b.width)
	}
	p.finish(b, row, time)
	return nil
}
