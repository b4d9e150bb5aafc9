// Package unpack reads files that may be compressed.
package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxMemory bounds what a zstd frame may claim.
const maxMemory = 1 << 30

// Damaged is the error of damaged compressed content.
type Damaged struct{ Err error } // io.ErrUnexpectedEOF: truncated

// Error says how to fix it.
func (d *Damaged) Error() string {
	if errors.Is(d.Err, io.ErrUnexpectedEOF) {
		return "its compressed content is cut off; copy it again, or make it again"
	}
	return fmt.Sprintf("its compressed content is damaged (%v); copy it again, or make it again", d.Err)
}

// Unwrap returns what the decompression said.
func (d *Damaged) Unwrap() error { return d.Err }

// damageError turns an error of decompression into a *Damaged; an error of reading the file itself
// is unchanged.
func damageError(err error) error {
	var path *fs.PathError
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &path) {
		return err
	}
	return &Damaged{err}
}

// checked is content whose errors are passed through damageError.
type checked struct{ from io.Reader }

// Read implements io.Reader.
func (c checked) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	return n, damageError(err)
}

// Compression names the compression of a file by its first bytes, at least four of them: gzip or
// zstd; empty: it is not compressed.
func Compression(begin []byte) string {
	switch {
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(begin, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

// Reader returns the content of raw, decompressed if its first bytes are those of gzip or zstd;
// packed reports whether they are. Closing content closes raw; after an error the caller must close
// raw.
func Reader(raw io.ReadCloser) (content io.ReadCloser, packed bool, err error) {
	peeked := bufio.NewReaderSize(raw, 64<<10)
	magic, err := peeked.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	switch Compression(magic) {
	case "gzip":
		z, err := gzip.NewReader(peeked)
		if errors.Is(err, io.EOF) { // behind its first bytes
			err = io.ErrUnexpectedEOF
		}
		return reader{checked{z}, raw, nil}, true, damageError(err)
	case "zstd":
		z, err := zstd.NewReader(peeked, zstd.WithDecoderMaxMemory(maxMemory))
		if err != nil {
			return nil, true, damageError(err)
		}
		return reader{checked{z}, raw, z.Close}, true, nil
	}
	return reader{peeked, raw, nil}, false, nil
}

// reader is the content and its underlying file.
type reader struct {
	io.Reader
	raw  io.Closer
	free func() // ends the decompression; nil: nothing to do
}

// Close implements io.Closer.
func (r reader) Close() error {
	if r.free != nil {
		r.free()
	}
	return r.raw.Close()
}
