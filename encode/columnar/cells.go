//go:build !light

package columnar

import (
	pq "github.com/apache/arrow-go/v18/parquet"

	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// cells is memory in which the values of a column get the form that a file has
// them in.
type cells struct {
	bits    []byte // booleans, as Arrow packs them
	bools   []bool
	shorts  []int32
	singles []float32
	texts   texts.List
	arrays  []pq.ByteArray
}

// asBits packs booleans, the first one into the lowest bit.
func (c *cells) asBits(ints []int64) []byte {
	c.bits = c.bits[:0]
	for row, v := range ints {
		if row&7 == 0 {
			c.bits = append(c.bits, 0)
		}
		c.bits[row>>3] |= byte(v&1) << (row & 7)
	}
	return c.bits
}

func (c *cells) asBools(ints []int64) []bool {
	c.bools = c.bools[:0]
	for _, v := range ints {
		c.bools = append(c.bools, v != 0)
	}
	return c.bools
}

func (c *cells) asShorts(ints []int64) []int32 {
	c.shorts = c.shorts[:0]
	for _, v := range ints {
		c.shorts = append(c.shorts, int32(v))
	}
	return c.shorts
}

func (c *cells) asSingles(floats []float64) []float32 {
	c.singles = c.singles[:0]
	for _, v := range floats {
		c.singles = append(c.singles, float32(v))
	}
	return c.singles
}

// asTexts returns the texts of a column, whose length is 0 where they are free.
func (c *cells) asTexts(of *column, length int) *texts.List {
	if of.free != nil {
		return of.free
	}
	c.texts.Reset()
	for _, v := range of.ints {
		c.texts.Bytes = series.AppendText(c.texts.Bytes, v, length)
		c.texts.Offsets = append(c.texts.Offsets, int32(len(c.texts.Bytes)))
	}
	return &c.texts
}

// asArrays is asTexts, each text apart.
func (c *cells) asArrays(of *column, length int) []pq.ByteArray {
	all := c.asTexts(of, length)
	c.arrays = c.arrays[:0]
	for i := range int32(all.Len()) {
		c.arrays = append(c.arrays, all.Text(i))
	}
	return c.arrays
}
