package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// writer implements driver.Writer. A batch is one transaction.
type writer struct {
	d      *database
	conn   *pgwire.Conn
	layout *layout
	tables map[*series.Table]*tableWriter
	order  []*tableWriter // of the batch at work
	tags   map[*sqlkit.Tags]*tagsWriter
	begun  bool // a transaction is open
	insert bool // by statements instead of COPY

	prepared int // tables that have their statements
}

// tableWriter writes the rows of a table.
type tableWriter struct {
	*encoder
	runs     []*series.Run // of the batch at work
	copyText string
	reader   copyReader
	insert   *inserter // nil before it is needed

	partition   int64 // start of the one that was needed last
	partitioned bool  // it is there
}

// NewWriter implements driver.DB. The database must have been prepared
// since it was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	d.mu.Lock()
	layout := d.layout
	d.mu.Unlock()
	if layout == nil {
		return nil, errors.New("opening a connection for writing: prepare the database first")
	}
	conn, err := pgwire.Connect(ctx, d.config)
	if err != nil {
		return nil, fmt.Errorf("opening a connection for writing: %w", err)
	}
	return &writer{
		d: d, conn: conn, layout: layout, insert: d.options[optionMethod] == methodInsert,
		tables: make(map[*series.Table]*tableWriter), tags: make(map[*sqlkit.Tags]*tagsWriter),
	}, nil
}

// Write implements driver.Writer. When it returns, the batch is committed; on
// an error nothing of it is in the database, unless the connection was cut while
// it was committed.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	bounded, cancel := context.WithTimeout(ctx, w.d.config.Timeout)
	defer cancel()
	receipt, err := w.write(bounded, b)
	if err == nil {
		return receipt, nil
	}
	if ctx.Err() == nil && bounded.Err() != nil {
		err = &driver.Temporary{Err: fmt.Errorf("%w: the server did not take the batch within %v; raise the option timeout or look at the server",
			driver.ErrUnreachable, w.d.config.Timeout)}
	}
	return driver.Receipt{}, fmt.Errorf("writing to %s: %w", w.d.variant.System, err)
}

func (w *writer) write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	receipt := driver.Receipt{Rows: int64(b.Rows())}
	err := w.sort(b)
	if err == nil {
		err = w.partitions(ctx)
	}
	if err == nil {
		receipt.WireBytes, receipt.Sent, err = w.send(ctx)
	}
	if err != nil {
		w.abandon(ctx, err)
		return driver.Receipt{}, err
	}
	receipt.Acked = time.Now()
	for _, t := range w.tags {
		t.Keep()
	}
	return receipt, nil
}

// sort puts the runs of a batch together by their tables, and makes the rows of
// series that have none yet.
func (w *writer) sort(b *series.Batch) error {
	for _, t := range w.order {
		t.runs = t.runs[:0]
	}
	w.order = w.order[:0]
	for i := range b.Runs {
		run := &b.Runs[i]
		if run.Rows() == 0 {
			continue
		}
		t := w.tables[run.Table]
		if t == nil {
			var err error
			if t, err = w.open(run.Table); err != nil {
				return err
			}
		}
		if len(t.runs) == 0 {
			w.order = append(w.order, t)
		}
		t.runs = append(t.runs, run)
		if tags := w.layout.tags[run.Table]; tags != nil {
			if err := w.tags[tags].introduce(run.Series); err != nil {
				return fmt.Errorf("table %s: %w", tags.Name, err)
			}
		}
	}
	return nil
}

// open returns the writer of a table of the schema that was not written yet.
func (w *writer) open(t *series.Table) (*tableWriter, error) {
	if w.layout.schema.Table(t.Name) != t {
		return nil, fmt.Errorf("table %s is not of the schema that the database was prepared for", t.Name)
	}
	tw := &tableWriter{encoder: newEncoder(w.layout, t), copyText: "COPY " + Quoted(t.Name) + " FROM STDIN BINARY"}
	w.tables[t] = tw
	if tags := w.layout.tags[t]; tags != nil && w.tags[tags] == nil {
		w.tags[tags] = newTagsWriter(tags)
	}
	return tw, nil
}

// send hands the batch to the server. A single COPY is a transaction by itself.
func (w *writer) send(ctx context.Context) (bytes int64, sent time.Time, err error) {
	begin := ""
	if w.insert || len(w.order) > 1 {
		begin = "BEGIN; "
	}
	for _, t := range w.tags {
		statement := t.statement()
		if statement == "" {
			continue
		}
		if begin == "" {
			begin = "BEGIN; "
		}
		if err := w.conn.Exec(ctx, w.first(begin)+statement); err != nil {
			return 0, sent, fmt.Errorf("table %s: %w", t.Name, err)
		}
		bytes += int64(len(statement))
	}
	for _, t := range w.order {
		var n int64
		if w.insert {
			n, err = w.insertRows(ctx, t, begin)
		} else {
			n, err = t.copyRows(ctx, w.conn, w.first(begin))
		}
		if err != nil {
			return 0, sent, fmt.Errorf("table %s: %w", t.table.Name, err)
		}
		bytes += n
	}
	sent = time.Now()
	if len(w.order) == 1 && !w.begun {
		sent = w.order[0].reader.ended
	}
	if w.begun {
		w.begun = false
		if err := w.conn.Commit(ctx); err != nil {
			return 0, sent, fmt.Errorf("committing: %w", err)
		}
	}
	return bytes, sent, nil
}

// first returns what stands before the first statement of a transaction.
func (w *writer) first(begin string) string {
	if begin == "" || w.begun {
		return ""
	}
	w.begun = true
	return begin
}

// abandon undoes the transaction. What was not committed when the connection
// was cut is not stored.
func (w *writer) abandon(ctx context.Context, cause error) {
	if t := driver.AsTemporary(cause); t != nil && w.begun {
		t.Refused = true
	}
	w.conn.Rollback(ctx) // the cause says what is wrong
	w.begun = false
	for _, t := range w.tags {
		t.abandon()
	}
}

// Flush implements driver.Writer. Write keeps nothing back.
func (w *writer) Flush(context.Context) (driver.Receipt, error) {
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now}, nil
}

// Close implements driver.Writer.
func (w *writer) Close() error { return w.conn.Close() }
