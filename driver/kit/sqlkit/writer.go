package sqlkit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// Loader is a worker's connection, by which a Writer writes batches.
type Loader interface {
	// Begin begins the transaction of a batch. If it fails, no transaction is open.
	Begin(context.Context, *series.Batch) error
	// Rows and Series open what writes the rows of a table, and of a table of series.
	Rows(*series.Table) (RowWriter, error)
	Series(*Tags) (SeriesWriter, error)
	// Commit ends the transaction, and returns when its last byte was handed over.
	Commit(context.Context) (sent time.Time, err error)
	// Rollback undoes the transaction after any error but that of Begin. Everything opened in it has
	// been closed.
	Rollback(ctx context.Context, cause error)
	// Close releases the connection, in which nothing is open.
	Close() error
}

// RowWriter writes the rows of a table.
type RowWriter interface {
	// Append writes rows in the transaction, and returns their size.
	Append(context.Context, []*series.Run) (bytes int64, err error)
	Close()
}

// SeriesWriter writes the rows of a table of series.
type SeriesWriter interface {
	// Add adds the row of a series with the tags that c assigned. Flush writes the remaining rows. Both
	// return the bytes they wrote.
	Add(c *Claims, s uint32) (bytes int64, err error)
	Flush(context.Context) (bytes int64, err error)
	Close()
}

// Writer implements driver.Writer. A batch is a transaction, in which each series
// that is new gets its row of tags.
type Writer struct {
	System string // as errors name it
	Layout *Layout
	Loader Loader
	// Timeout bounds a batch; 0: nothing does.
	Timeout time.Duration

	tables map[*series.Table]*tableRows
	series map[*Tags]*tableSeries
	order  []*tableRows // of the batch at work
}

// tableRows is a table of rows.
type tableRows struct {
	RowWriter
	name   string
	place  int           // in the schema
	runs   []*series.Run // of the batch at work
	series *tableSeries  // nil where tables are wide
}

// tableSeries is a table of series.
type tableSeries struct {
	SeriesWriter
	*Claims
	name string
}

// Write implements driver.Writer. When it returns, the batch is committed; on an
// error nothing of it is in the database, unless a connection was cut while it was
// committed.
func (w *Writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if w.Timeout == 0 {
		return w.write(ctx, b)
	}
	bounded, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	receipt, err := w.write(bounded, b)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = fmt.Errorf("writing to %s: %w", w.System, &driver.Temporary{Err: fmt.Errorf(
			"%w: the server did not take the batch within %v; raise the option timeout or look at the server", driver.ErrUnreachable, w.Timeout)})
	}
	return receipt, err
}

func (w *Writer) write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	receipt := driver.Receipt{Rows: int64(b.Rows())}
	err := w.Loader.Begin(ctx, b)
	if err == nil {
		receipt.WireBytes, err = w.fill(ctx, b)
		if err == nil {
			receipt.Sent, err = w.Loader.Commit(ctx)
		}
		if err != nil {
			w.abandon(ctx, err)
		}
	}
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to %s: %w", w.System, err)
	}
	receipt.Acked = time.Now()
	for _, t := range w.series {
		t.Keep()
	}
	return receipt, nil
}

// fill writes the batch to the transaction, the rows of series first, and returns its size. All writers
// process tables in the order of the schema, whatever the order in the batch: otherwise two
// transactions could deadlock, as TimescaleDB's do that create chunks of several hypertables.
func (w *Writer) fill(ctx context.Context, b *series.Batch) (bytes int64, err error) {
	for _, t := range w.order {
		t.runs = t.runs[:0]
	}
	w.order = w.order[:0]
	for i := range b.Runs {
		run := &b.Runs[i]
		t, err := w.table(run.Table)
		if err != nil {
			return 0, err
		}
		if run.Rows() == 0 {
			continue
		}
		if len(t.runs) == 0 {
			w.order = append(w.order, t)
		}
		t.runs = append(t.runs, run)
	}
	slices.SortFunc(w.order, func(a, b *tableRows) int { return a.place - b.place })
	for _, t := range w.order {
		n, err := t.introduce()
		if err != nil {
			return 0, err
		}
		bytes += n
	}
	for i, t := range w.order {
		if t.series == nil || slices.ContainsFunc(w.order[:i], func(before *tableRows) bool { return before.series == t.series }) {
			continue
		}
		n, err := t.series.Flush(ctx)
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", t.series.name, err)
		}
		bytes += n
	}
	for _, t := range w.order {
		n, err := t.Append(ctx, t.runs)
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", t.name, err)
		}
		bytes += n
	}
	return bytes, nil
}

// table returns a table of the schema.
func (w *Writer) table(t *series.Table) (*tableRows, error) {
	if known := w.tables[t]; known != nil {
		return known, nil
	}
	if w.Layout.Schema.Table(t.Name) != t {
		return nil, fmt.Errorf("table %s is not of the schema that the database was prepared for", t.Name)
	}
	if w.tables == nil {
		w.tables, w.series = make(map[*series.Table]*tableRows), make(map[*Tags]*tableSeries)
	}
	made := &tableRows{name: t.Name, place: slices.Index(w.Layout.Schema.Tables, t)}
	if of := w.Layout.Tags[t]; of != nil {
		if made.series = w.series[of]; made.series == nil {
			to, err := w.Loader.Series(of)
			if err != nil {
				return nil, err
			}
			made.series = &tableSeries{to, of.NewClaims(), of.Name}
			w.series[of] = made.series
		}
	}
	var err error
	if made.RowWriter, err = w.Loader.Rows(t); err != nil {
		return nil, err
	}
	w.tables[t] = made
	return made, nil
}

// introduce adds rows for the series of the batch that do not have one yet, and returns their size.
func (t *tableRows) introduce() (bytes int64, err error) {
	to := t.series
	if to == nil {
		return 0, nil
	}
	for _, run := range t.runs {
		err := to.Introduce(run.Series, func(s uint32) error {
			n, err := to.Add(to.Claims, s)
			bytes += n
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", to.name, err)
		}
	}
	return bytes, nil
}

// abandon rolls the transaction back. The next batch reopens its tables.
func (w *Writer) abandon(ctx context.Context, cause error) {
	series := w.series
	w.closeTables()
	w.Loader.Rollback(ctx, cause)
	for _, t := range series {
		t.Release()
	}
}

func (w *Writer) closeTables() {
	for _, t := range w.tables {
		t.Close()
	}
	for _, t := range w.series {
		t.Close()
	}
	w.tables, w.series, w.order = nil, nil, nil
}

// Flush implements driver.Writer. Write keeps nothing back.
func (w *Writer) Flush(context.Context) (driver.Receipt, error) {
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now}, nil
}

// Close implements driver.Writer.
func (w *Writer) Close() error {
	w.closeTables()
	return w.Loader.Close()
}
