package iotdb

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/byseries"
	"github.com/tsmark/tsmark/series"
)

// tablets encodes the tablets of a writer, and sends them.
type tablets interface {
	// begin begins a batch.
	begin()
	// add encodes the rows of a table, which the writer has sorted, and appends them to its buffer.
	add(*target) error
	// send sends the added tablets. It returns the number of bytes sent in addition to the buffer.
	send(context.Context) (int, error)
}

// columns are the columns of a tablet: names and types.
type columns struct {
	names []string
	types []int32
}

// columnsOf returns the columns of rows with some of a table's fields.
func columnsOf(of []measurement, quote func(string) string) *columns {
	c := &columns{}
	for _, m := range of {
		c.names, c.types = append(c.names, quote(m.name)), append(c.types, numbers[m.kind])
	}
	return c
}

// target is a writer's state of a table.
type target struct {
	table   *series.Table
	texts   []*series.Tag
	numeric []*series.Tag
	runs    []*series.Run // of the current batch
}

// writer implements driver.Writer. It sends each batch immediately.
type writer struct {
	conn    *conn
	tables  map[*series.Table]*target
	active  []*target // tables with rows in the batch
	sorter  *byseries.Sorter
	encoder encoder
	tablets tablets
	// buffer is reused for requests. It moves as it grows, so it is sliced only after everything is
	// encoded.
	buffer []byte
}

// NewWriter implements driver.DB. Create or Join must have been called since the database was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	s, err := d.preparedSchema()
	if err == nil {
		var c *conn
		if c, err = d.config.connect(ctx); err == nil {
			return newWriter(d, c, s), nil
		}
	}
	return nil, fmt.Errorf("opening a connection for writing: %w", err)
}

func newWriter(d *database, c *conn, s *series.Schema) *writer {
	w := &writer{conn: c, tables: make(map[*series.Table]*target, len(s.Tables)), sorter: byseries.New(s.Series)}
	w.encoder = encoder{unit: int64(units[d.options[optionPrecision]]), held: types(d.options)}
	for _, t := range s.Tables {
		of := &target{table: t}
		of.texts, of.numeric = split(t)
		w.tables[t] = of
	}
	w.tablets = d.model.tablets(w, s)
	return w
}

// Write implements driver.Writer. After an error, some of the rows may be stored.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	err := w.encode(b)
	beside := 0
	if err == nil && len(w.active) > 0 {
		beside, err = w.tablets.send(ctx)
	}
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to IoTDB: %w", err)
	}
	if len(w.active) == 0 {
		return driver.Receipt{}, nil
	}
	return driver.Receipt{Sent: w.conn.net.LastWrite(), Acked: time.Now(), Rows: int64(b.Rows()), WireBytes: int64(len(w.buffer) + beside)}, nil
}

// encode encodes the tablets of a batch.
func (w *writer) encode(b *series.Batch) error {
	w.buffer, w.active = w.buffer[:0], w.active[:0]
	w.tablets.begin()
	for i := range b.Runs {
		run := &b.Runs[i]
		t := w.tables[run.Table]
		if t == nil {
			return fmt.Errorf("table %s is not of the schema that the database was prepared for", run.Table.Name)
		}
		if run.Rows() == 0 {
			continue
		}
		if len(t.runs) == 0 {
			w.active = append(w.active, t)
		}
		t.runs = append(t.runs, run)
	}
	var err error
	for _, t := range w.active {
		if err == nil {
			err = w.sorter.Sort(t.runs)
		}
		if err == nil {
			err = w.tablets.add(t)
		}
		t.runs = t.runs[:0]
	}
	return err
}

// Flush implements driver.Writer. Write does not buffer rows.
func (w *writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }

// Close implements driver.Writer.
func (w *writer) Close() error { return w.conn.Close() }
