package sqlkit

import (
	"context"
	"strconv"
)

// SeriesInsert implements SeriesWriter with an INSERT whose values are part of its text, and Row.
type SeriesInsert struct {
	// Into precedes the values, and Twice follows them: it says what happens to a row that an earlier
	// attempt has stored.
	Into, Twice string
	// Text appends the literal of a text.
	Text func(dst, value []byte) []byte
	Exec func(ctx context.Context, text string) error

	text []byte
}

// Add implements SeriesWriter.
func (w *SeriesInsert) Add(c *Claims, s uint32) (int64, error) {
	if len(w.text) == 0 {
		w.text = append(w.text, w.Into...)
	} else {
		w.text = append(w.text, ',')
	}
	w.text = strconv.AppendUint(append(w.text, '('), uint64(s), 10)
	_, err := c.Put(s, w)
	w.text = append(w.text, ')')
	return 0, err
}

// SetNull implements Row.
func (w *SeriesInsert) SetNull(int) { w.text = append(w.text, ",NULL"...) }

// SetFloat implements Row. Databases parse a number written as a text without loss.
func (w *SeriesInsert) SetFloat(_ int, v float64) {
	w.text = append(strconv.AppendFloat(append(w.text, ",'"...), v, 'g', -1, 64), '\'')
}

// SetText implements Row.
func (w *SeriesInsert) SetText(_ int, v []byte) { w.text = w.Text(append(w.text, ','), v) }

// Flush implements SeriesWriter.
func (w *SeriesInsert) Flush(ctx context.Context) (int64, error) {
	if len(w.text) == 0 {
		return 0, nil
	}
	text := string(append(w.text, w.Twice...))
	w.text = w.text[:0]
	return int64(len(text)), w.Exec(ctx, text)
}

// Close implements SeriesWriter.
func (w *SeriesInsert) Close() {}
