package series

import (
	"strconv"
)

// Numbered gives every series the value Prefix followed by its own number, as
// TSBS names hosts and trucks. It needs no memory per series.
type Numbered struct{ Prefix string }

// Append implements TagValues.
func (n Numbered) Append(dst []byte, series uint32) ([]byte, bool) {
	dst = append(dst, n.Prefix...)
	return strconv.AppendUint(dst, uint64(series), 10), true
}

// Dictionary gives every series one of at most 256 values.
type Dictionary struct {
	Values []string // the distinct values
	Index  []uint8  // per series, the position of its value in Values
}

// Append implements TagValues.
func (d *Dictionary) Append(dst []byte, series uint32) ([]byte, bool) {
	return append(dst, d.Values[d.Index[series]]...), true
}

// Suffixed gives every series the value Prefix followed by a number of its
// own.
type Suffixed struct {
	Prefix string
	Number []uint32 // per series
}

// Append implements TagValues.
func (s *Suffixed) Append(dst []byte, series uint32) ([]byte, bool) {
	dst = append(dst, s.Prefix...)
	return strconv.AppendUint(dst, uint64(s.Number[series]), 10), true
}
