package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// NewWriter implements driver.DB. Create or Join must have been called since the database was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	layout, err := d.Layout()
	if err == nil {
		var c conn
		if c, err = d.config.connect(ctx); err == nil {
			return &sqlkit.Writer{System: "ClickHouse", Layout: layout, Loader: &loader{d: d, conn: c, layout: layout, options: d.options}, Timeout: d.config.Timeout}, nil
		}
	}
	return nil, fmt.Errorf("opening a connection for writing: %w", err)
}

// loader implements sqlkit.Loader. ClickHouse has no transactions: each table of a batch is one INSERT
// of one block, which is atomic.
type loader struct {
	d       *database
	conn    conn
	layout  *sqlkit.Layout
	options driver.Options // the layout of tables
	stored  bool           // part of the batch is stored
	sent    time.Time
}

// Begin implements sqlkit.Loader.
func (l *loader) Begin(context.Context, *series.Batch) error {
	l.stored = false
	return nil
}

// Commit implements sqlkit.Loader.
func (l *loader) Commit(context.Context) (time.Time, error) { return l.sent, nil }

// Rollback implements sqlkit.Loader. Stored rows remain.
func (l *loader) Rollback(_ context.Context, cause error) {
	l.d.doubt.Store(true)
	if t := driver.AsTemporary(cause); t != nil && l.stored {
		t.Refused = false
	}
}

// Close implements sqlkit.Loader.
func (l *loader) Close() error { return l.conn.Close() }

// insert sends a block.
func (l *loader) insert(ctx context.Context, table string, columns proto.Input) (bytes int64, err error) {
	bytes, l.sent, err = l.conn.Insert(ctx, "INSERT INTO "+quoteIdent(table), columns)
	l.stored = l.stored || err == nil
	return bytes, err
}

// rowWriter implements sqlkit.RowWriter.
type rowWriter struct {
	l      *loader
	table  string
	block  proto.Input
	times  times
	series *proto.ColUInt32 // of normalized tables
	tags   []tag
	fields []*field
}

// Rows implements sqlkit.Loader.
func (l *loader) Rows(t *series.Table) (sqlkit.RowWriter, error) { return l.rowWriter(t, t.Name), nil }

// rowWriter returns a writer of rows of a table into a table of the database.
func (l *loader) rowWriter(t *series.Table, into string) *rowWriter {
	of := newDesign(l.options)
	w := &rowWriter{l: l, table: into, times: newTimes(of.tsbs)}
	add := func(name string, c sized) { w.block = append(w.block, proto.InputColumn{Name: name, Data: c}) }
	add(timeColumn(l.options), &values{Column: w.times, kind: w.times.kind()})
	if l.layout.Tags[t] != nil {
		w.series = new(proto.ColUInt32)
		add(sql.TagsIDColumn, &values{Column: w.series, kind: seriesNumber})
	} else {
		for i := range t.Tags {
			c := newTag(&t.Tags[i], l.layout.Schema.Series)
			w.tags = append(w.tags, c)
			add(t.Tags[i].Key, c)
		}
	}
	for i, f := range t.Fields {
		c := newField(i, f, of.columnType(t, &f), of.nullable(t))
		w.fields = append(w.fields, c)
		add(f.Name, c)
	}
	return w
}

// Append implements sqlkit.RowWriter.
func (w *rowWriter) Append(ctx context.Context, runs []*series.Run) (int64, error) {
	if err := w.fill(runs); err != nil {
		return 0, err
	}
	return w.l.insert(ctx, w.table, w.block)
}

// fill adds runs to the block.
func (w *rowWriter) fill(runs []*series.Run) error {
	for _, c := range w.block {
		c.Data.(interface{ Reset() }).Reset()
	}
	for _, run := range runs {
		if err := w.add(run); err != nil {
			return err
		}
	}
	return nil
}

