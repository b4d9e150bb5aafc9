package cassandra

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// writer implements driver.Writer. It sends each batch immediately: first the series and spans that may
// be missing in the registry, then the rows of each partition.
type writer struct {
	db          *database
	tables      map[*series.Table]*tableWriter
	active      []*tableWriter // tables with rows in the batch
	batches     []batch
	rows        int // largest number of rows in a batch of Cassandra's
	concurrency int
	timestamp   int64 // of the latest batch, in microseconds
}

// tableWriter is a writer's state of a table.
type tableWriter struct {
	table     *series.Table
	insert    string        // statement that inserts a row; empty: the layout is narrow
	inserts   []insertValue // in the narrow layout, of the fields
	register  string        // a span of a series
	columns   int           // arguments of a row
	spanOf    []int64
	runs      []*series.Run // of the current batch
	places    []place
	announced []place // rows whose spans are new

	// Reused memory of rows; each row has a fixed number of cells and arguments.
	cells   []cell
	args    []any
	entries []gocql.BatchEntry
	ids     []byte // names of partitions
	id      []cell // that have them
}

// insertValue inserts a value of a field.
type insertValue struct {
	text  string
	field series.Field
}

// place is the position of a row in the batch, with its partition.
type place struct {
	series   uint32
	run, row int32
	span     int64 // in nanoseconds since 1970
	time     int64
}

// batch is a set of rows of a partition.
type batch struct {
	entries []gocql.BatchEntry
	later   int64 // difference between its timestamp and the first batch's
}

// NewWriter implements driver.DB. Create or Join must have been called since the database was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	s, err := d.preparedSchema()
	if err == nil {
		err = d.renew(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("opening a connection for writing: %w", err)
	}
	return newWriter(d, s), nil
}

func newWriter(d *database, s *series.Schema) *writer {
	w := &writer{db: d, tables: make(map[*series.Table]*tableWriter, len(s.Tables)),
		rows: int(d.options.Int(optionBatchRows)), concurrency: int(d.options.Int(optionConcurrency))}
	for _, t := range s.Tables {
		w.tables[t] = newTableWriter(d.layout, t, s.Series)
	}
	return w
}

func newTableWriter(l *layout, t *series.Table, count uint32) *tableWriter {
	if l.narrow {
		return newNarrowWriter(l, t, count)
	}
	own := []string{seriesColumn, bucketColumn, timeColumn}
	rows, registry := slices.Clone(own), slices.Clone(own[:2])
	for _, f := range t.Fields {
		rows = append(rows, f.Name)
	}
	for i := range t.Tags {
		registry = append(registry, t.Tags[i].Key)
	}
	return &tableWriter{table: t, insert: insert(l.rows(t), rows...), register: insert(l.registry(t), registry...), columns: len(rows), spanOf: noSpans(count)}
}

// insert returns the statement that inserts a row.
func insert(table string, columns ...string) string {
	for i, c := range columns {
		columns[i] = ident(c)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1))
}

// noSpans returns the state of the given number of series before any of their spans is written.
func noSpans(count uint32) []int64 {
	spans := make([]int64, count)
	for i := range spans {
		spans[i] = math.MinInt64
	}
	return spans
}

