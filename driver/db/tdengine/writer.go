package tdengine

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/byseries"
	"github.com/tsmark/tsmark/series"
)

// maxStatement is the largest size in bytes of a statement that the server accepts, less the largest
// size of a row's data after the last check of the length, except free texts.
const maxStatement = 1<<20 - 1<<16 - 1<<10

// tableWriter is a writer's state of a table.
type tableWriter struct {
	table *series.Table
	of    string        // the super table in SQL
	begin string        // prefix of the names of its tables in SQL
	full  int           // size in bytes at which a statement takes no further row of the table
	known series.Bitmap // series whose tables exist
	runs  []*series.Run // of the current batch
}

// carrier sends statements to the server.
type carrier interface {
	// Carry returns when the server has executed a statement. It returns the time at which the last
	// byte had been handed over.
	Carry(ctx context.Context, text []byte) (sent time.Time, err error)
	// Close ends the connection.
	Close() error
}

// writer implements driver.Writer. It sends the rows of a batch as SQL, with all its tables in as few
// INSERTs as their length limit allows. The INSERT of its first row creates a table. Each writer does
// so independently; an existing table does not change.
type writer struct {
	by     carrier
	unit   int64
	tables map[*series.Table]*tableWriter
	active []*tableWriter // tables with rows in the batch
	sorter *byseries.Sorter

	out   []byte    // the statement
	text  []byte    // of a field or a tag
	named []byte    // a table at the start of its rows in an INSERT
	made  []maker   // tables that the statement creates
	wire  int64     // bytes of the batch
	sent  time.Time // when its last byte was handed over
}

// maker is a table that a statement creates.
type maker struct {
	of     *tableWriter
	series uint32
}

// NewWriter implements driver.DB. Create or Join must have been called since the database was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	s, err := d.preparedSchema()
	var w driver.Writer
	if err == nil {
		w, err = d.writer(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("opening a connection for writing: %w", err)
	}
	return w, nil
}

// writer connects as the options say.
func (d *database) writer(ctx context.Context, s *series.Schema) (driver.Writer, error) {
	if d.options[optionWrite] == byStatement {
		return d.newBinder(ctx, s)
	}
	by, err := d.config.post(ctx)
	if err != nil {
		return nil, err
	}
	return d.newWriter(by, s), nil
}

func (d *database) newWriter(by carrier, s *series.Schema) *writer {
	w := &writer{by: by, unit: int64(d.design.unit), tables: make(map[*series.Table]*tableWriter, len(s.Tables)), sorter: byseries.New(s.Series)}
	for _, t := range s.Tables {
		full := maxStatement - 2*int(t.FreeRoom()) // each byte may be escaped
		w.tables[t] = &tableWriter{table: t, of: d.qualify(t.Name), begin: "`" + d.name + "`.`" + d.design.child(t), full: full, known: make(series.Bitmap, s.Series/64+1)}
	}
	return w
}

// Write implements driver.Writer. After an error, some of the rows may be stored.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	w.wire = 0
	err := w.gather(b)
	if err == nil {
		err = w.statements(func() error { return w.send(ctx) })
	}
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to TDengine: %w", err)
	}
	return driver.Receipt{Sent: w.sent, Acked: time.Now(), Rows: int64(b.Rows()), WireBytes: w.wire}, nil
}

// gather finds the runs of each table.
func (w *writer) gather(b *series.Batch) error {
	w.active = w.active[:0]
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
	return nil
}

// statements encodes the gathered rows as statements, and calls send for each.
func (w *writer) statements(send func() error) error {
	w.begin()
	for _, t := range w.active {
		if err := w.rows(t, send); err != nil {
			return err
		}
	}
	return send()
}

const insert = "INSERT INTO"

// begin begins a statement.
func (w *writer) begin() { w.out, w.made = append(w.out[:0], insert...), w.made[:0] }

// send sends the statement, if it has rows, and waits until the server has stored them.
func (w *writer) send(ctx context.Context) (err error) {
	if len(w.out) == len(insert) {
		return nil
	}
	w.wire += int64(len(w.out))
	if w.sent, err = w.by.Carry(ctx, w.out); err != nil {
		return err
	}
	w.know()
	return nil
}

// know records that the tables created by a statement exist.
func (w *writer) know() {
	for _, m := range w.made {
		m.of.known.Set(int(m.series))
	}
	w.made = w.made[:0]
}

