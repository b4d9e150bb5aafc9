package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// preparedWriter implements sqlkit.RowWriter with parameters of prepared INSERTs.
type preparedWriter struct {
	l          *loader
	into       string // before the values
	encoder    *encoder
	parameters *parameters
	columns    int
	sizes      []int // numbers of rows of the statements, the largest first
	statements []sqldriver.Stmt
	text       []byte // of textOf
}

// The largest number of rows of a prepared INSERT, and the largest number of parameters in the
// protocol.
const (
	rowsPrepared  = 128
	maxParameters = 65_535
)

// newPreparedWriter returns the writer of a table. Rows that do not fill the largest statement use
// smaller ones.
func (l *loader) newPreparedWriter(t *series.Table) *preparedWriter {
	o := l.d.options
	w := &preparedWriter{l: l, into: insertInto(t), encoder: newEncoder(o, t), parameters: newParameters(o, l.schema, t)}
	w.columns = w.encoder.columns(o)
	most := max(1, min(rowsPrepared, maxParameters/w.columns, insertBytes/w.bytesOfRow(t)))
	if w.encoder.narrow && most > len(t.Fields) {
		most -= most % len(t.Fields) // whole rows of the table
	}
	for ; most > 1; most /= 8 {
		w.sizes = append(w.sizes, most)
	}
	w.sizes = append(w.sizes, 1)
	w.statements = make([]sqldriver.Stmt, len(w.sizes))
	return w
}

// bytesOfRow estimates the largest size of a row.
func (w *preparedWriter) bytesOfRow(t *series.Table) int {
	const tag, other = 255, 32
	n := other * w.columns
	for _, f := range t.Fields {
		if f.Type.Textual() {
			n += f.Room()
		}
	}
	if wide(w.l.d.options) {
		n += tag * len(t.Tags)
	}
	return n
}

// Append implements sqlkit.RowWriter.
func (w *preparedWriter) Append(ctx context.Context, runs []*series.Run) (bytes int64, err error) {
	p := w.parameters
	p.reset()
	for _, run := range runs {
		for row := range run.Rows() {
			if _, err := w.encoder.row(p, run, row); err != nil {
				return 0, err
			}
			if len(p.values) >= w.sizes[0]*w.columns {
				if err := w.flush(ctx); err != nil {
					return 0, err
				}
			}
		}
	}
	return p.bytes, w.flush(ctx)
}

// flush sends the pending rows.
func (w *preparedWriter) flush(ctx context.Context) error {
	left := w.parameters.values
	for i, size := range w.sizes {
		for n := size * w.columns; len(left) >= n; left = left[n:] {
			if w.l.d.variant.quirks.Lack(lacksPrepared) {
				if _, err := w.l.conn.exec(ctx, w.textOf(left[:n])); err != nil {
					return err
				}
				continue
			}
			if w.statements[i] == nil {
				row := ",(" + strings.Repeat(",?", w.columns)[1:] + ")"
				statement, err := w.l.conn.prepare(ctx, w.into+strings.Repeat(row, size)[1:])
				if err != nil {
					return fmt.Errorf("preparing an INSERT of %d rows: %w", size, err)
				}
				w.statements[i] = statement
			}
			stored, err := w.l.conn.run(ctx, w.statements[i], left[:n])
			if err == nil {
				err = complete(stored, int64(size))
			}
			if err != nil {
				return err
			}
		}
	}
	w.parameters.values = w.parameters.values[:0]
	return nil
}

// textOf returns an INSERT with values in place of parameters.
func (w *preparedWriter) textOf(values []sqldriver.NamedValue) string {
	text := append(w.text[:0], w.into...)
	for i, v := range values {
		switch {
		case i > 0 && i%w.columns == 0:
			text = append(text, "),("...)
		case i > 0:
			text = append(text, ',')
		default:
			text = append(text, '(')
		}
		switch v := v.Value.(type) {
		case nil:
			text = append(text, "NULL"...)
		case int64:
			text = strconv.AppendInt(text, v, 10)
		case float64:
			text = strconv.AppendFloat(text, v, 'e', -1, 64) // without an exponent it were a decimal
		case []byte:
			text = append(appendEscaped(append(text, '\''), v), '\'')
		case string:
			text = append(appendEscaped(append(text, '\''), []byte(v)), '\'')
		}
	}
	w.text = append(text, ')')
	return string(w.text)
}

