package mysql

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// NewWriter implements driver.DB. The database must have been prepared since it was
// opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	layout, err := d.Layout()
	if err == nil {
		var c *conn
		if c, err = d.config.connect(ctx); err == nil {
			if err = c.Exec(ctx, "SET autocommit = 0"); err == nil {
				return &sqlkit.Writer{System: d.system, Layout: layout, Loader: newLoader(d, c, layout.Schema), Timeout: d.config.timeout}, nil
			}
			_ = c.Close()
		}
	}
	return nil, fmt.Errorf("opening a connection for writing: %w", err)
}

// loader implements sqlkit.Loader.
type loader struct {
	d         *database
	conn      *conn
	schema    *series.Schema
	name      string                  // under which the library knows what reads rows
	rows      *reader                 // that LOAD DATA asks for
	committed bool                    // or about to be
	ends      map[*series.Table]int64 // of partitions that are there, at least
}

func newLoader(d *database, c *conn, s *series.Schema) *loader {
	l := &loader{d: d, conn: c, schema: s, name: rand.Text(), ends: make(map[*series.Table]int64)}
	mysql.RegisterReaderHandler(l.name, func() io.Reader { return l.rows })
	return l
}

// Begin implements sqlkit.Loader. The transaction begins with the first statement in
// it.
func (l *loader) Begin(ctx context.Context, b *series.Batch) error {
	l.committed = false
	return l.partitions(ctx, b)
}

// Commit implements sqlkit.Loader.
func (l *loader) Commit(ctx context.Context) (sent time.Time, err error) {
	l.committed, sent = true, time.Now()
	if err := l.conn.commit(ctx); err != nil {
		return sent, fmt.Errorf("committing: %w", err)
	}
	return sent, nil
}

// Rollback implements sqlkit.Loader. What was not committed when the connection was
// cut is not stored.
func (l *loader) Rollback(ctx context.Context, cause error) {
	if t := driver.AsTemporary(cause); t != nil && !l.committed {
		t.Refused = true
	}
	l.conn.rollback(ctx)
}

// Close implements sqlkit.Loader.
func (l *loader) Close() error {
	mysql.DeregisterReaderHandler(l.name)
	return l.conn.Close()
}

// rowWriter implements sqlkit.RowWriter.
type rowWriter struct {
	l         *loader
	statement string // before the rows
	reader    reader
}

// Rows implements sqlkit.Loader. The bytes of LOAD DATA are those of the columns.
func (l *loader) Rows(t *series.Table) (sqlkit.RowWriter, error) {
	statement := fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::%s' INTO TABLE %s CHARACTER SET binary", l.name, quoted(t.Name))
	if l.d.options[optionMethod] == methodInsert {
		statement = "INSERT INTO " + quoted(t.Name) + " VALUES "
	}
	return &rowWriter{l: l, statement: statement, reader: reader{encoder: newEncoder(l.d.options, l.schema, t)}}, nil
}

