package lineproto

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// Compression is how texts are compressed before they are sent.
type Compression struct {
	// Encoding is its name in requests: gzip, zstd, or snappy, which is one block of Snappy. Empty:
	// texts are not compressed.
	Encoding string
	Level    int // for gzip, 1 to 9
}

// The encodings.
const (
	EncodingGzip   = "gzip"
	EncodingSnappy = "snappy"
	EncodingZstd   = "zstd"
)

// Gzip returns gzip compression at a level; level 0 does not compress.
func Gzip(level int) Compression {
	if level == 0 {
		return Compression{}
	}
	return Compression{Encoding: EncodingGzip, Level: level}
}

// compressor compresses texts. Its result is valid until the next call.
type compressor func(text [][]byte) ([][]byte, error)

// compressor returns a compressor that reuses its memory.
func (c Compression) compressor() (compressor, error) {
	switch c.Encoding {
	case "":
		return func(text [][]byte) ([][]byte, error) { return text, nil }, nil
	case EncodingGzip:
		return newGzip(c.Level)
	case EncodingSnappy:
		var block []byte
		return func(text [][]byte) ([][]byte, error) {
			block = s2.EncodeSnappy(block[:cap(block)], joined(text))
			return [][]byte{block}, nil
		}, nil
	case EncodingZstd:
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		var frame []byte
		return func(text [][]byte) ([][]byte, error) {
			frame = encoder.EncodeAll(joined(text), frame[:0])
			return [][]byte{frame}, nil
		}, nil
	}
	return nil, fmt.Errorf("there is no compression %q", c.Encoding)
}

func newGzip(level int) (compressor, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
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

// joined concatenates texts.
func joined(text [][]byte) []byte {
	if len(text) == 1 {
		return text[0]
	}
	return bytes.Join(text, nil)
}