// Write implements driver.Writer. After an error, some of the rows may be stored.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	receipt := driver.Receipt{Rows: int64(b.Rows())}
	session, err := w.db.get(ctx)
	if err != nil {
		// Another worker has found that the session's connection broke, and no server answers yet:
		// nothing of this batch was sent.
		if errors.Is(err, driver.ErrUnreachable) {
			err = &driver.Temporary{Err: err, Refused: true}
		}
		return driver.Receipt{}, fmt.Errorf("writing to Cassandra: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, w.db.Timeout)
	defer cancel()
	if receipt.WireBytes, err = w.encode(b); err != nil {
		return driver.Receipt{}, fmt.Errorf("writing to Cassandra: %w", err)
	}
	if err = w.announce(bounded, session); err == nil {
		receipt.Sent, err = w.send(bounded, session)
	}
	switch {
	case err == nil:
		receipt.Acked = time.Now()
		return receipt, nil
	case ctx.Err() == nil && bounded.Err() != nil:
		w.db.drop(session)
		err = &driver.Temporary{Err: fmt.Errorf("%w: the server did not take the batch within %v; raise the option timeout or look at the server", driver.ErrUnreachable, w.db.Timeout)}
	default:
		err = w.db.explain(ctx, session, err)
	}
	return driver.Receipt{}, fmt.Errorf("writing to Cassandra: %w", err)
}

// encode encodes the rows in batches, and returns their size.
func (w *writer) encode(b *series.Batch) (bytes int64, err error) {
	for _, t := range w.active {
		t.runs, t.places, t.announced = t.runs[:0], t.places[:0], t.announced[:0]
	}
	w.active, w.batches = w.active[:0], w.batches[:0]
	for i := range b.Runs {
		run := &b.Runs[i]
		t := w.tables[run.Table]
		if t == nil {
			return 0, fmt.Errorf("table %s is not of the schema that the database was prepared for", run.Table.Name)
		}
		if run.Rows() == 0 {
			continue
		}
		if len(t.runs) == 0 {
			w.active = append(w.active, t)
		}
		for row, s := range run.Series {
			if int(s) >= len(t.spanOf) {
				return 0, fmt.Errorf("series %d is not of the schema that the database was prepared for", s)
			}
			at := run.Times[row]
			t.places = append(t.places, place{series: s, run: int32(len(t.runs)), row: int32(row), span: query.BucketOf(at, w.db.layout.span), time: at})
		}
		t.runs = append(t.runs, run)
	}
	for _, t := range w.active {
		slices.SortFunc(t.places, func(a, b place) int {
			switch {
			case a.series != b.series:
				return cmp.Compare(a.series, b.series)
			case a.span != b.span:
				return cmp.Compare(a.span, b.span)
			case a.run != b.run:
				return cmp.Compare(a.run, b.run)
			}
			return cmp.Compare(a.row, b.row)
		})
		if t.insert == "" {
			bytes += w.divideValues(t)
			continue
		}
		bytes += t.bind()
		w.divide(t)
	}
	return bytes, nil
}

// bind binds the rows of the batch.
func (t *tableWriter) bind() (bytes int64) {
	if n := len(t.places); n > len(t.entries) {
		t.cells, t.args, t.entries = make([]cell, n*t.columns), make([]any, n*t.columns), make([]gocql.BatchEntry, n)
		for i := range t.entries {
			t.entries[i] = gocql.BatchEntry{Stmt: t.insert, Args: t.args[i*t.columns : (i+1)*t.columns], Idempotent: true}
		}
	}
	const perRow, perValue = 21, 4 // protocol overhead of a statement in a batch
	for i, p := range t.places {
		cells, args := t.cells[i*t.columns:(i+1)*t.columns], t.entries[i].Args
		run, row := t.runs[p.run], int(p.row)
		cells[0].set32(p.series)
		cells[1].set64(uint64(p.span / int64(time.Millisecond)))
		cells[2].set64(uint64(p.time / int64(time.Millisecond)))
		args[0], args[1], args[2] = &cells[0], &cells[1], &cells[2]
		bytes += perRow + 20
		for f := range t.table.Fields {
			c := &cells[3+f]
			if run.Lacks(f, row) {
				args[3+f] = gocql.UnsetValue // NULL would be a tombstone
			} else {
				c.setField(&t.table.Fields[f], &run.Columns[f], row)
				args[3+f] = c
				bytes += int64(max(c.size, len(c.text)))
			}
		}
		bytes += int64(perValue * t.columns)
	}
	return bytes
}

// divide makes batches of the rows of each partition, in the order in which they arrived. Rows whose
// times do not increase go into batches with later timestamps: of two rows with equal time and
// timestamp, Cassandra would keep the greater values.
func (w *writer) divide(t *tableWriter) {
	for i := 0; i < len(t.places); {
		first, later := t.places[i], int64(0)
		if t.spanOf[first.series] != first.span {
			t.announced = append(t.announced, first)
		}
		for i < len(t.places) && t.places[i].series == first.series && t.places[i].span == first.span {
			from := i
			for i++; i < len(t.places) && i-from < w.rows; i++ {
				if p := &t.places[i]; p.series != first.series || p.span != first.span || p.time <= t.places[i-1].time {
					break
				}
			}
			w.batches = append(w.batches, batch{t.entries[from:i], later})
			if i < len(t.places) && t.places[i].time <= t.places[i-1].time {
				later++
			}
		}
	}
}

// announce registers the spans of series that this writer has not registered yet.
func (w *writer) announce(ctx context.Context, s *gocql.Session) error {
	for _, t := range w.active {
		err := runParallel(ctx, w.concurrency, len(t.announced), func(ctx context.Context, i int) error {
			args, err := t.registration(t.announced[i])
			if err != nil {
				return &limit.Refused{Err: err}
			}
			return s.Query(t.register, args...).ExecContext(ctx)
		})
		if err != nil {
			return err
		}
		for _, p := range t.announced {
			t.spanOf[p.series] = p.span
		}
	}
	return nil
}

// registration returns the registry's values for a span of a series.
func (t *tableWriter) registration(p place) ([]any, error) {
	args := []any{int32(p.series), p.span / int64(time.Millisecond)}
	if t.insert == "" {
		args = append(args, string(appendKey(nil, t.table, p.series)))
	}
	for i := range t.table.Tags {
		tag := &t.table.Tags[i]
		value, ok := tag.Values.Append(nil, p.series)
		switch {
		case !ok:
			args = append(args, gocql.UnsetValue)
		case tag.Numeric():
			number, err := strconv.ParseFloat(string(value), 64)
			if err != nil {
				return nil, fmt.Errorf("tag %s of series %d: %w", tag.Key, p.series, err)
			}
			args = append(args, number)
		default:
			args = append(args, string(value))
		}
	}
	return args, nil
}

// send sends the batches, several of them concurrently.
func (w *writer) send(ctx context.Context, s *gocql.Session) (sent time.Time, err error) {
	w.timestamp = max(w.timestamp+1, time.Now().UnixMicro())
	first := w.timestamp
	for i := range w.batches {
		w.timestamp = max(w.timestamp, first+w.batches[i].later)
	}
	err = runParallel(ctx, w.concurrency, len(w.batches), func(ctx context.Context, i int) error {
		b := s.Batch(gocql.UnloggedBatch)
		b.Entries = w.batches[i].entries
		return b.WithTimestamp(first + w.batches[i].later).ExecContext(ctx)
	})
	return time.Now(), err
}

// Flush implements driver.Writer. Write does not buffer rows.
func (w *writer) Flush(context.Context) (driver.Receipt, error) {
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now}, nil
}

// Close implements driver.Writer. The session is the target's.
func (w *writer) Close() error { return nil }
