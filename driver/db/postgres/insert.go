package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/series"
)

// The largest number of rows of an INSERT, and of parameters: the protocol allows twice as many, but
// PGlite decodes their number as a signed one.
const (
	rowsPerInsert = 500
	maxParameters = 32_767
)

// inserter is a prepared INSERT of many rows, and one of a single row.
type inserter struct {
	many, one  string // their names
	rows       int    // of many
	columns    int
	parameters [][]byte
	formats    []int16
}

// insertRows sends rows with statements in a transaction, and returns the size of their values.
func (w *rowWriter) insertRows(ctx context.Context, runs []*series.Run) (bytes int64, err error) {
	if w.insert == nil {
		if w.insert, err = w.l.prepareInsert(ctx, w.table.Name, int(w.columns)); err != nil {
			return 0, err
		}
	}
	if text := w.l.first(); text != "" {
		if err := w.l.conn.Exec(ctx, text); err != nil {
			return 0, err
		}
	}
	r := &w.reader
	for r.reset(w.encoder, runs); !r.last; {
		r.buffer = r.buffer[:0]
		if err := r.fill(); err != nil {
			return 0, err
		}
		tuples := r.buffer
		if r.last {
			tuples = tuples[:len(tuples)-len(copyTrailer)]
		}
		n, err := w.insert.run(ctx, w.l.conn, tuples)
		if err != nil {
			return 0, err
		}
		bytes += n
	}
	return bytes, nil
}

// prepareInsert prepares the statements of a table.
func (l *loader) prepareInsert(ctx context.Context, table string, columns int) (*inserter, error) {
	in := &inserter{rows: min(rowsPerInsert, maxParameters/columns), columns: columns, formats: []int16{pgtype.BinaryFormatCode}}
	prepare := func(rows int) (name string, err error) {
		var text strings.Builder
		fmt.Fprintf(&text, "INSERT INTO %s VALUES ", QuoteIdent(table))
		for p := range rows * columns {
			switch {
			case p == 0:
				text.WriteByte('(')
			case p%columns == 0:
				text.WriteString("),(")
			default:
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, "$%d", p+1)
		}
		text.WriteByte(')')
		l.prepared++
		name = fmt.Sprintf("insert_%d", l.prepared)
		_, err = l.conn.Prepare(ctx, name, text.String())
		return name, err
	}
	var err error
	if in.many, err = prepare(in.rows); err == nil {
		in.one, err = prepare(1)
	}
	return in, err
}

// run inserts encoded tuples, and returns the size of their values.
func (in *inserter) run(ctx context.Context, c *pgwire.Conn, tuples []byte) (int64, error) {
	in.parameters = in.parameters[:0]
	var bytes int64
	for len(tuples) > 0 {
		tuples = tuples[2:] // skips the number of columns
		for range in.columns {
			n := binary.BigEndian.Uint32(tuples)
			tuples = tuples[4:]
			if n == null {
				in.parameters = append(in.parameters, nil)
				continue
			}
			in.parameters = append(in.parameters, tuples[:n:n])
			tuples = tuples[n:]
			bytes += int64(n)
		}
	}
	for left := in.parameters; len(left) > 0; {
		statement, n := in.many, in.rows*in.columns
		if len(left) < n {
			statement, n = in.one, in.columns
		}
		if err := c.ExecPrepared(ctx, statement, left[:n], in.formats); err != nil {
			return 0, err
		}
		left = left[n:]
	}
	return bytes, nil
}
