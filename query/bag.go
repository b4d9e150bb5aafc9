package query

import "iter"

// Bag is a Sink that keeps each row once, and how often it came.
type Bag struct {
	columns []Column
	rows    map[string]*counted
	text    []byte
}

type counted struct {
	row   []Value
	times int
}

// NewBag returns an empty bag of rows with the columns.
func NewBag(columns []Column) *Bag { return &Bag{columns: columns, rows: map[string]*counted{}} }

// Row implements Sink.
func (b *Bag) Row(row []Value) error {
	b.text = appendRow(b.text[:0], b.columns, row)
	c := b.rows[string(b.text)]
	if c == nil {
		var kept Answer
		_ = kept.Row(row) // an Answer takes every row
		c = &counted{row: kept.Rows[0]}
		b.rows[string(b.text)] = c
	}
	c.times++
	return nil
}

// Take takes a row out of the bag, once, if it is in it.
func (b *Bag) Take(row []Value) {
	b.text = appendRow(b.text[:0], b.columns, row)
	c := b.rows[string(b.text)]
	if c == nil {
		return
	}
	if c.times--; c.times == 0 {
		delete(b.rows, string(b.text))
	}
}

// All gives each different row, in no order, and how often it is in the bag.
func (b *Bag) All() iter.Seq2[[]Value, int] {
	return func(yield func([]Value, int) bool) {
		for _, c := range b.rows {
			if !yield(c.row, c.times) {
				return
			}
		}
	}
}
