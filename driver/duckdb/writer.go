//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// writer implements driver.Writer. A batch is one transaction.
type writer struct {
	d      *database
	s      *session
	layout *layout
	tables map[*series.Table]*tableWriter
	tags   map[*sqlkit.Tags]*tagsWriter
}

// tableWriter writes the rows of a table.
type tableWriter struct {
	*loader
	table *series.Table
	tags  *tagsWriter
	size  int64 // bytes of a row in DuckDB's vectors
	text  []byte
}

// tagsWriter writes the rows of a table of series.
type tagsWriter struct {
	*loader
	*sqlkit.Claims
}

// NewWriter implements driver.DB. The database must have been prepared
// since it was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	d.mu.Lock()
	layout := d.layout
	d.mu.Unlock()
	if layout == nil {
		return nil, errors.New("opening a DuckDB connection for writing: prepare the database first")
	}
	s, err := d.newSession(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a DuckDB connection for writing: %w", err)
	}
	w := &writer{d: d, s: s, layout: layout}
	w.forget()
	return w, nil
}

// Write implements driver.Writer. When it returns, the batch is committed; on
// an error nothing of it is in the database. Times must be multiples of 1 µs.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	receipt, err := w.write(ctx, b)
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to DuckDB: %w", err)
	}
	return receipt, nil
}

func (w *writer) write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	receipt := driver.Receipt{Rows: int64(b.Rows())}
	err := w.s.exec(ctx, "BEGIN TRANSACTION")
	if err == nil {
		receipt.WireBytes, err = w.fill(b)
	}
	if err == nil {
		receipt.Sent = time.Now()
		// Interrupting a commit would leave open whether it happened.
		err = w.s.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		w.abandon()
		return driver.Receipt{}, err
	}
	receipt.Acked = time.Now()
	for _, t := range w.tags {
		t.Keep()
	}
	return receipt, nil
}

// fill hands the batch to the open transaction and returns its size in
// DuckDB's vectors.
func (w *writer) fill(b *series.Batch) (int64, error) {
	var bytes int64
	for i := range b.Runs {
		run := &b.Runs[i]
		t, err := w.table(run.Table)
		if err != nil {
			return 0, err
		}
		n, err := t.tags.introduce(run.Series)
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", t.tags.Name, err)
		}
		bytes += n
		if n, err = t.append(run); err != nil {
			return 0, fmt.Errorf("table %s: %w", run.Table.Name, err)
		}
		bytes += n
	}
	for t, l := range w.tags {
		if err := l.flush(); err != nil {
			return 0, fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	for t, l := range w.tables {
		if err := l.flush(); err != nil {
			return 0, fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return bytes, nil
}

// table returns the writer of a table of the schema.
func (w *writer) table(t *series.Table) (*tableWriter, error) {
	if tw := w.tables[t]; tw != nil {
		return tw, nil
	}
	shared := w.layout.tags[t]
	if shared == nil {
		return nil, fmt.Errorf("table %s is not of the schema that the database was prepared for", t.Name)
	}
	tags := w.tags[shared]
	if tags == nil {
		types := []duck.Type{duck.TypeUInteger}
		for i := range shared.Tags {
			if shared.Tags[i].Numeric() {
				types = append(types, duck.TypeDouble)
			} else {
				types = append(types, duck.TypeVarchar)
			}
		}
		l, err := newLoader(w.s, shared.Name, types)
		if err != nil {
			return nil, err
		}
		tags = &tagsWriter{loader: l, Claims: shared.NewClaims()}
		w.tags[shared] = tags
	}
	types := []duck.Type{duck.TypeTimestamp, duck.TypeUInteger}
	for _, f := range t.Fields {
		types = append(types, vectorTypes[f.Type])
	}
	l, err := newLoader(w.s, t.Name, types)
	if err != nil {
		return nil, err
	}
	tw := &tableWriter{loader: l, table: t, tags: tags, size: 8 + 4}
	for i := range t.Fields {
		tw.size += sizeOf(&t.Fields[i])
	}
	w.tables[t] = tw
	return tw, nil
}

// append adds the rows of a run and returns their size.
func (t *tableWriter) append(run *series.Run) (int64, error) {
	for lo := 0; lo < run.Rows(); {
		n := min(t.room(), run.Rows()-lo)
		times := column[int64](t.loader, 0, n)
		for i, ns := range run.Times[lo : lo+n] {
			times[i] = ns / 1000
		}
		copy(column[uint32](t.loader, 1, n), run.Series[lo:])
		for c, f := range t.table.Fields {
			values := &run.Columns[c]
			t.field(2+c, &f, values, lo, n)
			if values.Nulls != nil {
				t.setNulls(2+c, values.Nulls, lo, n)
			}
		}
		if t.table.Widths != nil {
			t.setMissing(run.Series[lo : lo+n])
		}
		if err := t.advance(n); err != nil {
			return 0, err
		}
		lo += n
	}
	return int64(run.Rows()) * t.size, nil
}

// setMissing makes NULL what the next rows, of these series, do not have: a
// table of DuckDB's has all columns in every row.
func (t *tableWriter) setMissing(numbers []uint32) {
	for row, s := range numbers {
		for c := t.table.Width(s); c < len(t.table.Fields); c++ {
			t.setNullAt(2+c, row)
		}
	}
}

// introduce adds the rows of those series that have none yet, and returns
// their size.
func (t *tagsWriter) introduce(numbers []uint32) (int64, error) {
	var bytes int64
	err := t.Introduce(numbers, func(s uint32) error {
		column[uint32](t.loader, 0, 1)[0] = s
		n, err := t.Put(s, t)
		if err != nil {
			return err
		}
		bytes += 4 + n
		return t.advance(1)
	})
	return bytes, err
}

// SetNull, SetFloat and SetText implement sqlkit.Row, behind the series' number.
func (t *tagsWriter) SetNull(c int)             { t.setNull(1 + c) }
func (t *tagsWriter) SetFloat(c int, v float64) { column[float64](t.loader, 1+c, 1)[0] = v }
func (t *tagsWriter) SetText(c int, v []byte) {
	duck.VectorAssignStringElementLen(t.vectors[1+c], duck.IdxT(t.n), v)
}

// abandon undoes the transaction.
func (w *writer) abandon() {
	w.discard()
	// It fails where DuckDB rolled back already.
	_ = w.s.exec(context.Background(), "ROLLBACK")
	for _, t := range w.tags {
		t.Release()
	}
	w.forget()
}

// discard releases the appenders.
func (w *writer) discard() {
	for _, t := range w.tags {
		t.discard()
	}
	for _, t := range w.tables {
		t.discard()
	}
}

// forget makes the next batch open appenders anew.
func (w *writer) forget() {
	w.tables = make(map[*series.Table]*tableWriter)
	w.tags = make(map[*sqlkit.Tags]*tagsWriter)
}

// Flush implements driver.Writer. Write keeps nothing back.
func (w *writer) Flush(context.Context) (driver.Receipt, error) {
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now}, nil
}

// Close implements driver.Writer.
func (w *writer) Close() error {
	if w.s.conn.Ptr != nil {
		w.discard()
		w.forget()
		w.s.close()
		w.d.open.Add(-1)
	}
	return nil
}
