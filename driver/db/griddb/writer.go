package griddb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/byseries"
	"github.com/tsmark/tsmark/series"
)

// writer implements driver.Writer. It sends each batch at once: a statement for each
// partition that has rows, all before the first answer is read.
type writer struct {
	db         *database
	session    *client.Session
	pipeline   *client.Pipeline
	tables     map[*series.Table]*tableWriter
	active     []*tableWriter // tables with rows in the batch
	schemas    []*client.Schema
	partitions [][]groupAt // of the batch, by partition
	used       []int       // partitions with rows
	unknown    []uint32
}

// tableWriter is a writer's state of a table.
type tableWriter struct {
	*registry
	place int           // of its schema in the batch
	parts []int32       // of series: the partition of their containers, and 1; 0: not known yet
	known []int64       // of series: the number of their containers, as this writer has learnt it
	runs  []*series.Run // of the batch
	*byseries.Sorter
}

// groupAt is a series of a batch, and its rows.
type groupAt struct{ table, group int32 }

// NewWriter implements driver.DB. Create or Join must have been called since the database was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	registries, err := d.preparedRegistries()
	var s *client.Session
	if err == nil {
		err = d.awaitLog(ctx)
	}
	if err == nil {
		s, err = d.link.open(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("opening a connection for writing: %w", err)
	}
	return newWriter(d, registries, s, d.partitionCount()), nil
}

// partitionCount is how many partitions the cluster has.
func (l *link) partitionCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cluster == nil {
		return 0
	}
	return l.cluster.Partitions()
}

func newWriter(d *database, registries map[*series.Table]*registry, s *client.Session, partitions int) *writer {
	w := &writer{db: d, session: s, pipeline: s.Pipeline(), tables: make(map[*series.Table]*tableWriter, len(registries)), partitions: make([][]groupAt, partitions)}
	w.pipeline.Window = max(w.pipeline.Window, partitions)
	for t, r := range registries {
		w.tables[t] = &tableWriter{registry: r, parts: make([]int32, len(r.ids)), known: make([]int64, len(r.ids)), Sorter: byseries.New(uint32(len(r.ids)))}
	}
	return w
}

// Write implements driver.Writer. After an error, some of the rows may be stored.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	receipt := driver.Receipt{Rows: int64(b.Rows())}
	err := w.gather(b)
	if err == nil {
		err = w.make(ctx)
	}
	if err == nil {
		w.encode()
		receipt.WireBytes = w.pipeline.Bytes()
		err = w.pipeline.WithContext(ctx).Run(ctx, func(_ int, a *client.Answer) error { return a.Err })
	}
	if said := client.AsError(err); said != nil && said.Code == client.CodeRemoved {
		for _, t := range w.active {
			t.forget()
		}
		return driver.Receipt{}, &driver.Temporary{Err: fmt.Errorf("writing to GridDB: a container that this load has made is gone, as after a kill of the server, whose log is written once a second as shipped: %w", said)}
	}
	if err != nil {
		if again := w.session.Err(); again != nil && client.AsError(err) == nil && ctx.Err() == nil {
			err = errors.Join(err, again)
		}
		return driver.Receipt{}, fmt.Errorf("writing to GridDB: %w", w.db.explain(ctx, err))
	}
	receipt.Sent, receipt.Acked = w.session.SentAt(), time.Now()
	return receipt, nil
}

// gather groups the rows of the batch by series.
func (w *writer) gather(b *series.Batch) error {
	for _, t := range w.active {
		t.runs = t.runs[:0]
	}
	w.active, w.schemas = w.active[:0], w.schemas[:0]
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
			t.place = len(w.active)
			w.active, w.schemas = append(w.active, t), append(w.schemas, t.schema)
		}
		t.runs = append(t.runs, run)
	}
	for _, t := range w.active {
		if err := t.Sort(t.runs); err != nil {
			return fmt.Errorf("table %s: %w", t.table.Name, err)
		}
	}
	return nil
}

// make creates the containers of series that have none yet.
func (w *writer) make(ctx context.Context) error {
	for _, t := range w.active {
		w.unknown = w.unknown[:0]
		for i := range t.Groups {
			if of := t.Groups[i].Series; t.parts[of] == 0 {
				w.unknown = append(w.unknown, of)
			}
		}
		if len(w.unknown) == 0 {
			continue
		}
		if err := t.ensure(ctx, w.db, w.session, w.unknown); err != nil {
			return err
		}
		for _, of := range w.unknown {
			t.known[of], _ = t.id(of)
			t.parts[of] = int32(client.Partition(w.db.layout.containerName(t.table, of), len(w.partitions))) + 1
		}
	}
	return nil
}

