package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/result"
)

// DefaultLimit is how many bytes of an archive are read where nobody allows
// more: 256 MiB.
const DefaultLimit = result.MaxDocument

// ErrTooLarge is wrapped by the error of Read about an archive beyond its limit.
var ErrTooLarge = errors.New("it holds more than may be read")

// Read reads an archive, which may be compressed by zstd or gzip. Its errors
// wrap ErrBad, or are those of r.
//
// An archive may come from anybody. Of its text, decompressed, at most limit
// bytes are read, and what the text stands for may take no more memory than
// that either. It is decoded and summed up as it is read, a run and a file at a
// time; nothing is returned of one whose checksum is wrong.
func Read(r io.Reader, limit int64) ([]Entry, error) {
	plain, done, err := decompressed(r)
	if err != nil {
		return nil, err
	}
	defer done()
	text := bufio.NewReaderSize(&limited{from: plain, limit: limit, text: limit, memory: limit}, 64<<10)
	head, err := readHead(text)
	if err != nil {
		return nil, err
	}
	content := &summed{from: text, hash: sha256.New()}
	entries, used, decoded := decode(content)
	// What was damaged may be no JSON either: the checksum tells which it is.
	_, err = io.Copy(io.Discard, content)
	_, plainly := plain.(*bufio.Reader)
	size, sum := content.end()
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", ErrBad, err)
	case err != nil && plainly:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: it is damaged, or was cut off (%w); copy it again", ErrBad, err)
	case size < 0:
		return nil, fmt.Errorf("%w: it is damaged, or was cut off; copy it again", ErrBad)
	case sum != head.SHA256:
		return nil, fmt.Errorf("%w: it is damaged (its SHA-256 is not the one that it says); copy it again", ErrBad)
	case decoded != nil:
		return nil, fmt.Errorf("%w: %w", ErrBad, decoded)
	case size != used:
		return nil, fmt.Errorf("%w: more follows its content; copy it again", ErrBad)
	}
	return entries, nil
}

// maxHead bounds the text before the content.
const maxHead = 4 << 10

// readHead reads what stands before the content.
func readHead(text *bufio.Reader) (*envelope, error) {
	begin, err := text.Peek(maxHead)
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", ErrBad, err)
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: it is damaged, or was cut off (%w); copy it again", ErrBad, err)
	}
	const key = `"content":`
	at := bytes.Index(begin, []byte(key))
	head := begin
	if at >= 0 {
		head = append(bytes.Clone(begin[:at+len(key)]), "null}"...)
	}
	var e envelope
	switch err := json.Unmarshal(head, &e); {
	case e.Format == "" && bytes.HasPrefix(begin, []byte(`{"format":"`+format)):
		return nil, fmt.Errorf("%w: it is damaged, or was cut off; copy it again", ErrBad)
	case e.Format != format && (err != nil || e.Format == ""):
		return nil, fmt.Errorf("%w: it was not written by tsmark export; give a file that was", ErrBad)
	case e.Format != format:
		return nil, fmt.Errorf("%w: it holds %q; give a file that tsmark export wrote", ErrBad, e.Format)
	case e.Version > version:
		return nil, fmt.Errorf("%w: it was written by a newer tsmark (format %d, this one knows %d); read it with that, or a newer one", ErrBad, e.Version, version)
	case e.Version != version || err != nil || at < 0:
		return nil, fmt.Errorf("%w: its head is damaged; copy it again", ErrBad)
	}
	_, err = text.Discard(at + len(key))
	return &e, err
}

