package lineproto

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
)

// Compression is how texts are compressed before they are sent, by its name in requests.
type Compression string

// The compressions.
const (
	Uncompressed Compression = ""
	Gzip         Compression = "gzip"   // at its fastest level
	Snappy       Compression = "snappy" // one block
)

// OptionGzip is the name of GzipOption.
const OptionGzip = "gzip"

// GzipOption is the option of drivers that compress batches only on request.
func GzipOption() driver.Option {
	return driver.Option{Name: OptionGzip, Default: "off", Type: option.Boolean("on", "off"), Help: "compress batches with gzip, as TSBS does"}
}

// CompressionOf returns the compression that GzipOption has chosen.
func CompressionOf(o driver.Options) Compression {
	if o.Bool(OptionGzip) {
		return Gzip
	}
	return Uncompressed
}

// compressor compresses texts. Its result is valid until the next call.
type compressor func(text [][]byte) ([][]byte, error)

// compressor returns a compressor that reuses its memory.
func (c Compression) compressor() (compressor, error) {
	switch c {
	case Uncompressed:
		return func(text [][]byte) ([][]byte, error) { return text, nil }, nil
	case Gzip:
		return newGzip()
	case Snappy:
		var block []byte
		return func(text [][]byte) ([][]byte, error) {
			block = s2.EncodeSnappy(block[:cap(block)], join(text))
			return [][]byte{block}, nil
		}, nil
	}
	return nil, fmt.Errorf("there is no compression %q", c)
}

func newGzip() (compressor, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	return func(text [][]byte) ([][]byte, error) {
		out.Reset()
		w.Reset(&out)
		for _, part := range text {
			if _, err := w.Write(part); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		return [][]byte{out.Bytes()}, nil
	}, nil
}

// join concatenates texts.
func join(text [][]byte) []byte {
	if len(text) == 1 {
		return text[0]
	}
	return bytes.Join(text, nil)
}