// Close implements sqlkit.RowWriter.
func (w *preparedWriter) Close() {
	for _, s := range w.statements {
		if s != nil && !w.l.conn.Closed() {
			_ = s.Close() // the connection's end closes it at the latest
		}
	}
}

// parameters are the parameters of pending rows. It implements cells. It avoids boxing: a text is
// written into memory that is reused as long as the column's texts have the same length, and the values
// of a series are boxed once. Only numbers are boxed each time, which takes 8 bytes except for whole
// numbers below 256, and texts whose length differs from the previous one in their place, which takes
// 24.
type parameters struct {
	values []sqldriver.NamedValue
	slots  []slot // memory for texts, by the index among the values
	of     *sqlkit.Kept[any]
	names  []any  // of fields
	last   int64  // the previous time, which consecutive rows often share
	time   []byte // its text
	bytes  int64  // of the values
}

// slot is memory for a text, and the same memory boxed.
type slot struct {
	text  []byte
	boxed any
}

func newParameters(o driver.Options, s *series.Schema, t *series.Table) *parameters {
	p := &parameters{}
	for _, f := range t.Fields {
		p.names = append(p.names, f.Name)
	}
	p.of = sqlkit.NewKept(s.Range(t), func(dst []any, s uint32) ([]any, error) {
		if !wide(o) {
			return append(dst, int64(s)), nil
		}
		return tagsBoxed(dst, t.Tags, s)
	})
	return p
}

// tagsBoxed appends the tags of a series.
func tagsBoxed(dst []any, tags []series.Tag, s uint32) ([]any, error) {
	for i := range tags {
		value, ok := tags[i].Values.Append([]byte{}, s) // the library treats nil as NULL
		switch {
		case !ok:
			dst = append(dst, nil)
		case tags[i].Numeric():
			n, err := numeric(&tags[i], s, value)
			if err != nil {
				return dst, err
			}
			dst = append(dst, n)
		default:
			dst = append(dst, value)
		}
	}
	return dst, nil
}

func (p *parameters) reset() { p.values, p.bytes = p.values[:0], 0 }

func (p *parameters) put(v any, bytes int) {
	p.values = append(p.values, sqldriver.NamedValue{Ordinal: len(p.values) + 1, Value: v})
	p.bytes += int64(bytes)
}

// next returns memory for a text, which becomes the next value.
func (p *parameters) next(length int) []byte {
	at := len(p.values)
	for len(p.slots) <= at {
		p.slots = append(p.slots, slot{})
	}
	if s := &p.slots[at]; s.boxed == nil || len(s.text) != length {
		s.text = slices.Grow(s.text[:0], max(length, 1))[:length] // the library treats nil as NULL
		s.boxed = s.text
	}
	p.put(p.slots[at].boxed, length)
	return p.slots[at].text
}

// begin and the methods after it implement cells.
func (p *parameters) begin()           {}
func (p *parameters) end()             {}
func (p *parameters) null()            { p.put(nil, 0) }
func (p *parameters) integer(v int64)  { p.put(v, 8) }
func (p *parameters) double(v float64) { p.put(v, 8) }
func (p *parameters) timestamp(ns int64) {
	if p.time == nil || ns != p.last {
		const form = "2006-01-02 15:04:05.000000"
		p.time, p.last = time.Unix(0, ns).UTC().AppendFormat(p.time[:0], form), ns
	}
	copy(p.next(len(p.time)), p.time)
}
func (p *parameters) day(days int64) {
	time.Unix(days*86400, 0).UTC().AppendFormat(p.next(len(time.DateOnly))[:0], time.DateOnly)
}
func (p *parameters) text(c *series.Column, row, length int) {
	c.AppendText(p.next(c.TextLength(row, length))[:0], row, length)
}
func (p *parameters) name(f int) { p.put(p.names[f], len(p.names[f].(string))) }
func (p *parameters) series(s uint32) error {
	of, err := p.of.Elements(s)
	for _, v := range of {
		text, _ := v.([]byte)
		p.put(v, max(8, len(text)))
	}
	return err
}

// insertBytes is the approximate size of an INSERT: a quarter of the smallest default of
// max_allowed_packet.
const insertBytes = 1 << 20

// insertInto is an INSERT before its values.
func insertInto(t *series.Table) string { return "INSERT INTO " + quoteIdent(t.Name) + " VALUES " }