// encode encodes the rows of each partition as a statement.
func (w *writer) encode() {
	for _, p := range w.used {
		w.partitions[p] = w.partitions[p][:0]
	}
	w.used = w.used[:0]
	for n, t := range w.active {
		for i := range t.Groups {
			p := int(t.parts[t.Groups[i].Series] - 1)
			if len(w.partitions[p]) == 0 {
				w.used = append(w.used, p)
			}
			w.partitions[p] = append(w.partitions[p], groupAt{int32(n), int32(i)})
		}
	}
	w.pipeline.Reset()
	for _, p := range w.used {
		if !w.pipeline.BeginPut(p, w.schemas...) {
			return // Run returns the error
		}
		if w.db.layout.table {
			w.encodeTables(w.partitions[p])
		} else {
			for _, at := range w.partitions[p] {
				t := w.active[at.table]
				g := &t.Groups[at.group]
				w.pipeline.BeginRows(t.known[g.Series], t.place, g.Last-g.First)
				dst, from := t.schema.Extend(w.pipeline.Buffer(), g.Last-g.First)
				w.pipeline.SetBuffer(t.appendRows(dst, from, 0, g.Last-g.First, g, 0))
				w.pipeline.EndRows()
			}
		}
		w.pipeline.EndPut()
	}
}

// encodeTables appends the rows of tables that have one container each.
func (w *writer) encodeTables(groups []groupAt) {
	for len(groups) > 0 {
		n, rows := 0, 0
		t := w.active[groups[0].table]
		for n < len(groups) && groups[n].table == groups[0].table {
			g := &t.Groups[groups[n].group]
			rows += g.Last - g.First
			n++
		}
		w.pipeline.BeginRows(t.known[t.Groups[groups[0].group].Series], t.place, rows)
		dst, from := t.schema.Extend(w.pipeline.Buffer(), rows)
		first := 0
		for _, at := range groups[:n] {
			g := &t.Groups[at.group]
			dst = t.appendRows(dst, from, first, rows, g, 1)
			first += g.Last - g.First
		}
		w.pipeline.SetBuffer(dst)
		w.pipeline.EndRows()
		groups = groups[n:]
	}
}

// appendRows fills in the rows of a series, beginning with row first of the rows appended at the offset
// at. The given number of columns precedes the time.
func (t *tableWriter) appendRows(dst []byte, at, first, total int, g *byseries.Group, before int) []byte {
	size := t.schema.Size
	rows := t.Places[g.First:g.Last]
	begin := at + first*size
	if before > 0 {
		for i := range rows {
			binary.LittleEndian.PutUint32(dst[begin+i*size+t.schema.Offset(0):], g.Series)
		}
	}
	t.putTimes(dst[begin+t.schema.Offset(before):], rows)
	variable := len(t.schema.Variable) > 0
	for f := range t.table.Fields {
		column := before + 1 + f
		kind := t.schema.Columns[column].Type
		if kind == client.String || kind == client.Blob {
			continue
		}
		t.putField(dst[begin:], f, column, kind, rows)
	}
	if variable {
		for i, r := range rows {
			dst = t.appendTexts(dst, at, first+i, total, before+1, t.runs[r.Run], int(r.Row))
		}
	}
	return dst
}

// putTimes puts the times of rows, from the first one's place on.
func (t *tableWriter) putTimes(dst []byte, rows []byseries.Place) {
	size := t.schema.Size
	for i, r := range rows {
		at := dst[i*size:]
		ns := t.runs[r.Run].Times[r.Row]
		switch t.unit {
		case int64(time.Millisecond):
			binary.LittleEndian.PutUint64(at, uint64(ns/int64(time.Millisecond)))
		case int64(time.Microsecond):
			binary.LittleEndian.PutUint64(at, uint64(ns/int64(time.Microsecond)))
		default:
			client.PutNano(at, ns)
		}
	}
}

// putField stores the values of a field in rows.
func (t *tableWriter) putField(dst []byte, f, column int, kind client.Type, rows []byseries.Place) {
	size, offset := t.schema.Size, t.schema.Offset(column)
	for i, r := range rows {
		run, row := t.runs[r.Run], int(r.Row)
		if run.Lacks(f, row) {
			t.schema.SetNull(dst[i*size:], column)
			continue
		}
		at := dst[i*size+offset:]
		c := &run.Columns[f]
		switch kind {
		case client.Double:
			binary.LittleEndian.PutUint64(at, math.Float64bits(c.Floats[row]))
		case client.Long:
			binary.LittleEndian.PutUint64(at, uint64(c.Ints[row]))
		case client.Integer:
			binary.LittleEndian.PutUint32(at, uint32(c.Ints[row]))
		case client.Float:
			binary.LittleEndian.PutUint32(at, math.Float32bits(float32(c.Floats[row])))
		default:
			at[0] = byte(c.Ints[row])
		}
	}
}

// appendTexts appends the variable part of a row.
func (t *tableWriter) appendTexts(dst []byte, at, row, total, before int, run *series.Run, of int) []byte {
	dst = t.schema.BeginVariable(dst, at, row, total)
	for _, column := range t.schema.Variable {
		f := column - before
		if run.Lacks(f, of) {
			size := t.schema.Size
			t.schema.SetNull(dst[at+row*size:], column)
			dst = client.AppendSize(dst, 0)
			continue
		}
		c, length := &run.Columns[f], t.table.Fields[f].Length
		dst = c.AppendText(client.AppendSize(dst, c.TextLength(of, length)), of, length)
	}
	return dst
}

// Flush implements driver.Writer. Write does not buffer rows.
func (w *writer) Flush(context.Context) (driver.Receipt, error) {
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now}, nil
}

// Close implements driver.Writer.
func (w *writer) Close() error { return w.session.Close() }
