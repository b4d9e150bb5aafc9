package mysql

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// NewWriter implements driver.DB. Create or Join must have been called since the database was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	layout, err := d.Layout()
	if err == nil {
		var c *conn
		if c, err = d.config.connect(ctx); err == nil {
			if !d.variant.quirks.Lack(sqlkit.LacksTransactions) {
				err = c.Exec(ctx, "SET autocommit = 0")
			}
			if err == nil {
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
	name      string                  // name by which the library finds the reader of rows
	rows      *reader                 // read by LOAD DATA
	committed bool                    // or about to be committed
	ends      map[*series.Table]int64 // end of the existing partitions, or an earlier time
}

func newLoader(d *database, c *conn, s *series.Schema) *loader {
	l := &loader{d: d, conn: c, schema: s, name: rand.Text(), ends: make(map[*series.Table]int64)}
	mysql.RegisterReaderHandler(l.name, func() io.Reader { return l.rows })
	return l
}

// Begin implements sqlkit.Loader. The transaction begins with its first statement.
func (l *loader) Begin(ctx context.Context, b *series.Batch) error {
	l.committed = false
	return l.partitions(ctx, b)
}

// Commit implements sqlkit.Loader.
func (l *loader) Commit(ctx context.Context) (sent time.Time, err error) {
	l.committed, sent = true, time.Now()
	if l.d.variant.quirks.Lack(sqlkit.LacksTransactions) {
		return sent, nil
	}
	if err := l.conn.commit(ctx); err != nil {
		return sent, fmt.Errorf("committing: %w", err)
	}
	return sent, nil
}

// Rollback implements sqlkit.Loader. A transaction that was not committed when the connection was cut
// is not stored.
func (l *loader) Rollback(ctx context.Context, cause error) {
	if l.d.variant.quirks.Lack(sqlkit.LacksTransactions) {
		return
	}
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

// Rows implements sqlkit.Loader.
func (l *loader) Rows(t *series.Table) (sqlkit.RowWriter, error) {
	if l.d.options[optionMethod] == methodInsert {
		return l.newPreparedWriter(t), nil
	}
	return l.newTextWriter(t), nil
}

// Series implements sqlkit.Loader.
func (l *loader) Series(t *sqlkit.Tags) (sqlkit.SeriesWriter, error) {
	twice := " ON DUPLICATE KEY UPDATE id = id"
	if l.d.variant.quirks.Lack(sqlkit.LacksConflict) {
		twice = ""
	}
	return &sqlkit.SeriesInsert{
		Into: "INSERT INTO " + quoteIdent(t.Name) + " VALUES ", Twice: twice,
		Text: func(dst, value []byte) []byte { return append(appendEscaped(append(dst, '\''), value), '\'') },
		Exec: func(ctx context.Context, text string) error { return l.conn.Exec(ctx, text) },
	}, nil
}

// explainLoadData says how to enable LOAD DATA if the server refuses it.
func explainLoadData(err error) error {
	switch number(err) {
	case 1148, 3948, 4166: // not allowed; local data is disabled; the same in MariaDB
		return fmt.Errorf("%w; %s", err, letLocalIn)
	}
	return err
}

// letLocalIn says how to enable LOAD DATA LOCAL.
const letLocalIn = "run SET GLOBAL local_infile = ON there, or give method=" + methodInsert
