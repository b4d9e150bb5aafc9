// Package ingest reads files that TSBS's generator, or tsmark's own, wrote from a known dataset, in
// TSBS's formats influx and timescaledb, plain or compressed.
//
// A Source is one such file. Lines passes its lines on unparsed, at memory speed. Dataset reads its
// rows in several goroutines, by package lineformat, with the schema of the dataset that generated
// them, so that series have the same numbers. Files of any other schema belong to package owndata.
package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/internal/unpack"
	"github.com/tsmark/tsmark/workload/file/lineformat"
)

// Format is the format of a source, by its TSBS name.
type Format string

// The formats that are understood.
const (
	Influx      Format = "influx"      // a line a row
	TimescaleDB Format = "timescaledb" // a header; two lines a row, of tags and of values
)

// lines returns how many lines a row has.
func (f Format) lines() int {
	if f == TimescaleDB {
		return 2
	}
	return 1
}

// maxHeader is the maximum number of bytes read to detect the format and the header.
const maxHeader = 16 << 20

// Source is a file, or standard input, that holds rows.
type Source struct {
	name   string // for messages
	path   string // empty: a stream, which can be read once
	format Format
	header []byte                  // of timescaledb, with the empty line at its end
	paired *lineformat.PairedLines // what the header says
	digits int                     // of the first row's time; 0: it is not known, or negative
	plain  bool                    // not compressed
	mark   int                     // bytes of the byte order mark that some editors put first

	stream io.ReadCloser // if path is empty, the unread rest
	read   bool          // a stream has been given away
}

// Open opens the named file, or stdin if the name is "-", and detects compression and format from
// its first bytes. An input that is not a regular file is read only once. An error is one line that
// says how to fix it.
func Open(name string, stdin io.Reader) (*Source, error) {
	s := &Source{name: name}
	if name == "-" || name == "/dev/stdin" {
		s.name, s.stream = "standard input", io.NopCloser(stdin)
	} else {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, infile.Unreadable(name, err)
		case info.IsDir():
			if columnar, _ := filepath.Glob(filepath.Join(name, "*.parquet")); len(columnar) > 0 {
				return nil, s.columnar()
			}
			return nil, fmt.Errorf("cannot read %s: it is a folder; give the name of a file in it", name)
		case info.Mode().IsRegular():
			s.path = name
		default:
			if s.stream, err = os.Open(name); err != nil {
				return nil, infile.Unreadable(name, err)
			}
		}
	}
	r, err := s.text()
	if err != nil {
		return nil, err
	}
	head := bufio.NewReaderSize(r, 64<<10)
	begin, err := s.begin(head)
	if err != nil {
		r.Close()
		return nil, err
	}
	if s.path != "" {
		return s, r.Close()
	}
	s.stream = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin), head), r}
	return s, nil
}

// columnar refuses what tsmark generate writes for other tools than databases.
func (s *Source) columnar() error {
	return fmt.Errorf("%s: Parquet and Arrow files are not of a generated dataset; generate it with --format influx or timescaledb, or load the file as rows of your own, without the flags that say what generated it", s.name)
}

// begin reads the header and the first row, which it returns.
func (s *Source) begin(r *bufio.Reader) ([]byte, error) {
	line := func() ([]byte, error) {
		var text []byte
		for {
			part, err := r.ReadSlice('\n')
			text = append(text, part...)
			switch {
			case errors.Is(err, bufio.ErrBufferFull) && len(text) < maxHeader:
				continue
			case err == nil || errors.Is(err, io.EOF):
				return text, nil
			case errors.Is(err, bufio.ErrBufferFull):
				return nil, fmt.Errorf("%s: begins with a line of more than %d MiB: neither influx nor timescaledb format", s.name, maxHeader>>20)
			}
			return nil, s.readError(err)
		}
	}
	first, err := line()
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(first, []byte("PAR1")) || bytes.HasPrefix(first, []byte("ARROW1")) {
		return nil, s.columnar()
	}
	if len(first) == 0 {
		return nil, fmt.Errorf("%s: is empty; give what tsmark generate or tsbs_generate_data wrote", s.name)
	}
	if bytes.HasPrefix(first, []byte("tags,")) && bytes.IndexByte(first, ' ') < 0 && bytes.IndexByte(first, '=') > 0 {
		return nil, fmt.Errorf("%s: has no header with the names of fields, as if written for timestream; generate it for timescaledb or influx", s.name)
	}
	if bytes.HasPrefix(first, []byte("tags")) && bytes.IndexByte(first, '=') < 0 {
		s.format, s.header = TimescaleDB, first
		for last := first; len(bytes.TrimRight(last, "\r\n")) > 0; s.header = append(s.header, last...) {
			if last, err = line(); err != nil {
				return nil, err
			}
			if len(last) == 0 || len(s.header) > maxHeader || bytes.HasPrefix(last, []byte("tags,")) {
				return nil, fmt.Errorf("%s: the header of its timescaledb format has no end, an empty line; generate the file again", s.name)
			}
		}
		if s.paired, err = lineformat.NewPairedLines(bytes.NewReader(s.header)); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", s.name, s.paired.Line, err)
		}
		tags, err := line()
		if err != nil {
			return nil, err
		}
		values, err := line()
		if err != nil {
			return nil, err
		}
		if fields := bytes.SplitN(values, []byte(","), 3); len(fields) == 3 {
			s.digits = digitsOf(fields[1])
		}
		return append(tags, values...), nil
	}
	if bytes.Count(first, []byte(" ")) < 2 || bytes.IndexByte(first, '=') < 0 {
		return nil, fmt.Errorf("%s: line 1 is neither influx nor timescaledb format: %s; give what tsmark generate or tsbs_generate_data wrote", s.name, begins(first))
	}
	s.format = Influx
	s.digits = digitsOf(bytes.TrimRight(first[bytes.LastIndexByte(first, ' ')+1:], "\r\n"))
	return first, nil
}