// Append implements sqlkit.RowWriter.
func (w *rowWriter) Append(ctx context.Context, runs []*series.Run) (bytes int64, err error) {
	r := &w.reader
	r.reset(runs)
	if w.l.d.options[optionMethod] == methodInsert {
		return w.insert(ctx)
	}
	w.l.rows = r
	stored, err := w.l.conn.exec(ctx, w.statement)
	if r.err != nil {
		return 0, r.err // what the server says follows from it
	}
	if err != nil {
		return 0, explained(err)
	}
	// LOCAL makes warnings of errors, and what is stored then is not what was sent.
	var first string
	err = w.l.conn.rows(ctx, "SHOW WARNINGS LIMIT 1", func(row []query.Value) error {
		first = fmt.Sprintf("%s (%s %s)", row[2], row[0], row[1])
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case first != "":
		return 0, fmt.Errorf("the server took rows with a warning, so the batch was undone: %s", first)
	case stored != r.sent:
		return 0, fmt.Errorf("the server stored %d rows of %d", stored, r.sent)
	}
	return r.bytes, nil
}

// insertBytes is about how large an INSERT gets: a quarter of the smallest
// max_allowed_packet that a server is shipped with.
const insertBytes = 1 << 20

// insert sends the rows by statements.
func (w *rowWriter) insert(ctx context.Context) (bytes int64, err error) {
	for r := &w.reader; len(r.runs) > 0; {
		r.buffer = append(r.buffer[:0], w.statement...)
		if err := r.fill(insertBytes); err != nil {
			return 0, err
		}
		text := view(r.buffer[:len(r.buffer)-1]) // without the last comma
		if _, err := w.l.conn.exec(ctx, text); err != nil {
			return 0, err
		}
		bytes += int64(len(text))
	}
	return bytes, nil
}

// Close implements sqlkit.RowWriter.
func (w *rowWriter) Close() {}

// reader is runs of one table as a text, encoded while it is sent.
type reader struct {
	encoder *encoder
	runs    []*series.Run
	row     int    // next one of the first run
	buffer  []byte // encoded and not read yet from at on
	at      int
	sent    int64 // rows
	bytes   int64
	err     error // of encoding
}

func (r *reader) reset(runs []*series.Run) {
	*r = reader{encoder: r.encoder, runs: runs, buffer: r.buffer[:0]}
}

// chunk is about how many bytes are encoded at a time.
const chunk = 64 << 10

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for r.at == len(r.buffer) || len(r.buffer)-r.at < len(p) && len(r.runs) > 0 {
		if r.at == len(r.buffer) && len(r.runs) == 0 {
			return 0, io.EOF
		}
		r.buffer = r.buffer[:copy(r.buffer, r.buffer[r.at:])]
		r.at = 0
		if r.err = r.fill(chunk); r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.buffer[r.at:])
	r.at += n
	r.bytes += int64(n)
	return n, nil
}

// fill encodes rows until the buffer has so many bytes.
func (r *reader) fill(bytes int) (err error) {
	for ; len(r.runs) > 0; r.runs, r.row = r.runs[1:], 0 {
		for run := r.runs[0]; r.row < run.Rows(); r.row++ {
			if len(r.buffer) >= bytes {
				return nil
			}
			if r.buffer, err = r.encoder.row(r.buffer, run, r.row); err != nil {
				return err
			}
			r.sent++
		}
	}
	return nil
}

// seriesWriter implements sqlkit.SeriesWriter, and sqlkit.Row.
type seriesWriter struct {
	l      *loader
	insert string
	rows   []byte // as SQL
}

// Series implements sqlkit.Loader.
func (l *loader) Series(t *sqlkit.Tags) (sqlkit.SeriesWriter, error) {
	return &seriesWriter{l: l, insert: "INSERT INTO " + quoted(t.Name) + " VALUES "}, nil
}

// Add implements sqlkit.SeriesWriter.
func (w *seriesWriter) Add(c *sqlkit.Claims, s uint32) (int64, error) {
	w.rows = strconv.AppendUint(append(w.rows, ",("...), uint64(s), 10)
	_, err := c.Put(s, w)
	w.rows = append(w.rows, ')')
	return 0, err
}

// SetNull, SetFloat and SetText implement sqlkit.Row.
func (w *seriesWriter) SetNull(int) { w.rows = append(w.rows, ",NULL"...) }
func (w *seriesWriter) SetFloat(_ int, v float64) {
	w.rows = strconv.AppendFloat(append(w.rows, ','), v, 'e', -1, 64)
}
func (w *seriesWriter) SetText(_ int, v []byte) {
	w.rows = append(appendEscaped(append(w.rows, ",'"...), v), '\'')
}

// Flush implements sqlkit.SeriesWriter. A row that an earlier try has stored stays.
func (w *seriesWriter) Flush(ctx context.Context) (int64, error) {
	if len(w.rows) == 0 {
		return 0, nil
	}
	text := w.insert + string(w.rows[1:]) + " ON DUPLICATE KEY UPDATE id = id"
	w.rows = w.rows[:0]
	_, err := w.l.conn.exec(ctx, text)
	return int64(len(text)), err
}

// Close implements sqlkit.SeriesWriter.
func (w *seriesWriter) Close() {}

// explained says how to let LOAD DATA in, where the server does not.
func explained(err error) error {
	switch number(err) {
	case 1148, 3948, 4166: // not allowed; local data is disabled; the same in MariaDB
		return fmt.Errorf("%w; %s", err, letLocalIn)
	}
	return err
}

// letLocalIn is how LOAD DATA LOCAL is let in.
const letLocalIn = "run SET GLOBAL local_infile = ON there, or give method=" + methodInsert
