package ingest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
)

// influx reads a row of influx format from the beginning of the text and
// returns how long it was.
func (p *parser) influx(text []byte) (int, error) {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return 0, errShort
	}
	line := text[:end]
	b := p.guess(line)
	at := 0
	bare := false // no field but numeric tags
	if b != nil {
		at = len(b.text)
	} else {
		var err error
		if b, at, bare, err = p.beginInflux(line); err != nil {
			return end + 1, err
		}
		p.follow(b)
	}
	row := p.place(b.table)
	if err := p.influxFields(b, line, at, bare, row); err != nil {
		p.discard()
		return end + 1, err
	}
	return end + 1, nil
}

// beginInflux finds the begin of a line that did not begin as expected, and the offset of its
// fields; bare: the line has no fields.
func (p *parser) beginInflux(line []byte) (b *begin, at int, bare bool, err error) {
	space := bytes.IndexByte(line, ' ')
	if space <= 0 {
		return nil, 0, false, errors.New("no space between tags and fields")
	}
	head := line[:space]
	comma := bytes.IndexByte(head, ',')
	if comma < 0 {
		comma = space
	}
	at = space + 1
	key := line[:at]
	if t := p.catalog.tables[string(head[:comma])]; t != nil {
		for _, numeric := range t.numeric {
			if !bytes.HasPrefix(line[at:], []byte(numeric)) {
				continue
			}
			end := bytes.IndexAny(line[at:], ", ")
			if end < 0 {
				return nil, 0, false, errors.New("no time after the fields")
			}
			at += end + 1
			key = line[:at]
			if line[at-1] == ' ' {
				bare, key = true, append(bytes.Clone(line[:at-1]), ',')
				break
			}
		}
	}
	if b = p.catalog.find(key); b == nil {
		b, err = p.catalog.resolve(key, head[:comma])
	}
	return b, at, bare, err
}

// influxFields reads the fields from at on, and the time.
func (p *parser) influxFields(b *begin, line []byte, at int, bare bool, row int) error {
	columns, keys := p.run.Columns, b.table.keys
	p.missing = p.missing[:0]
	next := 0
	for !bare {
		var f int
		rest := line[at:]
		if next < b.width && len(rest) > len(keys[next]) && string(rest[:len(keys[next])]) == keys[next] {
			f = next
			next++
		} else {
			var err error
			if f, err = p.otherField(b, rest, next); err != nil {
				return err
			}
			next = max(next, f+1)
		}
		at += len(keys[f])
		c := &columns[f]
		switch field := &b.table.Fields[f]; field.Type {
		case series.Int, series.Int32, series.Timestamp, series.Date:
			n := uint64(0)
			begin := at
			for ; at < len(line); at++ {
				d := line[at] - '0'
				if d > 9 {
					break
				}
				n = n*10 + uint64(d)
			}
			if at+1 >= len(line) || at == begin || at > begin+18 || line[at] != 'i' || line[at+1] != ',' && line[at+1] != ' ' {
				v, end, err := otherInt(line, begin)
				if err != nil {
					return fmt.Errorf("field %s: %w", b.table.Fields[f].Name, err)
				}
				n, at = uint64(v), end
			}
			c.Ints[row] = int64(n)
			at++ // the i
			if field.Type == series.Int32 && isOutOfRange(field.Type, c.Ints[row]) {
				return fmt.Errorf("field %s: %q does not fit into the type %v", field.Name, short(line[begin:at]), field.Type)
			}
		case series.Float:
			begin := at
			for at < len(line) && line[at] != ',' && line[at] != ' ' {
				at++
			}
			v, ok := number.Float(line[begin:at])
			if !ok {
				return fmt.Errorf("field %s: %q is no decimal number", field.Name, short(line[begin:at]))
			}
			c.Floats[row] = v
		default:
			begin := at
			for at < len(line) && line[at] != ',' && line[at] != ' ' {
				at++
			}
			if err := influxValue(field, c, row, line[begin:at]); err != nil {
				return fmt.Errorf("field %s: %q %w", field.Name, short(line[begin:at]), err)
			}
		}
		if at >= len(line) {
			return errors.New("no time after the fields")
		}
		at++
		if line[at-1] == ' ' {
			break
		}
	}
	for ; next < b.width; next++ {
		p.missing = append(p.missing, next)
	}
	time, err := p.timeOf(line[at:])
	if err != nil {
		return err
	}
	p.finish(b, row, time)
	return nil
}

// otherField finds the field whose key the text begins with, which is not the
// next one. Those that it passes over are missing, unless they come later.
func (p *parser) otherField(b *begin, text []byte, next int) (int, error) {
	end := bytes.IndexByte(text, '=')
	if end < 0 || bytes.IndexByte(text[:end], ' ') >= 0 {
		return 0, fmt.Errorf("%q is no field=value", short(text))
	}
	key := text[:end+1]
	f, known := b.table.byKey[string(key)]
	switch {
	case !known:
		return 0, fmt.Errorf("table %s has no field %q in this dataset; check the flags that say what generated the file", b.table.Name, key[:end])
	case f >= b.width:
		return 0, fmt.Errorf("the series has no field %q: it has %d fields", key[:end], b.width)
	case f >= next:
		p.missingAt = append(p.missingAt, make([]int, max(0, f-len(p.missingAt)))...)
		for ; next < f; next++ {
			p.missingAt[next] = len(p.missing)
			p.missing = append(p.missing, next)
		}
		return f, nil
	}
	// The entry in missingAt may belong to an earlier row; missing itself is authoritative.
	if f >= len(p.missingAt) || p.missingAt[f] >= len(p.missing) || p.missing[p.missingAt[f]] != f {
		return 0, fmt.Errorf("field %q is there twice", key[:end])
	}
	p.missing[p.missingAt[f]] = found
	return f, nil
}

// otherInt reads an integer and its suffix i that the shorter way does not. It
// returns where the suffix is.
func otherInt(line []byte, begin int) (v int64, suffix int, err error) {
	end := begin
	for end < len(line) && line[end] != ',' && line[end] != ' ' {
		end++
	}
	text := line[begin:end]
	if len(text) > 0 && text[len(text)-1] == 'i' {
		if v, ok := number.Int(text[:len(text)-1]); ok {
			return v, end - 1, nil
		}
	}
	if _, ok := number.Float(text); ok {
		return 0, 0, fmt.Errorf("%q is a float, where other rows have an integer such as 1i", short(text))
	}
	return 0, 0, fmt.Errorf("%q is no integer such as 1i", short(text))
}
