package oracle

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Content summarizes all values of a field, except NULLs.
type Content struct {
	Count int64
	// Whole is the sum of values that are whole numbers, exactly: integers, the
	// number of booleans that are true, nanoseconds of times, days of dates. Of
	// texts and blobs it is the sum of TextSum; of decimals, the sum in units of their last place.
	Whole Whole
	// Float is the sum of floats. It differs from the exact sum by at most one rounding and a
	// second-order term: see floats. Size is the sum of their absolute values, at least the
	// exact one. Both are meaningless if any values are NaN or infinite, which Special counts.
	Float, Size float64
	Special     int64
	// Min and Max are the least and the largest value, of texts by their bytes.
	// NULL: there is no value, or one is NaN, which systems put in other places.
	Min, Max query.Value
}

// Whole is a whole number of 128 bits in two's complement.
type Whole struct {
	High int64
	Low  uint64 // the number modulo 2^64
}

// add adds a number of 64 bits.
func (w *Whole) add(v int64) {
	var carry uint64
	w.Low, carry = bits.Add64(w.Low, uint64(v), 0)
	w.High += v>>63 + int64(carry)
}

// addHalves adds high*2^32 + low.
func (w *Whole) addHalves(high int64, low uint64) {
	var carry uint64
	w.Low, carry = bits.Add64(w.Low, low, 0)
	w.High += int64(carry)
	w.Low, carry = bits.Add64(w.Low, uint64(high)<<32, 0)
	w.High += high>>32 + int64(carry)
}

// Float is the double nearest to the number, or next to that one.
func (w Whole) Float() float64 {
	if w.High < 0 { // its parts would cancel each other out
		low, borrow := bits.Sub64(0, w.Low, 0)
		return -Whole{High: -w.High - int64(borrow), Low: low}.Float()
	}
	return float64(w.High)*(1<<64) + float64(w.Low)
}

// String is the number in decimal digits.
func (w Whole) String() string {
	n := new(big.Int).Lsh(big.NewInt(w.High), 64)
	return n.Add(n, new(big.Int).SetUint64(w.Low)).String()
}

