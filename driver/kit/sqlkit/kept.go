package sqlkit

import (
	"fmt"

	"github.com/tsmark/tsmark/series"
)

// maxKept is the number of series up to which Kept caches elements, to limit memory.
const maxKept = 65_536

// Kept caches the elements that an encoder makes once for each series and needs with each of its rows,
// such as the tags in a format of the database. With too many series it makes them each time. One
// goroutine uses it.
type Kept[E any] struct {
	render  func(dst []E, s uint32) ([]E, error)
	series  series.Span
	kept    [][]E // by series from the first one on; nil elements are not made yet; nil: too many series
	scratch []E
}

// NewKept returns a Kept for the given series. The function render appends a series' elements
// to dst.
func NewKept[E any](own series.Span, render func(dst []E, s uint32) ([]E, error)) *Kept[E] {
	k := &Kept[E]{render: render, series: own}
	if n := own.End - own.First; n <= maxKept {
		k.kept = make([][]E, n)
	}
	return k
}

// Elements returns the elements of a series. The result is valid until the next call.
func (k *Kept[E]) Elements(s uint32) (_ []E, err error) {
	if !k.series.Has(s) {
		return nil, fmt.Errorf("series %d is not of the schema that the database was prepared for", s)
	}
	if k.kept == nil {
		k.scratch, err = k.render(k.scratch[:0], s)
		return k.scratch, err
	}
	kept := &k.kept[s-k.series.First]
	if *kept == nil {
		made, err := k.render([]E{}, s)
		if err != nil {
			return nil, err
		}
		*kept = made
	}
	return *kept, nil
}
