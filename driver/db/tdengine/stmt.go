package tdengine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/byseries"
	"github.com/tsmark/tsmark/series"
)

// conns is the number of connections of a binder: a table of a batch takes three consecutive calls, and
// other tables proceed in the meantime.
const conns = 4

// binder implements driver.Writer with prepared statements. Tables are created beforehand, by SQL; rows
// are bound by columns, table by table.
type binder struct {
	*writer
	kinds map[series.Type]byte
	conns []*stmtConn
}

// stmtConn is a connection with a statement for each table of the schema.
type stmtConn struct {
	*conn
	statements map[*tableWriter]uint64
	block      []byte
	name       []byte
	wire       int64
}

// newBinder opens the connections.
func (d *database) newBinder(ctx context.Context, s *series.Schema) (driver.Writer, error) {
	var all []*stmtConn
	for range conns {
		c, err := d.config.connect(ctx, "")
		if err != nil {
			_ = (&binder{conns: all}).Close() // the caller returns the earlier error
			return nil, err
		}
		all = append(all, &stmtConn{conn: c, statements: make(map[*tableWriter]uint64)})
	}
	b := d.bindBy(all, s)
	b.by = all[0].conn
	return b, nil
}

func (d *database) bindBy(conns []*stmtConn, s *series.Schema) *binder {
	b := &binder{writer: d.newWriter(nil, s), kinds: make(map[series.Type]byte), conns: conns}
	for t, stored := range d.design.types {
		b.kinds[t] = kindOf[stored.As]
	}
	return b
}

// kindOf maps types to the server's numbers for the types of columns.
var kindOf = map[string]byte{
	"BOOL": typeBool, "INT": typeInt, "BIGINT": typeBigint, "FLOAT": typeFloat, "DOUBLE": typeDouble, "VARCHAR": typeVarchar, "TIMESTAMP": typeTimestamp, "VARBINARY": typeVarbinary,
}

// Write implements driver.Writer. After an error, some of the rows may be stored.
func (b *binder) Write(ctx context.Context, batch *series.Batch) (driver.Receipt, error) {
	b.wire = 0
	err := b.gather(batch)
	for _, t := range b.active {
		if err == nil {
			err = b.table(ctx, t)
		}
		t.runs = t.runs[:0]
	}
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to TDengine: %w", err)
	}
	sent := time.Time{}
	for _, l := range b.conns {
		if at := l.net.LastWrite(); at.After(sent) {
			sent = at
		}
		b.wire, l.wire = b.wire+l.wire, 0
	}
	return driver.Receipt{Sent: sent, Acked: time.Now(), Rows: int64(batch.Rows()), WireBytes: b.wire}, nil
}

// table writes the rows of a table of the schema.
func (b *binder) table(ctx context.Context, t *tableWriter) error {
	if err := b.sorter.Sort(t.runs); err != nil {
		return err
	}
	if err := b.create(ctx, t); err != nil {
		return err
	}
	ended := make([]error, len(b.conns))
	var working sync.WaitGroup
	for i, l := range b.conns[:min(len(b.conns), len(b.sorter.Groups))] {
		working.Go(func() { ended[i] = l.callWithTimeout(ctx, func() error { return b.bind(l, t, i) }) })
	}
	working.Wait()
	for _, err := range ended { // the first error is enough
		if err != nil {
			return err
		}
	}
	return nil
}

// create creates the tables of the sorted series that may be missing.
func (b *binder) create(ctx context.Context, t *tableWriter) (err error) {
	const begin = "CREATE TABLE"
	flush := func() error {
		if len(b.out) > len(begin) {
			if _, err := b.by.Carry(ctx, b.out); err != nil {
				return err
			}
			b.know()
		}
		b.out = append(b.out[:0], begin...)
		return nil
	}
	b.out, b.made = append(b.out[:0], begin...), b.made[:0]
	for _, g := range b.sorter.Groups {
		if t.known.Has(int(g.Series)) {
			continue
		}
		if len(b.out) > maxStatement {
			if err := flush(); err != nil {
				return err
			}
		}
		b.made = append(b.made, maker{t, g.Series})
		b.out = t.name(append(b.out, " IF NOT EXISTS "...), g.Series)
		if b.out, err = b.using(b.out, t, g.Series); err != nil {
			return err
		}
	}
	return flush()
}

// bind sends the series at index first, first + n, first + 2n and so on, where n is the number of the
// binder's connections.
func (b *binder) bind(l *stmtConn, t *tableWriter, first int) error {
	statement, err := l.prepareTable(t)
	if err != nil {
		return err
	}
	step := func(action string) error {
		l.beginWith(action, "stmt_id", statement)
		_, err := l.roundTrip()
		return err
	}
	for i := first; i < len(b.sorter.Groups); i += len(b.conns) {
		g := &b.sorter.Groups[i]
		l.beginWith("set_table_name", "stmt_id", statement)
		l.name = t.name(l.name[:0], g.Series)
		addText(l.conn, "name", l.name)
		if _, err := l.roundTrip(); err != nil {
			return err
		}
		if err := b.encode(l, t, b.sorter.Places[g.First:g.Last]); err != nil {
			return err
		}
		if err := l.bound(statement); err != nil {
			return err
		}
		if err := step("add_batch"); err != nil {
			return err
		}
	}
	return step("exec")
}