// add adds a run to the block.
func (w *rowWriter) add(run *series.Run) error {
	w.times.add(run.Times)
	if w.series != nil {
		*w.series = append(*w.series, run.Series...)
	}
	for _, s := range run.Series {
		if s >= w.l.layout.Schema.Series {
			return fmt.Errorf("series %d is not of the schema that the database was prepared for", s)
		}
	}
	for _, t := range w.tags {
		if err := t.add(run.Series); err != nil {
			return err
		}
	}
	for _, f := range w.fields {
		f.add(run)
	}
	return nil
}

// Close implements sqlkit.RowWriter.
func (w *rowWriter) Close() {}

// seriesWriter implements sqlkit.SeriesWriter, and sqlkit.Row.
type seriesWriter struct {
	l      *loader
	table  string
	claims *sqlkit.Claims // of the latest row
	ids    *proto.ColUInt32
	tags   []*values // each has texts or numbers
	block  proto.Input
}

// Series implements sqlkit.Loader.
func (l *loader) Series(t *sqlkit.Tags) (sqlkit.SeriesWriter, error) {
	w := &seriesWriter{l: l, table: t.Name, ids: new(proto.ColUInt32)}
	w.block = proto.Input{{Name: sql.IDColumn, Data: &values{Column: w.ids, kind: seriesNumber}}}
	for i := range t.Tags {
		c := &values{Column: new(proto.ColStr), kind: normalizedTag, nullable: true}
		if t.Tags[i].Numeric() {
			c.Column, c.kind = new(proto.ColFloat64), tagNumber
		}
		w.tags = append(w.tags, c)
		w.block = append(w.block, proto.InputColumn{Name: t.Tags[i].Key, Data: c})
	}
	return w, nil
}

// Add implements sqlkit.SeriesWriter.
func (w *seriesWriter) Add(c *sqlkit.Claims, s uint32) (int64, error) {
	w.claims = c
	*w.ids = append(*w.ids, s)
	_, err := c.Put(s, w)
	return 0, err
}

// SetNull, SetFloat and SetText implement sqlkit.Row.
func (w *seriesWriter) SetNull(i int) {
	switch c := w.tags[i]; d := c.Column.(type) {
	case *proto.ColStr:
		d.Append("")
		c.null()
	case *proto.ColFloat64:
		d.Append(0)
		c.null()
	}
}
func (w *seriesWriter) SetFloat(i int, v float64) {
	w.tags[i].Column.(*proto.ColFloat64).Append(v)
	w.tags[i].present()
}
func (w *seriesWriter) SetText(i int, v []byte) {
	w.tags[i].Column.(*proto.ColStr).AppendBytes(v)
	w.tags[i].present()
}

// Flush implements sqlkit.SeriesWriter.
func (w *seriesWriter) Flush(ctx context.Context) (int64, error) {
	defer w.reset()
	if len(*w.ids) > 0 && w.l.d.doubt.Load() {
		if err := w.leaveOut(ctx); err != nil {
			return 0, err
		}
	}
	if len(*w.ids) == 0 {
		return 0, nil
	}
	return w.l.insert(ctx, w.table, w.block)
}

func (w *seriesWriter) reset() {
	for _, c := range w.block {
		c.Data.(*values).Reset()
	}
}

// leaveOut removes the rows that an earlier attempt has stored: the table would keep duplicates.
func (w *seriesWriter) leaveOut(ctx context.Context) error {
	const atOnce = 10_000
	there := make(map[uint32]bool)
	wanted := append([]uint32(nil), *w.ids...)
	for rest := wanted; len(rest) > 0; {
		n := min(len(rest), atOnce)
		list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(rest[:n])), ", "), "[]")
		rest = rest[n:]
		text := fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %[1]s IN (%[3]s)", sql.IDColumn, quoteIdent(w.table), list)
		_, err := w.l.conn.Query(ctx, text, query.SinkFunc(func(row []query.Value) error {
			there[uint32(row[0].Int)] = true
			return nil
		}))
		if err != nil {
			return err
		}
	}
	if len(there) == 0 {
		return nil
	}
	w.reset()
	for _, s := range wanted {
		if !there[s] {
			if _, err := w.Add(w.claims, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close implements sqlkit.SeriesWriter.
func (w *seriesWriter) Close() {}
