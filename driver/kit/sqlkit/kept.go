package sqlkit

import "fmt"

// maxKept is the number of series up to which Kept caches elements, to limit memory.
const maxKept = 65_536

// Kept caches the elements that an encoder makes once for each series and needs with each of its rows,
// such as the tags in a format of the database. With too many series it makes them each time. One
// goroutine uses it.
type Kept[E any] struct {
	render  func(dst []E, s uint32) ([]E, error)
	series  uint32
	kept    [][]E // by series; nil elements are not made yet; nil: too many series
	scratch []E
}

// NewKept returns a Kept for the given number of series. The function render appends a series' elements
// to dst.
func NewKept[E any](series uint32, render func(dst []E, s uint32) ([]E, error)) *Kept[E] {
	k := &Kept[E]{render: render, series: series}
	if series <= maxKept {
		k.kept = make([][]E, series)
	}
	return k
}

// Elements returns the elements of a series. The result is valid until the next call.
func (k *Kept[E]) Elements(s uint32) (_ []E, err error) {
	if s >= k.series {
		return nil, fmt.Errorf("series %d is not of the schema that the database was prepared for", s)
	}
	if k.kept == nil {
		k.scratch, err = k.render(k.scratch[:0], s)
		return k.scratch, err
	}
	if k.kept[s] == nil {
		made, err := k.render([]E{}, s)
		if err != nil {
			return nil, err
		}
		k.kept[s] = made
	}
	return k.kept[s], nil
}