// TextSum returns the contribution of a text to the order-independent digest of texts, which is a
// sum: the first eight bytes of its MD5 (RFC 1321) as a signed big-endian integer. Databases have
// no better hash in common.
func TextSum(text []byte) int64 {
	sum := md5.Sum(text)
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// fieldFold folds the values of a field.
type fieldFold interface {
	all(*series.Column)          // every value
	one(c *series.Column, r int) // the value of row r
	content() Content
}

func newFold(f series.Field) fieldFold {
	switch {
	case f.Free():
		return &freeTexts{}
	case f.Type.Textual():
		return &texts{wholes: newWholes(query.Text), length: f.Length}
	case f.Type.UsesInts():
		w := newWholes(query.KindOf(f.Type))
		return &w
	}
	of := floats{min: math.Inf(1), max: math.Inf(-1)}
	if f.Decimals > 0 {
		return &decimals{floats: of, scale: math.Pow10(f.Decimals)}
	}
	return &of
}

// decimals folds floats that are decimals. Their sum is exact.
type decimals struct {
	floats
	scale float64
	units Whole
}

func (d *decimals) all(c *series.Column) {
	for r := range c.Floats {
		d.one(c, r)
	}
}

func (d *decimals) one(c *series.Column, r int) {
	d.add(c.Floats[r])
	d.units.add(int64(math.Round(c.Floats[r] * d.scale)))
}

func (d *decimals) content() Content {
	c := d.floats.content()
	c.Whole, c.Float = d.units, d.units.Float()/d.scale
	return c
}

// wholes folds whole numbers.
type wholes struct {
	kind     query.Kind
	count    int64
	sum      Whole
	min, max int64
}

func newWholes(kind query.Kind) wholes {
	return wholes{kind: kind, min: math.MaxInt64, max: math.MinInt64}
}

func (w *wholes) all(c *series.Column) { w.addAll(c.Ints) }

func (w *wholes) one(c *series.Column, r int) {
	w.count++
	w.sum.add(c.Ints[r])
	w.min, w.max = min(w.min, c.Ints[r]), max(w.max, c.Ints[r])
}

// addAll adds fewer than 2^32 values: the sums of their halves then fit into 64
// bits, and need no carry each time.
func (w *wholes) addAll(values []int64) {
	w.count += int64(len(values))
	high, low := int64(0), uint64(0)
	least, most := w.min, w.max
	for _, v := range values {
		high, low = high+v>>32, low+uint64(uint32(v))
		least, most = min(least, v), max(most, v)
	}
	w.sum.addHalves(high, low)
	w.min, w.max = least, most
}

func (w *wholes) content() Content {
	c := Content{Count: w.count, Whole: w.sum}
	if w.count > 0 {
		c.Min, c.Max = query.Value{Kind: w.kind, Int: w.min}, query.Value{Kind: w.kind, Int: w.max}
	}
	return c
}

// texts folds texts, which stand as numbers in the order of their bytes.
type texts struct {
	wholes
	length int
	text   []byte
}

func (t *texts) all(c *series.Column) {
	for r := range c.Ints {
		t.one(c, r)
	}
}

func (t *texts) one(c *series.Column, r int) {
	number := c.Ints[r]
	t.count++
	t.min, t.max = min(t.min, number), max(t.max, number)
	t.text = series.AppendText(t.text[:0], number, t.length)
	t.sum.add(TextSum(t.text))
}

func (t *texts) content() Content {
	c := t.wholes.content()
	for _, v := range []*query.Value{&c.Min, &c.Max} {
		if v.Kind == query.Text {
			*v = query.Value{Kind: query.Text, Text: series.AppendText(nil, v.Int, t.length)}
		}
	}
	return c
}

// freeTexts folds texts of any length, which are compared by their bytes.
type freeTexts struct {
	count    int64
	sum      Whole
	min, max []byte
}

func (t *freeTexts) all(c *series.Column) {
	for r := range c.Ints {
		t.one(c, r)
	}
}

func (t *freeTexts) one(c *series.Column, r int) {
	text := c.Text(r)
	if t.count == 0 || bytes.Compare(text, t.min) < 0 {
		t.min = append(t.min[:0], text...)
	}
	if t.count == 0 || bytes.Compare(text, t.max) > 0 {
		t.max = append(t.max[:0], text...)
	}
	t.count++
	t.sum.add(TextSum(text))
}

func (t *freeTexts) content() Content {
	c := Content{Count: t.count, Whole: t.sum}
	if t.count > 0 {
		c.Min, c.Max = query.Value{Kind: query.Text, Text: t.min}, query.Value{Kind: query.Text, Text: t.max}
	}
	return c
}

// floats folds floats. The sum is Neumaier's (ZAMM 54, 1974): the rounding errors
// of the additions are added up apart.
type floats struct {
	count, special int64
	sum, rest      float64
	size           float64
	min, max       float64
}

func (f *floats) all(c *series.Column) {
	for _, v := range c.Floats {
		f.add(v)
	}
}

func (f *floats) one(c *series.Column, r int) { f.add(c.Floats[r]) }

func (f *floats) add(v float64) {
	f.count++
	size := math.Abs(v)
	if !(size <= math.MaxFloat64) {
		f.special++
		if v == v {
			f.min, f.max = math.Min(f.min, v), math.Max(f.max, v)
		} else {
			f.min, f.max = v, v // and stays so: nothing compares with NaN
		}
		return
	}
	if v < f.min {
		f.min = v
	}
	if v > f.max {
		f.max = v
	}
	f.size += size
	sum := f.sum + v
	if math.Abs(f.sum) >= size {
		f.rest += f.sum - sum + v
	} else {
		f.rest += v - sum + f.sum
	}
	f.sum = sum
}

func (f *floats) content() Content {
	c := Content{Count: f.count, Special: f.special, Float: f.sum + f.rest}
	// Each of n roundings may have made it smaller by half of the last place.
	c.Size = f.size * (1 + float64(f.count)*0x1p-52)
	if f.count > 0 && f.min == f.min {
		c.Min, c.Max = query.Value{Kind: query.Float, Float: f.min}, query.Value{Kind: query.Float, Float: f.max}
	}
	return c
}
