package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tsmark/tsmark/driver/pgwire"
)

// The most rows of an INSERT, and the most parameters: the protocol takes twice
// as many, but PGlite takes their number for one with a sign.
const (
	rowsPerInsert = 500
	maxParameters = 32_767
)

// inserter is a prepared INSERT of many rows, and one of a single row.
type inserter struct {
	many, one  *pgconn.StatementDescription
	rows       int // of many
	parameters [][]byte
	formats    []int16
}

// insertRows sends the rows of the batch at work by statements in a transaction,
// and returns the size of their values.
func (w *writer) insertRows(ctx context.Context, t *tableWriter, begin string) (int64, error) {
	if t.insert == nil {
		var err error
		if t.insert, err = w.prepareInsert(ctx, t); err != nil {
			return 0, err
		}
	}
	if text := w.first(begin); text != "" {
		if err := w.conn.Exec(ctx, text); err != nil {
			return 0, err
		}
	}
	in, r := t.insert, &t.reader
	r.reset(t.encoder, t.runs)
	r.buffer = r.buffer[:0]
	var bytes int64
	for !r.last {
		if err := r.fill(); err != nil {
			return 0, err
		}
		tuples := r.buffer
		if r.last {
			tuples = tuples[:len(tuples)-len(copyTrailer)]
		}
		n, err := in.run(ctx, w.conn, tuples, int(t.columns))
		if err != nil {
			return 0, err
		}
		bytes += n
		r.buffer = r.buffer[:0]
	}
	return bytes, nil
}

// prepareInsert prepares the statements of a table, outside a transaction.
func (w *writer) prepareInsert(ctx context.Context, t *tableWriter) (*inserter, error) {
	columns := int(t.columns)
	in := &inserter{rows: min(rowsPerInsert, maxParameters/columns), formats: []int16{pgtype.BinaryFormatCode}}
	number := len(w.tables)
	for _, s := range []struct {
		name string
		rows int
		to   **pgconn.StatementDescription
	}{{"many", in.rows, &in.many}, {"one", 1, &in.one}} {
		var text strings.Builder
		fmt.Fprintf(&text, "INSERT INTO %s VALUES ", Quoted(t.table.Name))
		for p := range s.rows * columns {
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
		prepared, err := w.conn.Prepare(ctx, fmt.Sprintf("%s_%d_%d", s.name, number, w.prepared), text.String())
		if err != nil {
			return nil, err
		}
		*s.to = prepared
	}
	w.prepared++
	return in, nil
}

// run inserts encoded tuples, and returns the size of their values.
func (in *inserter) run(ctx context.Context, c *pgwire.Conn, tuples []byte, columns int) (int64, error) {
	in.parameters = in.parameters[:0]
	var bytes int64
	for len(tuples) > 0 {
		tuples = tuples[2:] // the number of columns
		for range columns {
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
		statement, n := in.many, in.rows*columns
		if len(left) < n {
			statement, n = in.one, columns
		}
		if err := c.ExecPrepared(ctx, statement.Name, left[:n], in.formats); err != nil {
			return 0, err
		}
		left = left[n:]
	}
	return bytes, nil
}