// digitsOf returns the number of digits of a time; 0: the text is not a time.
func digitsOf(text []byte) int {
	if t, ok := number.Int(text); !ok || t < 0 {
		return 0
	}
	return len(text)
}

// ErrSource is wrapped by the errors of reading a source, *LineError among
// them: what the user gave is to be fixed.
var ErrSource = errors.New("the source cannot be read")

// sourceError is an error of reading a source.
type sourceError struct{ error }

func (e *sourceError) Unwrap() []error { return []error{e.error, ErrSource} }

// readError explains why reading went wrong.
func (s *Source) readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &sourceError{fmt.Errorf("%s: its compressed data is cut off; copy or generate it again", s.name)}
	}
	return &sourceError{fmt.Errorf("reading %s: %w", s.name, err)}
}

// Name returns what messages call the source.
func (s *Source) Name() string { return s.name }

// Format returns the source's format.
func (s *Source) Format() Format { return s.format }

// ReadsOnce reports whether the source can be read only once.
func (s *Source) ReadsOnce() bool { return s.path == "" }

// text opens the source's text from its first byte.
func (s *Source) text() (io.ReadCloser, error) {
	raw := s.stream
	if s.path != "" {
		f, err := os.Open(s.path)
		if err != nil {
			return nil, infile.Unreadable(s.path, err)
		}
		raw = f
	}
	plain, packed, err := unpack.Reader(raw)
	if err != nil {
		raw.Close()
		return nil, s.readError(err)
	}
	s.plain = !packed
	r, err := s.withoutMark(plain)
	if err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{r, plain}, nil
}

// withoutMark skips a byte order mark.
func (s *Source) withoutMark(r io.Reader) (io.Reader, error) {
	const mark = "\ufeff"
	begin := make([]byte, len(mark))
	n, err := readFull(r, begin)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, s.readError(err)
	case string(begin) == mark:
		s.mark = n
		return r, nil
	}
	return io.MultiReader(bytes.NewReader(begin[:n]), r), nil
}

// pieces starts a pass over the rows, after the header.
func (s *Source) pieces() (pieces, error) {
	if s.path == "" {
		if s.read {
			return nil, fmt.Errorf("%s can be read only once; give the name of a file, or one target", s.name)
		}
		s.read = true
		return newStreamPieces(s.stream), nil
	}
	if s.plain {
		f, err := os.Open(s.path)
		if err != nil {
			return nil, infile.Unreadable(s.path, err)
		}
		return newFilePieces(f, int64(s.mark+len(s.header)))
	}
	r, err := s.text()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r, int64(len(s.header))); err != nil {
		r.Close()
		return nil, s.readError(err)
	}
	return newStreamPieces(r), nil
}

// firstLine is the number of the first line after the header.
func (s *Source) firstLine() int64 { return 1 + int64(bytes.Count(s.header, newline)) }

// LineError is a line that cannot be a row.
type LineError struct {
	Source  string // name of the file
	Line    int64  // from 1
	Text    []byte // the line's first bytes
	Problem string

	remedied bool // the problem says how to fix it
}

// Is makes it an ErrSource.
func (e *LineError) Is(target error) bool { return target == ErrSource }

// Error says where, what and why on one line.
func (e *LineError) Error() string {
	text := fmt.Sprintf("%s: line %d: %s: %s", e.Source, e.Line, e.Problem, begins(e.Text))
	if e.remedied {
		return text
	}
	return text + "; fix the file, or skip such lines with --skip-bad-lines N"
}

// shownBytes is the number of bytes of a bad line shown in messages.
const shownBytes = 64

// begins quotes the beginning of a line.
func begins(line []byte) string {
	line, _, _ = bytes.Cut(line, newline)
	if len(line) > shownBytes {
		return strings.TrimSuffix(fmt.Sprintf("%+q", line[:shownBytes]), `"`) + `…"`
	}
	return fmt.Sprintf("%+q", line)
}
