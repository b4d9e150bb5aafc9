package witness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"github.com/tsmark/tsmark/internal/unpack"
)

// read implements reader.
func (r arrowReader) read(ctx context.Context, columns []column, spans []span, visit func(row int64, values []value)) (err error) {
	failed := func(why any) error {
		return cannot("%s: its second decoder says %s", r.file.Path, oneLine(fmt.Sprint(why)))
	}
	defer func() {
		if p := recover(); p != nil { // what the load's reader has read may have a form that this one does not know
			if fault, ok := p.(runtime.Error); ok {
				p = fmt.Sprintf("that a batch or its metadata is damaged (%v)", fault)
			}
			err = failed(p)
		}
	}()
	d := &decoder{dictionaries: make(map[int64][]arrowArray), most: r.most, left: r.most}
	defer d.close()
	var at int64 // row
	values := make([]value, len(columns))
	take := func(of table, body func() ([]byte, error)) error {
		rows := of.number(0, 8, 0)
		begin := at
		at += rows
		if rows == 0 {
			return nil
		}
		if !r.file.wants(begin, at, spans) {
			return nil
		}
		b, err := body()
		if err != nil {
			return err
		}
		d.rows(of, b, begin, columns, values, spans, r.file.Rows, visit)
		return ctx.Err()
	}
	if err := d.decode(r.file.Path, take); err != nil {
		return failed(err)
	}
	return nil
}

// maxFields bounds the fields of a schema, with those within others, and maxTexts the bytes of
// their names and notes: many fields may name one piece of the message.
const maxFields, maxTexts = 1 << 20, 256 << 20

// CheckMetadata returns an error where the metadata of a file of Arrow names more than the
// file has: libraries make room for it before they look. It reads no values.
func CheckMetadata(path string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its metadata is damaged (%s)", oneLine(fmt.Sprint(p)))
		}
	}()
	d := &decoder{checks: true, most: math.MaxInt64}
	take := func(of table, _ func() ([]byte, error)) error {
		checkBatch(of)
		return nil
	}
	return d.decode(path, take)
}

// decode reads the file or the stream of a path and passes each record batch to take.
func (d *decoder) decode(path string, take func(table, func() ([]byte, error)) error) error {
	raw, err := os.Open(path)
	if err != nil {
		return err
	}
	defer raw.Close()
	magic := make([]byte, len(arrowMagic))
	if _, err := raw.ReadAt(magic, 0); err == nil && string(magic) == arrowMagic {
		return d.file(raw, take)
	}
	content, _, err := unpack.Reader(raw)
	if err != nil {
		return err
	}
	defer content.Close()
	return d.stream(bufio.NewReaderSize(content, 1<<20), take)
}

// check panics where a schema has vectors that its message does not hold.
func (d *decoder) check(schema table) {
	text := func(of table, vector int) {
		_, n := of.vector(vector)
		if d.texts += n; d.texts > maxTexts {
			panic(fmt.Sprintf("its schema has more than %d MiB of names and notes", maxTexts>>20))
		}
	}
	pairs := func(of []table) {
		for _, pair := range of {
			text(pair, 0)
			text(pair, 1)
		}
	}
	pairs(schema.tables(2))
	var check func(fields []table, depth int)
	check = func(fields []table, depth int) {
		if d.checked += len(fields); d.checked > maxFields || depth > 64 {
			panic("its schema has too many fields")
		}
		for _, f := range fields {
			text(f, 0)
			pairs(f.tables(6))
			if kind := f.number(2, 1, 0); kind == typeTimestamp || kind == typeUnion { // time zone, numbers of types
				text(f.table(3), 1)
			}
			check(f.tables(5), depth+1)
		}
	}
	check(schema.tables(1), 0)
}

// checkBatch panics where a batch has vectors that its message does not hold.
func checkBatch(of table) {
	for i, size := range map[int]int{1: 16, 2: 16, 4: 8} {
		if begin, n := of.vector(i); begin > len(of.buf)-n*size {
			panic("a batch has a vector that is longer than its message")
		}
	}
	if of.number(0, 8, 0) < 0 {
		panic("a batch has fewer rows than none")
	}
}

// message returns the header of a message, its type and the length of its body.
func message(metadata []byte) (of table, header, body int64) {
	m := root(metadata)
	return m.table(2), m.number(1, 1, 0), m.number(3, 8, 0)
}

// header takes what a schema or dictionary says.
func (d *decoder) header(of table, header int64, body []byte) {
	switch {
	case header == headerSchema:
		d.check(of)
	case d.checks && header == headerDictionary:
		checkBatch(of.table(1))
	}
	if d.checks {
		return
	}
	switch header {
	case headerSchema:
		if of.number(0, 2, 0) != 0 {
			panic("numbers are big-endian")
		}
		for _, f := range of.tables(1) {
			d.fields = append(d.fields, fieldOf(f))
		}
	case headerDictionary:
		if d.left -= int64(len(body)); d.left < 0 {
			panic(fmt.Sprintf("its dictionaries have more than %d MiB", d.most>>20))
		}
		id := of.number(0, 8, 0)
		f := d.dictionaryField(d.fields, id)
		if f == nil {
			return
		}
		values := *f
		values.dictionary, values.index = -1, nil
		a := d.batch(of.table(1), body, &d.left).array(&values)
		if of.number(2, 1, 0) == 0 {
			d.dictionaries[id] = nil
		}
		d.dictionaries[id] = append(d.dictionaries[id], a)
	}
}