// decode reads the runs of an envelope's content, and returns how many bytes
// that took.
func decode(content io.Reader) (entries []Entry, used int64, err error) {
	d := json.NewDecoder(content)
	d.DisallowUnknownFields()
	var tool json.RawMessage
	err = object(d, func(key string) error {
		switch key {
		case "tool":
			return d.Decode(&tool)
		case "runs":
			return array(d, func() error {
				e, err := decodeEntry(d)
				entries = append(entries, e)
				return err
			})
		}
		return fmt.Errorf("unknown field %q", key)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("this tsmark does not know what it holds; import it with the version that wrote it, or a newer one (%w)", err)
	}
	return entries, d.InputOffset(), check(entries)
}

func decodeEntry(d *json.Decoder) (e Entry, err error) {
	err = object(d, func(key string) error {
		switch key {
		case "run":
			var document json.RawMessage
			if err := d.Decode(&document); err != nil {
				return err
			}
			e.Run, err = result.DecodeStrictly(document)
			return err
		case "files":
			return array(d, func() error {
				var f File
				err := d.Decode(&f)
				e.Files = append(e.Files, f)
				return err
			})
		}
		return fmt.Errorf("unknown field %q", key)
	})
	return e, err
}

// object reads an object, each value of which the function reads.
func object(d *json.Decoder, value func(key string) error) error {
	return within(d, '{', func() error {
		key, err := d.Token()
		if err != nil {
			return err
		}
		return value(key.(string)) // the decoder refuses every other key
	})
}

// array reads an array, each element of which the function reads.
func array(d *json.Decoder, element func() error) error { return within(d, '[', element) }

func within(d *json.Decoder, open json.Delim, each func() error) error {
	switch token, err := d.Token(); {
	case err != nil:
		return err
	case token != open:
		return fmt.Errorf("%v where %v begins", token, open)
	}
	for d.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := d.Token() // what closes it
	return err
}

// What a text may stand for in memory: {} is a whole target or query type, the
// shortest entry of a map takes a name and a value, that of an array a number.
const (
	memoryOfObject = 1 << 10
	memoryOfPair   = 64
	memoryOfNumber = 16
)

// limited reads no more than it may.
type limited struct {
	from         io.Reader
	limit        int64 // for the error
	text, memory int64 // bytes that are left
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	l.text -= int64(n)
	l.memory -= memoryOfObject*count(p[:n], '{') + memoryOfPair*count(p[:n], ':') + memoryOfNumber*count(p[:n], ',')
	if l.text < 0 || l.memory < 0 {
		return 0, fmt.Errorf("%w, %s; if you trust it, allow more with --max-size", ErrTooLarge, humanize.IBytes(uint64(l.limit)))
	}
	return n, err
}

func count(text []byte, b byte) int64 { return int64(bytes.Count(text, []byte{b})) }

// summed reads content and what closes its envelope, and sums up the content.
type summed struct {
	from   io.Reader
	hash   hash.Hash
	read   int64  // bytes, without held
	held   []byte // the last ones, which may not be content
	failed error
}

// closing is how long what closes the envelope may be: } and the line's end.
const closing = 8

func (s *summed) Read(p []byte) (int, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	n, err := s.from.Read(p)
	s.held = append(s.held, p[:n]...)
	if more := len(s.held) - closing; more > 0 {
		s.hash.Write(s.held[:more]) // a hash takes everything
		s.held = s.held[:copy(s.held, s.held[more:])]
		s.read += int64(more)
	}
	s.failed = err
	return n, err
}

// end returns, once all was read, the content's size, -1 where nothing closes
// the envelope, and its checksum as archives say it.
func (s *summed) end() (size int64, sum string) {
	rest, closed := bytes.CutSuffix(bytes.TrimRight(s.held, " \t\r\n"), []byte("}"))
	s.hash.Write(rest)
	if size = s.read + int64(len(rest)); !closed {
		size = -1
	}
	return size, hex.EncodeToString(s.hash.Sum(nil))
}

// decompressed returns the text of r. How it is compressed, its first bytes say.
func decompressed(r io.Reader) (plain io.Reader, done func(), err error) {
	peeked := bufio.NewReader(r)
	magic, err := peeked.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	done = func() {}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(peeked)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: it is damaged (%w); copy it again", ErrBad, err)
		}
		return z, done, nil
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(peeked, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, nil, fmt.Errorf("%w: it is damaged (%w); copy it again", ErrBad, err)
		}
		return z, z.Close, nil
	}
	return peeked, done, nil
}
