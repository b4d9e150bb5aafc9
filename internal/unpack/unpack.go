// Package unpack reads files that may be compressed.
package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxMemory bounds what a zstd frame may claim.
const maxMemory = 1 << 30

// Reader returns the content of raw, decompressed where its first bytes are those
// of gzip or zstd, which packed reports. Closing what it returns closes raw; after
// an error raw is the caller's to close.
func Reader(raw io.ReadCloser) (content io.ReadCloser, packed bool, err error) {
	peeked := bufio.NewReaderSize(raw, 64<<10)
	magic, err := peeked.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(peeked)
		return reader{z, raw, nil}, true, err
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(peeked, zstd.WithDecoderMaxMemory(maxMemory))
		if err != nil {
			return nil, true, err
		}
		return reader{z, raw, z.Close}, true, nil
	}
	return reader{peeked, raw, nil}, false, nil
}

// reader is content and what it is read from.
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