func (d *decoder) dictionaryField(in []arrowField, id int64) *arrowField {
	for i := range in {
		if in[i].dictionary == id {
			return &in[i]
		}
		if f := d.dictionaryField(in[i].children, id); f != nil {
			return f
		}
	}
	return nil
}

// rows visits the rows of a batch that are wanted.
func (d *decoder) rows(of table, body []byte, begin int64, columns []column, values []value, spans []span, beyond int64, visit func(row int64, values []value)) {
	left := d.most
	b := d.batch(of, body, &left)
	arrays := make([]*arrowArray, len(columns))
	places := make(map[string]int)
	for i, c := range columns {
		places[c.name] = i
	}
	for i := range d.fields {
		a := b.array(&d.fields[i])
		if place, ok := places[string(d.fields[i].name)]; ok {
			arrays[place] = &a
		}
	}
	show := func(first, last int64) {
		for row := max(first, begin); row < min(last, begin+of.number(0, 8, 0)); row++ {
			for i, a := range arrays {
				values[i] = value{kind: isAbsent}
				if a != nil {
					a.get(&values[i], row-begin)
				}
			}
			visit(row, values)
		}
	}
	for _, s := range spans {
		show(s.first, s.first+s.rows)
	}
	show(beyond, beyond+1)
}

// ErrCut is the error of a file of Arrow whose end is missing.
var ErrCut = errors.New("is cut off: it does not end as Arrow does")

// errShort is the error of a file that says it has more than it has.
var errShort = errors.New("a message is longer than the file")

// file reads a file by its footer.
func (d *decoder) file(raw *os.File, take func(table, func() ([]byte, error)) error) error {
	info, err := raw.Stat()
	if err != nil {
		return err
	}
	piece := func(offset, size int64) ([]byte, error) {
		if offset < 0 || size < 0 || offset > info.Size()-size {
			return nil, errShort
		}
		b := make([]byte, size)
		_, err := raw.ReadAt(b, offset)
		return b, err
	}
	end, err := piece(info.Size()-10, 10)
	if err != nil {
		return err
	}
	if string(end[4:]) != arrowMagic {
		return ErrCut
	}
	size := integer(end, 4, true)
	buf, err := piece(info.Size()-10-size, size)
	if err != nil {
		return err
	}
	footer := root(buf)
	d.header(footer.table(1), headerSchema, nil)
	for _, vector := range []int{2, 3} {
		begin, n := footer.vector(vector)
		for at := begin; at < begin+24*n; at += 24 {
			offset, size := integer(buf[at:], 8, true), integer(buf[at+8:], 4, true)
			metadata, err := piece(offset, size)
			if err != nil {
				return err
			}
			of, header, length := message(trimPrefix(metadata))
			body := func() ([]byte, error) { return piece(offset+size, length) }
			if header == headerRecords {
				err = take(of, body)
			} else {
				var b []byte
				if b, err = body(); err == nil {
					d.header(of, header, b)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// trimPrefix is metadata without its length.
func trimPrefix(metadata []byte) []byte {
	if binary.LittleEndian.Uint32(metadata) == continuation {
		return metadata[8:]
	}
	return metadata[4:]
}

// stream reads message after message.
func (d *decoder) stream(in *bufio.Reader, take func(table, func() ([]byte, error)) error) error {
	for {
		var prefix [4]byte
		if _, err := io.ReadFull(in, prefix[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		size := binary.LittleEndian.Uint32(prefix[:])
		if size == continuation {
			if _, err := io.ReadFull(in, prefix[:]); err != nil {
				return err
			}
			size = binary.LittleEndian.Uint32(prefix[:])
		}
		if size == 0 {
			return nil
		}
		part := func(size int64) ([]byte, error) {
			if size < 0 || size > d.most {
				return nil, fmt.Errorf("a message has %d bytes, and it reads at most %d MiB", size, d.most>>20)
			}
			return exactly(in, size)
		}
		metadata, err := part(int64(size))
		if err != nil {
			return err
		}
		of, header, length := message(metadata)
		read := false
		body := func() ([]byte, error) { read = true; return part(length) }
		if header == headerRecords {
			err = take(of, body)
		} else {
			var b []byte
			if !d.checks {
				b, err = body()
			}
			if err == nil {
				d.header(of, header, b)
			}
		}
		if err == nil && !read {
			_, err = io.CopyN(io.Discard, in, length)
		}
		if err != nil {
			return err
		}
	}
}

// exactly reads n bytes, and allocates no more memory than there are bytes.
func exactly(in io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	if m, err := io.CopyN(&b, in, n); err != nil {
		return nil, fmt.Errorf("a message has %d bytes of %d: %w", m, n, err)
	}
	return b.Bytes(), nil
}
