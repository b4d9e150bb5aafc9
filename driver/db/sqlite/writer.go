package sqlite

import (
	"context"
	"strings"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// loader implements sqlkit.Loader. Several take turns.
type loader struct {
	d *database
	s *session
}

// Begin implements sqlkit.Loader.
func (l *loader) Begin(ctx context.Context, _ *series.Batch) error {
	if err := l.d.lock(ctx); err != nil {
		return err
	}
	err := sqlkit.Exec(ctx, l.s, "BEGIN IMMEDIATE")
	if err != nil {
		l.d.unlock()
	}
	return err
}

// Commit implements sqlkit.Loader.
func (l *loader) Commit(ctx context.Context) (time.Time, error) {
	sent := time.Now()
	err := sqlkit.Commit(ctx, l.s)
	if err == nil {
		l.d.unlock()
	}
	return sent, err
}

// Rollback implements sqlkit.Loader.
func (l *loader) Rollback(ctx context.Context, _ error) {
	sqlkit.Rollback(ctx, l.s)
	l.d.unlock()
}

// Close implements sqlkit.Loader.
func (l *loader) Close() error { return nil }

// rowsPerStatement is the largest number of rows of an INSERT. More rows do not make it faster;
// maxVariables is SQLite's limit.
const (
	rowsPerStatement = 64
	maxVariables     = 32766
)

// insert prepares a statement that inserts rows with a value in each column.
func (l *loader) insert(table string, columns, rows int) (*statement, error) {
	row := "(" + strings.Repeat("?,", columns-1) + "?)"
	return l.s.statement("INSERT INTO " + quoteIdent(table) + " VALUES " + strings.Repeat(row+",", rows-1) + row)
}

// rowWriter implements sqlkit.RowWriter.
type rowWriter struct {
	d         *database
	clustered bool
	many      *statement // inserts rows rows
	rows      int
	one       *statement // inserts one row, where fewer are left
	text      []byte
}

// Rows implements sqlkit.Loader.
func (l *loader) Rows(t *series.Table) (sqlkit.RowWriter, error) {
	w := &rowWriter{d: l.d, clustered: l.d.options[optionIndex] == indexClustered}
	columns := 2 + len(t.Fields)
	if w.clustered {
		columns++
	}
	w.rows = max(1, min(rowsPerStatement, maxVariables/columns))
	var err error
	if w.one, err = l.insert(t.Name, columns, 1); err != nil {
		return nil, err
	}
	if w.many, err = l.insert(t.Name, columns, w.rows); err != nil {
		w.one.finalize()
		return nil, err
	}
	return w, nil
}

// Append implements sqlkit.RowWriter.
func (w *rowWriter) Append(ctx context.Context, runs []*series.Run) (bytes int64, err error) {
	for _, run := range runs {
		bytes += run.FreeBytes()
		for lo := 0; lo < run.Rows(); {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			st, n := w.many, w.rows
			if run.Rows()-lo < n {
				st, n = w.one, 1
			}
			bytes += 8 * int64(w.bind(st, run, lo, lo+n))
			if err := st.exec(); err != nil {
				return 0, err
			}
			lo += n
		}
	}
	return bytes, nil
}

// bind binds the rows of a run from lo to hi and returns the number of values that are not NULL.
func (w *rowWriter) bind(st *statement, run *series.Run, lo, hi int) (values int) {
	for row := lo; row < hi; row++ {
		st.bindInt(run.Times[row])
		st.bindInt(int64(run.Series[row]))
		values += 2
		if w.clustered {
			w.d.arrived++
			st.bindInt(w.d.arrived)
			values++
		}
		for c := range run.Columns {
			column, field := &run.Columns[c], &run.Table.Fields[c]
			switch {
			case run.Lacks(c, row):
				st.bindNull()
				values--
			case field.Type.Textual():
				w.text = column.AppendText(w.text[:0], row, field.Length)
				kind := int32(lib.SQLITE_TEXT)
				if field.Type == series.Blob {
					kind = lib.SQLITE_BLOB
				}
				st.bindBytes(kind, w.text)
			case field.Type.UsesInts():
				st.bindInt(column.Ints[row])
			default:
				st.bindFloat(column.Floats[row])
			}
			values++
		}
	}
	return values
}

// Close implements sqlkit.RowWriter.
func (w *rowWriter) Close() {
	w.many.finalize()
	w.one.finalize()
}

// seriesWriter implements sqlkit.SeriesWriter, and sqlkit.Row.
type seriesWriter struct{ insert *statement } // of one row

// Series implements sqlkit.Loader.
func (l *loader) Series(t *sqlkit.Tags) (sqlkit.SeriesWriter, error) {
	insert, err := l.insert(t.Name, 1+len(t.Tags), 1)
	return &seriesWriter{insert}, err
}

// Add implements sqlkit.SeriesWriter.
func (w *seriesWriter) Add(c *sqlkit.Claims, s uint32) (int64, error) {
	w.insert.bindInt(int64(s))
	n, err := c.Put(s, w)
	if err != nil {
		return 0, err
	}
	return 8 + n, w.insert.exec()
}

// Flush implements sqlkit.SeriesWriter.
func (w *seriesWriter) Flush(context.Context) (int64, error) { return 0, nil }

// Close implements sqlkit.SeriesWriter.
func (w *seriesWriter) Close() { w.insert.finalize() }

// SetNull, SetFloat and SetText implement sqlkit.Row.
func (w *seriesWriter) SetNull(int)               { w.insert.bindNull() }
func (w *seriesWriter) SetFloat(_ int, v float64) { w.insert.bindFloat(v) }
func (w *seriesWriter) SetText(_ int, v []byte)   { w.insert.bindBytes(lib.SQLITE_TEXT, v) }
