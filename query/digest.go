package query

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
)

// Digest is a Sink that keeps an answer's number of rows and a sum that does
// not depend on their order. It stands for row answers too large to keep,
// whose values are those that were stored and so compare exactly.
type Digest struct {
	columns []Column
	rows    int64
	sum     uint64
	scratch []byte
}

// NewDigest returns the digest of an empty answer with the columns.
func NewDigest(columns []Column) *Digest { return &Digest{columns: columns} }

// Row implements Sink.
func (d *Digest) Row(row []Value) error {
	b := appendRow(d.scratch[:0], d.columns, row)
	d.rows++
	d.sum += xxhash.Sum64(b)
	d.scratch = b
	return nil
}

// appendRow appends bytes that are the same for equal rows alone, in whatever
// kind they hold their values.
func appendRow(b []byte, columns []Column, row []Value) []byte {
	for i, v := range row {
		if i < len(columns) {
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

// Rows returns the number of rows.
func (d *Digest) Rows() int64 { return d.rows }

// Equal reports whether both digests saw the same rows.
func (d *Digest) Equal(other *Digest) bool { return d.rows == other.rows && d.sum == other.sum }
