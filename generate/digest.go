package generate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/workload"
)

// Digest is a content digest of rows, whatever their order. A row's canonical
// form is its line of line protocol as TSBS writes it (see
// encode.NewLineProtocol), without the line break at its end, and with those of its
// texts escaped (see encode.LineProtocol.OneLine); a row without any field has none. The digest is the sum of the lines' XXH3 hashes of 128 bits with seed 0
// (Collet, xxHash v0.8), as unsigned numbers modulo 2^128. A row that comes
// twice counts twice.
//
// It is an io.Writer that takes the lines. The zero value is the digest of none.
type Digest struct {
	high, low uint64
	lines     int64
	rest      []byte // of a line that has not ended
}

// Write implements io.Writer.
func (d *Digest) Write(text []byte) (int, error) {
	n := len(text)
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			d.rest = append(d.rest, text...)
			return n, nil
		}
		line := text[:end]
		if len(d.rest) > 0 {
			d.rest = append(d.rest, line...)
			line = d.rest
		}
		d.line(line)
		d.rest, text = d.rest[:0], text[end+1:]
	}
}

func (d *Digest) line(line []byte) {
	h := xxh3.Hash128(line)
	var carry uint64
	d.low, carry = bits.Add64(d.low, h.Lo, 0)
	d.high, _ = bits.Add64(d.high, h.Hi, carry)
	d.lines++
}

// Lines returns the number of lines.
func (d *Digest) Lines() int64 { return d.lines }

// String returns the digest as displayed and stored: the name of the hash, and the sum as 32
// hexadecimal digits.
func (d *Digest) String() string { return fmt.Sprintf("xxh3-128:%016x%016x", d.high, d.low) }

// DigestOf passes over a dataset for its digest. It calls progress with the rows
// of each piece.
func DigestOf(ctx context.Context, d workload.Dataset, progress func(rows int)) (string, error) {
	var digest Digest
	reader := d.Open()
	if c, ok := reader.(io.Closer); ok {
		defer c.Close()
	}
	if err := Write(ctx, &digest, reader, encode.LineProtocol{OneLine: true}.New(d.Schema()), progress); err != nil {
		return "", fmt.Errorf("making the digest of the dataset: %w", err)
	}
	return digest.String(), nil
}
