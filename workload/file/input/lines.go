package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	bufferSize = 256 << 10
	// MaxLine bounds a line, so that a file without any is not held in memory.
	MaxLine = 64 << 20
)

// LineReader reads lines. Its memory is used again for the next one.
type LineReader struct {
	from  io.Reader
	buf   []byte
	begin int // of the line at hand
	end   int // of it, behind its newline
	full  int // end of the bytes read
	eof   bool
	Line  int64 // number of the line at hand, from 1
	spans int64 // further lines that it has
}

func NewLineReader(r io.Reader) *LineReader {
	return &LineReader{from: r, buf: make([]byte, bufferSize)}
}

// Next returns the next line without its end, or io.EOF.
func (l *LineReader) Next() ([]byte, error) {
	l.begin = l.end
	l.Line += 1 + l.spans
	l.spans = 0
	if err := l.readUntil(l.begin); err != nil {
		return nil, err
	}
	if l.Line == 1 {
		if err := CheckText(l.buf[l.begin:l.full]); err != nil {
			return nil, err
		}
		if mark := []byte("\ufeff"); bytes.HasPrefix(l.buf[l.begin:l.end], mark) {
			l.begin += len(mark)
		}
	}
	return l.text(), nil
}

// Again makes Next return the line at hand once more.
func (l *LineReader) Again() {
	l.end = l.begin
	l.Line--
}

// Remainder returns a reader of everything from the line at hand on, which replaces the LineReader.
func (l *LineReader) Remainder() io.Reader {
	return io.MultiReader(bytes.NewReader(bytes.Clone(l.buf[l.begin:l.full])), l.from)
}

// EndsLine reports whether a line break ends the line at hand: the last line of a file may have none.
func (l *LineReader) EndsLine() bool { return l.end > l.begin && l.buf[l.end-1] == '\n' }

// CheckText returns an error where a file's first bytes are not those of a text in UTF-8.
func CheckText(head []byte) error {
	for _, known := range []struct{ begin, what string }{
		{"\xff\xfe\x00\x00", "is UTF-32; convert it, as by iconv -f utf-32 -t utf-8"},
		{"\x00\x00\xfe\xff", "is UTF-32; convert it, as by iconv -f utf-32 -t utf-8"},
		{"PK\x03\x04", "is a ZIP archive in another one; unpack it"},
		{"\xd0\xcf\x11\xe0", "is a file of Excel or another Office program; save the sheet as CSV"},
		{"SQLite format 3\x00", "is a database of SQLite; write its table to a file, as by sqlite3 -csv -header FILE 'SELECT * FROM t'"},
		{"Obj\x01", "is Avro, which cannot be read; write the rows as Parquet or CSV"},
		{"ORC", "is ORC, which cannot be read; write the rows as Parquet or CSV"},
	} {
		if bytes.HasPrefix(head, []byte(known.begin)) && (known.begin != "ORC" || bytes.IndexByte(head, 0) >= 0) {
			return errors.New("the file " + known.what)
		}
	}
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(bytes.TrimRight(head, "\r"), '\r') >= 0 {
		return errors.New(`the lines of the file end in carriage returns alone; convert it, as by tr '\r' '\n'`)
	}
	if len(head) > 1 && (head[0] == 0) != (head[1] == 0) {
		return errors.New("the file looks like UTF-16; give own.encoding (--encoding), utf-16le or utf-16be")
	}
	return nil
}

// Extend returns the line at hand together with the one behind it, whose break is part
// of a value.
func (l *LineReader) Extend() ([]byte, error) {
	if err := l.readUntil(l.end); err != nil {
		return nil, err
	}
	l.spans++
	return l.text(), nil
}

// Join returns the line at hand together with the one behind it, whose number Line is then.
func (l *LineReader) Join() ([]byte, error) {
	if err := l.readUntil(l.end); err != nil {
		return nil, err
	}
	l.Line++
	return l.text(), nil
}

// Closing is Extend with as many lines behind it as it takes until one of these ends the
// quotes in which the line at hand stops, as far as ends says: so that a text of many
// lines is not looked at again for each of them.
func (l *LineReader) Closing(ends func(added []byte) bool) ([]byte, error) {
	for {
		before := l.end - l.begin
		line, err := l.Extend()
		if err != nil || ends(l.buf[l.begin+before:l.end]) {
			return line, err
		}
	}
}

// text is the line at hand without its end.
func (l *LineReader) text() []byte {
	line := l.buf[l.begin:l.end]
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// readUntil moves end behind the first newline at or behind a place.
func (l *LineReader) readUntil(from int) error {
	for at := from; ; {
		if n := bytes.IndexByte(l.buf[at:l.full], '\n'); n >= 0 {
			l.end = at + n + 1
			return nil
		}
		at = l.full
		if l.eof {
			if l.end = l.full; l.end == from {
				return io.EOF
			}
			return nil
		}
		if l.begin > 0 {
			copy(l.buf, l.buf[l.begin:l.full])
			at, from, l.full = at-l.begin, from-l.begin, l.full-l.begin
			l.begin = 0
		}
		if l.full == len(l.buf) {
			if l.full >= MaxLine {
				return fmt.Errorf("a line of more than %d MiB; is the format right?", MaxLine>>20)
			}
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		}
		n, err := l.from.Read(l.buf[l.full:])
		l.full += n
		if errors.Is(err, io.EOF) {
			l.eof = true
		} else if err != nil {
			return err
		}
	}
}
