package query

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// Digest is a Sink that keeps the number of rows of an answer and a sum that does not depend on
// their order. It represents row answers that are too large to keep. Their values are stored ones,
// so they compare exactly.
type Digest struct {
	columns []Column
	rows    int64
	sum     uint64
	scratch []byte
}

// NewDigest returns the digest of an empty answer with the columns.
func NewDigest(columns []Column) *Digest {
	return &Digest{columns: columns, scratch: make([]byte, 0, 256)}
}

// Row implements Sink.
func (d *Digest) Row(row []Value) error {
	d.Add(1, d.Hash(row))
	return nil
}

// Hash returns the contribution of a row to the digest's sum, and does not change the digest.
func (d *Digest) Hash(row []Value) uint64 {
	d.scratch = appendRow(d.scratch[:0], d.columns, row)
	return xxhash.Sum64(d.scratch)
}

// Add adds rows by their number and the sum of their hashes.
func (d *Digest) Add(rows int64, sum uint64) {
	d.rows += rows
	d.sum += sum
}

// appendRow appends bytes that are the same for equal rows alone, in whatever
// kind they hold their values.
func appendRow(b []byte, columns []Column, row []Value) []byte {
	for i, v := range row {
		if i < len(columns) && v.Kind != columns[i].Kind {
			v = columns[i].canonical(v)
		}
		b = append(b, byte(v.Kind))
		switch v.Kind {
		case Time, Int, Bool, Date:
			b = binary.LittleEndian.AppendUint64(b, uint64(v.Int))
		case Float:
			f := v.Float
			if f == 0 || math.IsNaN(f) {
				f = math.Abs(f) // there is one zero and one NaN
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
		case Text:
			b = binary.AppendUvarint(b, uint64(len(v.Text)))
			b = append(b, v.Text...)
		}
	}
	return b
}

// Equal reports whether two values of the column are equal, in whatever kind they
// are held: floats exactly, but that there is one zero and one NaN.
func (c Column) Equal(a, b Value) bool {
	columns := []Column{c}
	return bytes.Equal(appendRow(nil, columns, []Value{a}), appendRow(nil, columns, []Value{b}))
}

// Matches reports whether a value that was found is the expected one of a column, doubles
// within the tolerance of answers.
func (c Column) Matches(expected, found Value) bool {
	return equal(c.canonical(expected), c.canonical(found))
}

// Rows returns the number of rows.
func (d *Digest) Rows() int64 { return d.rows }

// Equal reports whether both digests saw the same rows.
func (d *Digest) Equal(other *Digest) bool { return d.rows == other.rows && d.sum == other.sum }

// MarshalBinary implements encoding.BinaryMarshaler, so that a digest can be kept
// beyond the process. Read back it can only be compared.
func (d *Digest) MarshalBinary() ([]byte, error) {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(d.rows)), d.sum), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (d *Digest) UnmarshalBinary(b []byte) error {
	if len(b) != 16 {
		return fmt.Errorf("a digest has 16 bytes, not %d", len(b))
	}
	*d = Digest{rows: int64(binary.LittleEndian.Uint64(b)), sum: binary.LittleEndian.Uint64(b[8:])}
	return nil
}
