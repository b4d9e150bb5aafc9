package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// writer implements driver.Writer. A batch is one transaction.
type writer struct {
	d      *database
	s      session
	layout *layout
	tables map[*series.Table]*tableWriter
	tags   map[*sqlkit.Tags]*tagsWriter
}

// tableWriter writes the rows of a table.
type tableWriter struct {
	layout *layout
	tags   *tagsWriter
	many   statement // inserts rows rows
	rows   int
	one    statement // inserts one row, where fewer are left
	text   []byte
}

// tagsWriter writes the rows of a table of series.
type tagsWriter struct {
	*sqlkit.Claims
	insert statement // of one row
}

// rowsPerStatement is how many rows an INSERT has at most. More do not make it
// faster; maxVariables is SQLite's limit.
const (
	rowsPerStatement = 64
	maxVariables     = 32766
)

// NewWriter implements driver.DB. The database must have been prepared
// since it was opened. Several writers take turns.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	d.mu.Lock()
	layout := d.layout
	d.mu.Unlock()
	if layout == nil {
		return nil, errors.New("opening a SQLite connection for writing: prepare the database first")
	}
	s, err := d.newSession(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a SQLite connection for writing: %w", err)
	}
	return &writer{
		d: d, s: s, layout: layout,
		tables: make(map[*series.Table]*tableWriter),
		tags:   make(map[*sqlkit.Tags]*tagsWriter),
	}, nil
}

// Write implements driver.Writer. When it returns, the batch is committed; on
// an error nothing of it is in the database.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	receipt, err := w.write(ctx, b)
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to SQLite: %w", err)
	}
	return receipt, nil
}

func (w *writer) write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if err := w.d.lock(ctx); err != nil {
		return driver.Receipt{}, err
	}
	defer w.d.unlock()
	if err := exec(ctx, w.s, "BEGIN IMMEDIATE"); err != nil {
		return driver.Receipt{}, err
	}
	receipt := driver.Receipt{Rows: int64(b.Rows())}
	bytes, err := w.fill(ctx, b)
	if err == nil {
		receipt.WireBytes, receipt.Sent = bytes, time.Now()
		// A commit that is interrupted would leave open whether it happened.
		err = exec(context.WithoutCancel(ctx), w.s, "COMMIT")
	}
	if err != nil {
		w.s.rollback()
	}
	for _, t := range w.tags {
		if err != nil {
			t.Release()
		}
		t.Keep()
	}
	receipt.Acked = time.Now()
	return receipt, err
}

// fill hands the batch to the open transaction and returns the size of its
// values.
func (w *writer) fill(ctx context.Context, b *series.Batch) (int64, error) {
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
		if n, err = t.append(ctx, run); err != nil {
			return 0, fmt.Errorf("table %s: %w", run.Table.Name, err)
		}
		bytes += n
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
		insert, err := w.insert(shared.Name, 1+len(shared.Tags), 1)
		if err != nil {
			return nil, err
		}
		tags = &tagsWriter{Claims: shared.NewClaims(), insert: insert}
		w.tags[shared] = tags
	}
	columns := 2 + len(t.Fields)
	if w.layout.clustered {
		columns++
	}
	tw := &tableWriter{layout: w.layout, tags: tags, rows: max(1, min(rowsPerStatement, maxVariables/columns))}
	var err error
	if tw.one, err = w.insert(t.Name, columns, 1); err != nil {
		return nil, err
	}
	if tw.many, err = w.insert(t.Name, columns, tw.rows); err != nil {
		tw.one.finalize()
		return nil, err
	}
	w.tables[t] = tw
	return tw, nil
}

// insert prepares a statement that inserts rows with a value in each column.
func (w *writer) insert(table string, columns, rows int) (statement, error) {
	row := "(" + strings.Repeat("?,", columns-1) + "?)"
	return w.s.prepare("INSERT INTO " + quoted(table) + " VALUES " + strings.Repeat(row+",", rows-1) + row)
}

// append adds the rows of a run and returns their size.
func (t *tableWriter) append(ctx context.Context, run *series.Run) (int64, error) {
	var bytes int64
	for lo := 0; lo < run.Rows(); {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		statement, n := t.many, t.rows
		if run.Rows()-lo < n {
			statement, n = t.one, 1
		}
		values := t.bind(statement, run, lo, lo+n)
		if err := statement.run(); err != nil {
			return 0, err
		}
		bytes += 8 * int64(values)
		lo += n
	}
	return bytes, nil
}

// bind binds the rows of a run from lo to hi and returns how many of their
// values are not NULL.
func (t *tableWriter) bind(st statement, run *series.Run, lo, hi int) (values int) {
	at := int32(1)
	for row := lo; row < hi; row++ {
		st.bindInt(at, run.Times[row])
		st.bindInt(at+1, int64(run.Series[row]))
		at += 2
		values += 2
		if t.layout.clustered {
			t.layout.arrived++
			st.bindInt(at, t.layout.arrived)
			at++
			values++
		}
		for c := range run.Columns {
			column, field := &run.Columns[c], &run.Table.Fields[c]
			switch {
			case run.Lacks(c, row):
				st.bindNull(at)
				values--
			case field.Type.Textual():
				t.text = series.AppendText(t.text[:0], column.Ints[row], field.Length)
				if field.Type == series.Blob {
					st.bindBlob(at, t.text)
				} else {
					st.bindText(at, t.text)
				}
			case field.Type.Whole():
				st.bindInt(at, column.Ints[row])
			default:
				st.bindFloat(at, column.Floats[row])
			}
			at++
			values++
		}
	}
	return values
}

// introduce adds the rows of those series that have none yet, and returns
// their size.
func (t *tagsWriter) introduce(numbers []uint32) (int64, error) {
	var bytes int64
	err := t.Introduce(numbers, func(s uint32) error {
		t.insert.bindInt(1, int64(s))
		n, err := t.Put(s, t)
		if err != nil {
			return err
		}
		bytes += 8 + n
		return t.insert.run()
	})
	return bytes, err
}

// SetNull, SetFloat and SetText implement sqlkit.Row, behind the series' number.
func (t *tagsWriter) SetNull(column int)             { t.insert.bindNull(int32(2 + column)) }
func (t *tagsWriter) SetFloat(column int, v float64) { t.insert.bindFloat(int32(2+column), v) }
func (t *tagsWriter) SetText(column int, v []byte)   { t.insert.bindText(int32(2+column), v) }

// Flush implements driver.Writer. Write keeps nothing back.
func (w *writer) Flush(context.Context) (driver.Receipt, error) {
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now}, nil
}

// Close implements driver.Writer.
func (w *writer) Close() error {
	if w.s.closed() {
		return nil
	}
	for _, t := range w.tables {
		t.many.finalize()
		t.one.finalize()
	}
	for _, t := range w.tags {
		t.insert.finalize()
	}
	w.s.close()
	w.d.open.Add(-1)
	return nil
}