// prepareTable returns the number of a table's statement.
func (l *stmtConn) prepareTable(t *tableWriter) (uint64, error) {
	if number, ok := l.statements[t]; ok {
		return number, nil
	}
	l.begin("init")
	answer, err := l.roundTrip()
	if err != nil {
		return 0, err
	}
	l.beginWith("prepare", "stmt_id", answer.Statement)
	l.conn.text("sql", "INSERT INTO ? VALUES (?"+strings.Repeat(",?", len(t.table.Fields))+")")
	if _, err := l.roundTrip(); err != nil {
		return 0, err
	}
	l.statements[t] = answer.Statement
	return answer.Statement, nil
}

// bindHead is the size of the header of a bound block: the numbers of the request, of the statement and
// of the action.
const (
	bindHead   = 24
	bindAction = 2
)

// bound sends the block, and waits until it is bound.
func (l *stmtConn) bound(statement uint64) error {
	l.request++
	le := binary.LittleEndian
	le.PutUint64(l.block, l.request)
	le.PutUint64(l.block[8:], statement)
	le.PutUint64(l.block[16:], bindAction)
	l.wire += int64(len(l.block))
	l.net.Unread.Row()
	if err := l.ws.WriteMessage(websocket.BinaryMessage, l.block); err != nil {
		return err
	}
	_, err := l.hear()
	return err
}

// encode encodes the rows of a series as a block: columns one after the other, in the format that block
// decodes.
func (b *binder) encode(l *stmtConn, t *tableWriter, places []byseries.Place) error {
	le := binary.LittleEndian
	fields, runs := t.table.Fields, t.runs
	columns, rows := 1+len(fields), len(places)
	lengths := bindHead + blockHead + columns*columnHead
	out := grown(l.block[:0], lengths+4*columns)
	head := out[bindHead:]
	le.PutUint32(head, 1) // version
	le.PutUint32(head[8:], uint32(rows))
	le.PutUint32(head[12:], uint32(columns))
	for f := range columns {
		kind := byte(typeTimestamp)
		if f > 0 {
			kind = b.kinds[fields[f-1].Type]
		}
		head[blockHead+f*columnHead] = kind
		width := widths[min(int(kind), len(widths)-1)]
		textual := f > 0 && fields[f-1].Type.Textual()
		marks := len(out)
		if textual {
			out = grown(out, 4*rows)
		} else {
			out = grown(out, (rows+7)/8)
		}
		data := len(out)
		for r, p := range places {
			run, row := runs[p.Run], int(p.Row)
			if f == 0 {
				at, err := b.time(run.Times[row])
				if err != nil {
					return err
				}
				out = le.AppendUint64(out, uint64(at))
				continue
			}
			c := &run.Columns[f-1]
			switch lacks := run.Lacks(f-1, row); {
			case lacks && textual:
				le.PutUint32(out[marks+4*r:], math.MaxUint32)
			case lacks:
				out[marks+r/8] |= 1 << (7 - r%8)
				out = grown(out, width)
			case textual:
				le.PutUint32(out[marks+4*r:], uint32(len(out)-data))
				length := fields[f-1].Length
				out = c.AppendText(le.AppendUint16(out, uint16(c.TextLength(row, length))), row, length)
			case kind == typeFloat:
				out = le.AppendUint32(out, math.Float32bits(float32(c.Floats[row])))
			case kind == typeDouble:
				out = le.AppendUint64(out, math.Float64bits(c.Floats[row]))
			case width == 8:
				out = le.AppendUint64(out, uint64(c.Ints[row]))
			case width == 4:
				out = le.AppendUint32(out, uint32(c.Ints[row]))
			default:
				out = append(out, byte(c.Ints[row]))
			}
		}
		le.PutUint32(out[lengths+4*f:], uint32(len(out)-data))
		head = out[bindHead:] // it may have moved
	}
	le.PutUint32(head[4:], uint32(len(head)))
	l.block = out
	return nil
}

// grown returns a slice with n more zero bytes.
func grown(b []byte, n int) []byte {
	from := len(b)
	for cap(b)-from < n {
		b = append(b[:cap(b)], 0)
	}
	b = b[:from+n]
	clear(b[from:])
	return b
}

// Close implements driver.Writer.
func (b *binder) Close() error {
	var all []error
	for _, l := range b.conns {
		all = append(all, l.conn.Close())
	}
	return errors.Join(all...)
}