// rows appends the rows of a table, and sends each statement that is full.
func (w *writer) rows(t *tableWriter, send func() error) error {
	runs := t.runs
	t.runs = t.runs[:0]
	if err := w.sorter.Sort(runs); err != nil {
		return err
	}
	for i := range w.sorter.Groups {
		g := &w.sorter.Groups[i]
		for n, p := range w.sorter.Places[g.First:g.Last] {
			full := len(w.out) > t.full
			if full {
				if err := send(); err != nil {
					return err
				}
				w.begin()
			}
			if full || n == 0 {
				if err := w.name(t, g.Series); err != nil {
					return err
				}
				w.out = append(w.out, w.named...)
			}
			if err := w.row(runs[p.Run], int(p.Row)); err != nil {
				return err
			}
		}
	}
	return nil
}

// name appends the name of a series' table.
func (t *tableWriter) name(dst []byte, of uint32) []byte {
	return append(strconv.AppendUint(append(dst, t.begin...), uint64(of), 10), '`')
}

// name encodes the start of a table's rows, which creates the table if it may be missing.
func (w *writer) name(t *tableWriter, of uint32) error {
	w.named = t.name(append(w.named[:0], ' '), of)
	if !t.known.Has(int(of)) {
		w.made = append(w.made, maker{t, of})
		var err error
		if w.named, err = w.using(w.named, t, of); err != nil {
			return err
		}
	}
	w.named = append(w.named, " VALUES "...)
	return nil
}

// using appends the super table of a table, and the values of its tags.
func (w *writer) using(dst []byte, t *tableWriter, of uint32) ([]byte, error) {
	dst = append(append(append(dst, " USING "...), t.of...), " TAGS ("...)
	for i := range t.table.Tags {
		tag := &t.table.Tags[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		text, ok := tag.Values.Append(w.text[:0], of)
		w.text = text
		switch {
		case !ok:
			dst = append(dst, "NULL"...)
		case tag.Numeric():
			if _, err := strconv.ParseFloat(string(text), 64); err != nil {
				return nil, fmt.Errorf("the tag %s of series %d is %q, not a number", tag.Key, of, text)
			}
			dst = append(dst, text...)
		default:
			dst = appendLiteral(dst, text)
		}
	}
	return append(dst, ')'), nil
}

// row adds a row.
func (w *writer) row(run *series.Run, row int) error {
	at, err := w.time(run.Times[row])
	if err != nil {
		return err
	}
	out := strconv.AppendInt(append(w.out, '('), at, 10)
	for f := range run.Columns {
		out = append(out, ',')
		if run.Lacks(f, row) {
			out = append(out, "NULL"...)
			continue
		}
		c, field := &run.Columns[f], &run.Table.Fields[f]
		switch field.Type {
		case series.Float, series.Float32: // a single's shortest digits may exceed the range of singles
			out = appendFloat(out, c.Floats[row])
		case series.Text, series.Blob:
			w.text = c.AppendText(w.text[:0], row, field.Length)
			out = appendLiteral(out, w.text)
		default:
			out = strconv.AppendInt(out, c.Ints[row], 10)
		}
	}
	w.out = append(out, ')')
	return nil
}

// time is a row's time in the database's precision.
func (w *writer) time(ns int64) (int64, error) {
	at := ns / w.unit
	if at*w.unit != ns {
		return 0, fmt.Errorf("a row's time, %s, is not a multiple of %v", time.Unix(0, ns).UTC().Format(time.RFC3339Nano), time.Duration(w.unit))
	}
	return at, nil
}

// appendFloat appends the literal of a double. The server accepts a denormal double only if its text is
// exact, as in hexadecimal digits.
func appendFloat(dst []byte, v float64) []byte {
	const normal = 0x1p-1022
	if v > -normal && v < normal && v != 0 {
		return append(strconv.AppendFloat(append(dst, '\''), v, 'x', -1, 64), '\'')
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// appendLiteral appends the literal of a text.
func appendLiteral(dst, text []byte) []byte {
	dst = append(dst, '\'')
	from := 0
	for i, b := range text {
		if b == '\'' || b == '\\' {
			dst = append(append(dst, text[from:i]...), '\\')
			from = i
		}
	}
	return append(append(dst, text[from:]...), '\'')
}

// Flush implements driver.Writer. Write does not buffer rows.
func (w *writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }

// Close implements driver.Writer.
func (w *writer) Close() error { return w.by.Close() }
