package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// NewWriter implements driver.DB. Create or Join must have been called since the database was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	layout, err := d.Layout()
	if err == nil {
		var conn *pgwire.Conn
		if conn, err = pgwire.Connect(ctx, d.config); err == nil {
			l := &loader{d: d, conn: conn, schema: layout.Schema, partition: make(map[*series.Table]int64)}
			return &sqlkit.Writer{System: d.variant.System, Layout: layout, Loader: l, Timeout: d.config.Timeout}, nil
		}
	}
	return nil, fmt.Errorf("opening a connection for writing: %w", d.full(ctx, err))
}

// loader implements sqlkit.Loader.
type loader struct {
	d      *database
	conn   *pgwire.Conn
	schema *series.Schema

	several   bool      // several statements write the current batch; a single COPY is a transaction by itself
	begun     bool      // a transaction is open
	ended     time.Time // of the last COPY
	prepared  int       // number of prepared statements
	partition map[*series.Table]int64
}

// Begin implements sqlkit.Loader. The transaction begins with the first statement
// in it.
func (l *loader) Begin(ctx context.Context, b *series.Batch) error {
	l.several = l.d.options[optionMethod] == methodInsert
	for i := range b.Runs {
		l.several = l.several || b.Runs[i].Table != b.Runs[0].Table
	}
	return l.partitions(ctx, b)
}

// first returns the text before the first statement of a transaction.
func (l *loader) first() string {
	if !l.several || l.begun || l.d.variant.quirks.Lack(sqlkit.LacksTransactions) {
		return ""
	}
	l.begun = true
	return "BEGIN; "
}

// Commit implements sqlkit.Loader.
func (l *loader) Commit(ctx context.Context) (sent time.Time, err error) {
	if !l.begun {
		return l.ended, nil
	}
	l.begun = false
	sent = time.Now()
	if err := l.conn.Commit(ctx); err != nil {
		return sent, fmt.Errorf("committing: %w", err)
	}
	return sent, nil
}

// Rollback implements sqlkit.Loader. A transaction that was not committed when the connection was cut
// is not stored.
func (l *loader) Rollback(ctx context.Context, cause error) {
	if t := driver.AsTemporary(cause); t != nil && l.begun {
		t.Refused = true
	}
	if !l.d.variant.quirks.Lack(sqlkit.LacksTransactions) {
		l.conn.Rollback(ctx) // return the cause
	}
	l.begun = false
}

// Close implements sqlkit.Loader.
func (l *loader) Close() error { return l.conn.Close() }

// rowWriter implements sqlkit.RowWriter.
type rowWriter struct {
	*encoder
	l        *loader
	copyText string
	reader   copyReader
	insert   *inserter // nil before it is needed
}

// Rows implements sqlkit.Loader.
func (l *loader) Rows(t *series.Table) (sqlkit.RowWriter, error) {
	return &rowWriter{encoder: newEncoder(l.d.Dialect, l.schema, t), l: l, copyText: "COPY " + QuoteIdent(t.Name) + " FROM STDIN BINARY"}, nil
}

// Append implements sqlkit.RowWriter.
func (w *rowWriter) Append(ctx context.Context, runs []*series.Run) (bytes int64, err error) {
	if w.l.d.options[optionMethod] == methodInsert {
		return w.insertRows(ctx, runs)
	}
	return w.copyRows(ctx, runs)
}

// Close implements sqlkit.RowWriter.
func (w *rowWriter) Close() {}

// Series implements sqlkit.Loader.
func (l *loader) Series(t *sqlkit.Tags) (sqlkit.SeriesWriter, error) {
	twice := " ON CONFLICT DO NOTHING"
	if l.d.variant.quirks.Lack(sqlkit.LacksConflict) {
		twice = ""
	}
	return &sqlkit.SeriesInsert{
		Into: "INSERT INTO " + QuoteIdent(t.Name) + " VALUES ", Twice: twice,
		Text: func(dst, value []byte) []byte { return append(dst, Literal(string(value))...) },
		Exec: func(ctx context.Context, text string) error {
			l.several = true
			return l.conn.Exec(ctx, l.first()+text)
		},
	}, nil
}
