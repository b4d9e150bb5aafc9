package iotdb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/apache/iotdb-client-go/v2/common"
	"github.com/apache/iotdb-client-go/v2/rpc"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/byseries"
	"github.com/tsmark/tsmark/series"
)

// columns are those of a tablet, by their names and types.
type columns struct {
	names []string
	types []int32
}

// tableWriter is what a writer knows of a table.
type tableWriter struct {
	table   *series.Table
	texts   []*series.Tag
	numeric []*series.Tag
	prefix  string           // of the paths of its devices
	of      map[int]*columns // by the number of fields that rows have
	created []bool           // by series: its measurements, where they must be created
	runs    []*series.Run    // of the batch at hand
}

// writer implements driver.Writer. It sends each batch at once, all devices of it in one
// call.
type writer struct {
	conn    *conn
	aligned bool
	creator *creator // of measurements; nil: rows create them
	held    map[series.Type]driver.Stored
	tables  map[*series.Table]*tableWriter
	active  []*tableWriter // those with rows in the batch
	sorter  *byseries.Sorter
	encoder encoder

	// Memory of a request, used again. The parts are cut out when all is encoded,
	// since what they are cut from moves as it grows.
	buffer  []byte
	paths   []byte
	scratch []byte
	parts   []part
	request rpc.TSInsertTabletsReq
}

// part is a tablet in the buffer.
type part struct {
	columns                            *columns
	path, pathEnd, times, values, size int
	rows                               int32
}

// NewWriter implements driver.DB. The database must have been prepared since it was
// opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	s, err := d.prepared()
	if err == nil {
		var c *conn
		if c, err = d.config.connect(ctx); err == nil {
			return newWriter(d, c, s), nil
		}
	}
	return nil, fmt.Errorf("opening a connection for writing: %w", err)
}

func newWriter(d *database, c *conn, s *series.Schema) *writer {
	w := &writer{
		conn: c, aligned: d.options[optionAligned] == "true", held: types(d.options),
		tables: make(map[*series.Table]*tableWriter, len(s.Tables)), sorter: byseries.New(s.Series),
	}
	if by := d.options[optionCompression]; by != "" {
		w.creator = &creator{aligned: w.aligned, compression: strings.ToUpper(by)}
	}
	w.encoder = encoder{unit: int64(units[d.options[optionPrecision]]), held: w.held}
	for _, t := range s.Tables {
		tw := &tableWriter{table: t, prefix: d.root() + "." + node(t.Name), of: make(map[int]*columns)}
		tw.texts, tw.numeric = split(t)
		if w.creator != nil {
			tw.created = make([]bool, s.Series)
		}
		w.tables[t] = tw
	}
	return w
}

// columns returns those of rows with so many fields.
func (w *writer) columns(t *tableWriter, width int) *columns {
	c := t.of[width]
	if c != nil {
		return c
	}
	c = &columns{}
	for _, m := range measurements(t.table, t.table.Fields[:width], w.held) {
		c.names, c.types = append(c.names, node(m.name)), append(c.types, numbers[m.kind])
	}
	t.of[width] = c
	return c
}

// Write implements driver.Writer. An error may leave some of the rows.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if err := w.encode(b); err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to IoTDB: %w", err)
	}
	if len(w.parts) == 0 {
		return driver.Receipt{}, nil
	}
	if err := w.creator.create(ctx, w.conn); err != nil {
		return driver.Receipt{}, fmt.Errorf("creating what rows need in IoTDB: %w", err)
	}
	sent, err := w.send(ctx)
	if err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to IoTDB: %w", err)
	}
	return driver.Receipt{Sent: sent, Acked: time.Now(), Rows: int64(b.Rows()), WireBytes: int64(len(w.buffer) + len(w.paths))}, nil
}

// encode makes the tablets of a batch.
func (w *writer) encode(b *series.Batch) error {
	w.buffer, w.paths, w.parts, w.active = w.buffer[:0], w.paths[:0], w.parts[:0], w.active[:0]
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
	var err error
	for _, t := range w.active {
		if err == nil {
			err = w.table(t)
		}
		t.runs = t.runs[:0]
	}
	return err
}

// table makes the tablets of a table's rows, one for each device.
func (w *writer) table(t *tableWriter) error {
	if err := w.sorter.Sort(t.runs); err != nil {
		return err
	}
	for i := range w.sorter.Groups {
		d := &w.sorter.Groups[i]
		if err := w.tablet(t, w.sorter.Places[d.First:d.Last], t.table.Width(d.Series), d.Series); err != nil {
			return err
		}
	}
	return nil
}

// tablet makes a tablet of rows.
func (w *writer) tablet(t *tableWriter, places []byseries.Place, width int, of uint32) (err error) {
	p := part{columns: w.columns(t, width), path: len(w.paths), times: len(w.buffer), rows: int32(len(places))}
	w.paths = append(w.paths, t.prefix...)
	for _, tag := range t.texts {
		w.paths = append(w.paths, '.')
		w.paths, w.scratch = appendTag(w.paths, w.scratch, tag, of)
	}
	p.pathEnd = len(w.paths)
	if w.creator != nil && !t.created[of] {
		t.created[of] = true // after an error the writer is used no more
		w.creator.add(string(w.paths[p.path:]), measurements(t.table, t.table.Fields[:width], w.held))
	}
	e := &w.encoder
	if w.buffer, err = e.times(w.buffer, t.runs, places); err != nil {
		return err
	}
	p.values = len(w.buffer)
	e.begin()
	for _, tag := range t.numeric {
		if w.buffer, err = e.number(w.buffer, t.runs, places, tag); err != nil {
			return err
		}
	}
	for f := range width {
		w.buffer = e.field(w.buffer, t.runs, places, f)
	}
	if written(t.table) {
		w.buffer = e.rows(w.buffer, len(places))
	}
	w.buffer = e.finish(w.buffer)
	p.size = len(w.buffer)
	w.parts = append(w.parts, p)
	return nil
}

// send sends the tablets.
func (w *writer) send(ctx context.Context) (sent time.Time, err error) {
	r := &w.request
	*r = rpc.TSInsertTabletsReq{
		SessionId: w.conn.session, PrefixPaths: r.PrefixPaths[:0], MeasurementsList: r.MeasurementsList[:0], ValuesList: r.ValuesList[:0],
		TimestampsList: r.TimestampsList[:0], TypesList: r.TypesList[:0], SizeList: r.SizeList[:0], IsAligned: &w.aligned,
	}
	for i := range w.parts {
		p := &w.parts[i]
		r.PrefixPaths = append(r.PrefixPaths, view(w.paths[p.path:p.pathEnd]))
		r.MeasurementsList, r.TypesList = append(r.MeasurementsList, p.columns.names), append(r.TypesList, p.columns.types)
		r.TimestampsList = append(r.TimestampsList, w.buffer[p.times:p.values])
		r.ValuesList, r.SizeList = append(r.ValuesList, w.buffer[p.values:p.size]), append(r.SizeList, p.rows)
	}
	err = w.conn.write(ctx, func(ctx context.Context) (*common.TSStatus, error) { return w.conn.rpc.InsertTablets(ctx, r) })
	return w.conn.net.LastWrite(), err
}

// Flush implements driver.Writer. Write keeps nothing back.
func (w *writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }

// Close implements driver.Writer.
func (w *writer) Close() error { return w.conn.Close() }
