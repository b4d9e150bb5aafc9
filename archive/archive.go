// Package archive carries runs from one results folder to another, as one file
// that describes itself: JSON with the format's name and version, and the
// SHA-256 of its content, so that damage is noticed.
package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/result"
)

// ErrBad is wrapped by the errors about what is no archive, or not one that
// this program can read. They are one line.
var ErrBad = errors.New("no runs can be read from it")

// Entry is a run with the small files of its folder.
type Entry struct {
	Run   *result.Run `json:"run"`
	Files []File      `json:"files,omitempty"`
}

// File is a file of a run's folder.
type File struct {
	Name string `json:"name"` // relative to the folder, with slashes
	Data []byte `json:"data"`
}

// The head of every archive. A new version is one that older programs would
// misread.
const (
	format  = "tsmark runs"
	version = 1
)

// envelope is what an archive is to all versions.
type envelope struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	SHA256  string          `json:"sha256"` // of the bytes of Content
	Content json.RawMessage `json:"content"`
}

type content struct {
	Tool result.Tool `json:"tool"` // that wrote it
	Runs []Entry     `json:"runs"`
}

// Write writes an archive, not compressed.
func Write(w io.Writer, tool result.Tool, entries []Entry) error {
	carried := content{tool, slices.Clone(entries)}
	for i := range carried.Runs {
		carried.Runs[i].Run = recorded(carried.Runs[i].Run)
	}
	text, err := json.Marshal(&carried)
	if err != nil {
		return fmt.Errorf("writing runs as JSON: %w", err)
	}
	text, err = json.Marshal(&envelope{format, version, sum(text), text})
	if err != nil {
		return fmt.Errorf("writing runs as JSON: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// recorded is a run without what is derived from its repeats.
func recorded(r *result.Run) *result.Run {
	run := *r
	run.Targets = slices.Clone(r.Targets)
	for i := range run.Targets {
		run.Targets[i].Load, run.Targets[i].Queries = nil, nil
	}
	return &run
}

// Same reports whether two runs are recorded alike to the last digit.
func Same(a, b *result.Run) (bool, error) {
	first, err := json.Marshal(recorded(a))
	if err != nil {
		return false, err
	}
	second, err := json.Marshal(recorded(b))
	return bytes.Equal(first, second), err
}

// maxSize is more than any archive has, decompressed: 2 GiB.
const maxSize = 2 << 30

// Read reads an archive, which may be compressed by zstd or gzip. Its errors
// wrap ErrBad, or are those of r.
func Read(r io.Reader) ([]Entry, error) {
	text, err := decompressed(r)
	if err != nil {
		return nil, err
	}
	var e envelope
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, &e); {
	case e.Format != format && (err != nil || e.Format == ""):
		if errors.As(err, &syntax) && bytes.HasPrefix(text, []byte(`{"format":"`+format)) {
			return nil, fmt.Errorf("%w: it is damaged, or was cut off; copy it again", ErrBad)
		}
		return nil, fmt.Errorf("%w: it was not written by tsmark export", ErrBad)
	case e.Format != format:
		return nil, fmt.Errorf("%w: it holds %q; give a file that tsmark export wrote", ErrBad, e.Format)
	case e.Version > version:
		return nil, fmt.Errorf("%w: it was written by a newer tsmark (format %d, this one knows %d)", ErrBad, e.Version, version)
	case e.Version != version || err != nil:
		return nil, fmt.Errorf("%w: its head is damaged; copy it again", ErrBad)
	case e.SHA256 != sum(e.Content):
		return nil, fmt.Errorf("%w: it is damaged (its SHA-256 is not the one that it says); copy it again", ErrBad)
	}
	return decode(e.Content)
}

// decode reads what stands in the envelope.
func decode(text []byte) ([]Entry, error) {
	var c content
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("%w: this tsmark does not know what it holds; import it with the version that wrote it, or a newer one (%w)", ErrBad, err)
	}
	if err := check(c.Runs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBad, err)
	}
	return c.Runs, nil
}

// decompressed reads all of r. How it is compressed, its first bytes say.
func decompressed(r io.Reader) ([]byte, error) {
	peeked := bufio.NewReader(r)
	magic, err := peeked.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var plain io.Reader = peeked
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(peeked)
		if err != nil {
			return nil, fmt.Errorf("%w: it is damaged: %w", ErrBad, err)
		}
		plain = z
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(peeked, zstd.WithDecoderMaxMemory(maxSize), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, fmt.Errorf("%w: it is damaged: %w", ErrBad, err)
		}
		defer z.Close()
		plain = z
	}
	text, err := io.ReadAll(io.LimitReader(plain, maxSize+1))
	switch {
	case err != nil && plain != io.Reader(peeked):
		return nil, fmt.Errorf("%w: it is damaged, or was cut off: %w", ErrBad, err)
	case err != nil:
		return nil, err
	case len(text) > maxSize:
		return nil, fmt.Errorf("%w: it holds more than 2 GiB", ErrBad)
	}
	return text, nil
}
