package griddb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/fold"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// statementsAtOnce is the number of statements of a query that are encoded before they are sent.
const statementsAtOnce = 4096

// querier implements driver.Querier.
type querier struct {
	db       *database
	session  *client.Session
	pipeline *client.Pipeline
	page     int64
	tables   map[string]*known // by the names of registries
	closed   bool
}

// known is a querier's knowledge of a table. Containers that were dropped and created again have other
// numbers: the server then reports a missing container, and the querier looks it up again.
type known struct {
	registry *client.Container
	rows     *client.Container // any of the rows'; nil: none was there
	page     int64
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	if d.options[optionLanguage] == languageSQL {
		return d.newSQLQuerier(ctx, worker)
	}
	q := &querier{db: d, page: int64(d.options.Int(optionPageSize))}
	if err := q.connect(ctx); err != nil {
		return nil, err
	}
	return q, nil
}

// connect opens a session.
func (q *querier) connect(ctx context.Context) error {
	s, err := q.db.link.open(ctx)
	if err != nil {
		return fmt.Errorf("opening a connection for reading: %w", err)
	}
	q.session, q.pipeline, q.tables = s, s.Pipeline(), map[string]*known{}
	q.pipeline.Window = int(q.db.options.Int(optionInFlight))
	return nil
}

// Close implements driver.Querier.
func (q *querier) Close() error {
	q.closed = true
	return q.session.Close()
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	p, ok := r.Plan.(*plan)
	if !ok {
		return driver.Cost{}, errors.New("the request has no plan")
	}
	if q.session.Err() != nil && !q.closed && ctx.Err() == nil { // a query before was cut off
		_ = q.session.Close() // it is broken
		if err := q.connect(ctx); err != nil {
			return driver.Cost{}, err
		}
	}
	x := &execution{querier: q, plan: p, sink: sink}
	var err error
	for range 2 {
		x.Collector, x.handed = fold.Collect(&p.Plan, query.SinkFunc(x.hand)), false
		if sink == nil {
			x.Collector = fold.Collect(&p.Plan, nil)
		}
		var rows int64
		rows, err = x.answer(ctx)
		if err == nil {
			return driver.Cost{Rows: rows, Bytes: x.bytes}, nil
		}
		if !isStale(err) || x.handed {
			break
		}
		clear(q.tables)
	}
	return driver.Cost{Bytes: x.bytes}, fmt.Errorf("querying GridDB: %w", q.db.explain(ctx, err))
}

// isStale reports whether an error says that a container is not there any more.
func isStale(err error) bool {
	said := client.AsError(err)
	return said != nil && slices.Contains([]int{client.CodeContainerNotFound, client.CodeSchemaVersion, client.CodeNotFound, client.CodeRemoved}, said.Code)
}

// execution is a request that is run.
type execution struct {
	*querier
	*fold.Collector
	plan   *plan
	sink   query.Sink
	handed bool // something was handed on
	bytes  int64
	row    []query.Value
	made   []client.Container
	all    []source
	table  *known
}

// source is a series that the query is about.
type source struct {
	registered
	tags []query.Value
}

// hand passes on a row of the result.
func (x *execution) hand(row []query.Value) error {
	x.handed = true
	if err := x.sink.Row(row); err != nil {
		return &limit.Refused{Err: err}
	}
	return nil
}

// answer runs the statements and passes the result's rows on.
func (x *execution) answer(ctx context.Context) (int64, error) {
	if err := x.know(ctx); err != nil {
		return 0, err
	}
	if err := x.sources(ctx); err != nil {
		return 0, err
	}
	if len(x.all) > 0 {
		if err := x.knowRows(ctx); err != nil {
			return 0, err
		}
		if err := x.runStatements(ctx); err != nil {
			return x.Count(), err
		}
	}
	return x.Finish()
}

// know finds the registry.
func (x *execution) know(ctx context.Context) error {
	x.table = x.tables[x.plan.Container]
	if x.table != nil {
		return nil
	}
	there, err := x.session.Containers(ctx, x.plan.Container)
	if err != nil {
		return err
	}
	if !isRegistry(there[0]) {
		return fmt.Errorf("there is no registry %s in %s; load the data first: %w", x.plan.Container, x.db.place(), driver.ErrUnreachable)
	}
	x.table = &known{registry: there[0]}
	x.tables[x.plan.Container] = x.table
	return nil
}

// sources reads from the registry which series the query is about.
func (x *execution) sources(ctx context.Context) error {
	x.all = x.all[:0]
	p := x.pipeline.WithContext(ctx)
	p.Query(x.table.registry, x.plan.Registry, x.page)
	return p.Run(ctx, func(_ int, a *client.Answer) error {
		x.bytes += int64(a.Bytes)
		if a.Err != nil || a.Rows == nil {
			return a.Err
		}
		for a.Rows.Next() {
			s := source{registered: registered{a.Rows.Int(1), string(a.Rows.Text(2)), a.Rows.Int(3)}}
			if s.id < 0 { // it has no rows yet
				continue
			}
			wanted := true
			for _, column := range x.plan.Tags {
				var v query.Value
				switch {
				case a.Rows.Null(column):
				case a.Rows.Columns[column].Type == client.Double:
					v = query.Value{Kind: query.Float, Float: a.Rows.Float(column)}
				default:
					v = query.Value{Kind: query.Text, Text: append([]byte{}, a.Rows.Text(column)...)}
				}
				s.tags = append(s.tags, v)
			}
			for _, i := range x.plan.Present {
				wanted = wanted && s.tags[i].Kind != query.Null
			}
			if !wanted {
				continue
			}
			if err := x.Keep(1 + len(s.tags)); err != nil {
				return &limit.Refused{Err: err}
			}
			x.all = append(x.all, s)
		}
		return a.Rows.Err()
	})
}

// knowRows finds out what rows look like.
func (x *execution) knowRows(ctx context.Context) error {
	if x.table.rows != nil {
		return nil
	}
	there, err := x.session.Containers(ctx, x.all[0].container)
	if err != nil {
		return err
	}
	if there[0] == nil {
		return &client.Error{Code: client.CodeContainerNotFound, Message: fmt.Sprintf("container %s, which the registry names, is not there", x.all[0].container)}
	}
	x.table.rows, x.table.page = there[0], pageOf(there[0], x.plan.Texts, x.page)
	for _, column := range x.plan.Columns {
		if column >= len(there[0].Columns) {
			return fmt.Errorf("container %s has %d columns, fewer than the query needs", there[0].Name, len(there[0].Columns))
		}
	}
	return nil
}

// pageOf returns the number of rows per page of a container such that a page fits in a message even if
// each row has free texts of the given size in bytes.
func pageOf(c *client.Container, texts, page int64) int64 {
	return max(1, min(page, limit.MaxRow/(64+int64(client.NewLayout(c.Columns).Size)+texts)))
}

// runStatements runs the statements for series.
func (x *execution) runStatements(ctx context.Context) error {
	switch w := x.plan.Windows; {
	case w == nil:
		return x.window(ctx, "", "")
	case w.Back:
		return x.readBackwards(ctx, w)
	case x.plan.Partial:
		return x.buckets(ctx, w)
	}
	return errors.New("the request does not say what becomes of its windows")
}

// readBackwards reads windows of time, the newest first, until there are as many buckets as the
// answer may have.
func (x *execution) readBackwards(ctx context.Context, w *windows) error {
	width := time.Duration(x.plan.Fold.Width) * time.Millisecond
	for to, length := w.To, w.Width; to > w.From; length = w.To - to {
		from := max(w.From, query.BucketOf(to-length, width))
		if from >= to {
			from = w.From
		}
		if err := x.window(ctx, x.db.layout.timeLiteral(from), x.db.layout.timeLiteral(to)); err != nil {
			return err
		}
		if x.HasEnough(func(bucket int64) bool { return bucket*int64(time.Millisecond) >= from }) {
			return nil
		}
		to = from
	}
	return nil
}

// window sends the statements for each series, with a window of time, which may be none.
func (x *execution) window(ctx context.Context, from, to string) error {
	return x.send(ctx, 1, func(int) (string, string, int64) { return from, to, 0 })
}

// buckets sends the statements for each series and bucket.
func (x *execution) buckets(ctx context.Context, w *windows) error {
	n := int(buckets(w.From, w.To, w.Width))
	first := query.BucketOf(w.From, time.Duration(w.Width))
	return x.send(ctx, n, func(i int) (string, string, int64) {
		begin := first + int64(i)*w.Width
		return x.db.layout.timeLiteral(max(begin, w.From)), x.db.layout.timeLiteral(min(begin+w.Width, w.To)), begin
	})
}

// send sends the statements for each series and each of some windows.
func (x *execution) send(ctx context.Context, n int, window func(i int) (from, to string, bucket int64)) error {
	each := len(x.plan.Series)
	atOnce := max(1, statementsAtOnce/each)
	total := len(x.all) * n
	for begin := 0; begin < total && !x.Full(); begin += atOnce {
		part := min(atOnce, total-begin)
		p := x.pipeline.WithContext(ctx)
		x.made = slices.Grow(x.made[:0], part)[:part]
		partial := partials{x: x, rows: make([][]query.Value, 0)}
		if x.plan.Partial {
			partial.rows = make([][]query.Value, part)
			partial.left = make([]int, part)
		}
		for i := range part {
			s := &x.all[(begin+i)/n]
			from, to, _ := window((begin + i) % n)
			x.made[i] = *x.table.rows
			x.made[i].ID, x.made[i].Name, x.made[i].Version = s.id, s.container, client.AnyVersion
			x.made[i].Partition = x.partition(s.container)
			for _, text := range x.plan.Series {
				p.Query(&x.made[i], statement(text, s.series, from, to), x.table.page)
			}
		}
		err := p.Run(ctx, func(i int, a *client.Answer) error {
			x.bytes += int64(a.Bytes)
			if a.Err != nil {
				return a.Err
			}
			s := &x.all[(begin+i/each)/n]
			if x.plan.Partial {
				_, _, bucket := window((begin + i/each) % n)
				return partial.take(s, i/each, i%each, bucket, a)
			}
			return x.rows(s, a)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// partition returns the partition of a container.
func (x *execution) partition(name string) int {
	return client.Partition(name, x.db.partitionCount())
}

// rows processes the rows of a series.
func (x *execution) rows(s *source, a *client.Answer) error {
	if a.Rows == nil {
		return nil
	}
	if x.plan.Fold != nil {
		err := x.plan.Fold.Aggregates(func(yield func([]query.Value) bool) {
			for a.Rows.Next() {
				if !yield(x.values(a.Rows)) {
					return
				}
			}
		}, func(row []query.Value) error { return x.Take(s.tags, row) })
		if err == nil {
			err = a.Rows.Err()
		}
		return err
	}
	for a.Rows.Next() {
		row := x.values(a.Rows)
		if x.plan.Start != nil && row[0].Int < *x.plan.Start {
			continue
		}
		if err := x.Take(s.tags, row); err != nil {
			return err
		}
		if x.Full() {
			return nil
		}
	}
	return a.Rows.Err()
}

// values are the values of a row that the plan's rows have. Their texts are valid until the next row.
func (x *execution) values(rows *client.Rows) []query.Value {
	x.row = x.row[:0]
	for _, column := range x.plan.Columns {
		x.row = append(x.row, value(rows, column))
	}
	return x.row
}

// value is a value of a row.
func value(rows *client.Rows, column int) query.Value {
	if rows.Null(column) {
		return query.Value{}
	}
	switch kind := rows.Columns[column].Type; kind {
	case client.Double, client.Float:
		return query.Value{Kind: query.Float, Float: rows.Float(column)}
	case client.String, client.Blob:
		return query.Value{Kind: query.Text, Text: rows.Text(column)}
	case client.Bool:
		return query.Value{Kind: query.Bool, Int: rows.Int(column)}
	case client.Timestamp:
		return query.Value{Kind: query.Time, Int: rows.Int(column) * int64(time.Millisecond)}
	case client.MicroTimestamp:
		return query.Value{Kind: query.Time, Int: rows.Int(column) * int64(time.Microsecond)}
	case client.NanoTimestamp:
		return query.Value{Kind: query.Time, Int: rows.Int(column)}
	default:
		return query.Value{Kind: query.Int, Int: rows.Int(column)}
	}
}

// partials are the aggregates of series and buckets, which statements return one by one.
type partials struct {
	x    *execution
	rows [][]query.Value // results of statements so far
	left []int           // 1 + number of outstanding statements; 0: none has returned
}

// take processes the result of a statement for a series and bucket.
func (p *partials) take(s *source, group, statement int, bucket int64, a *client.Answer) error {
	f := p.x.plan.Fold
	n := len(p.x.plan.Series)
	if p.left[group] == 0 {
		p.left[group] = n + 1
		p.rows[group] = make([]query.Value, n)
	}
	if a.Value != nil {
		v := query.Value{Kind: query.Int, Int: a.Value.Int}
		if a.Value.Type == client.Double || a.Value.Type == client.Float {
			v = query.Value{Kind: query.Float, Float: a.Value.Float}
		}
		p.rows[group][statement] = v
	}
	if p.left[group]--; p.left[group] > 1 {
		return nil
	}
	values := p.rows[group]
	count := values[0]
	count.Kind = query.Int
	row := p.x.row[:0]
	if f.Buckets {
		row = append(row, query.Value{Kind: query.Time, Int: bucket})
	}
	row = append(row, count)
	next := 1
	for _, part := range f.Parts {
		switch part.Make {
		case fold.MakeTag:
			continue
		case string(query.Count):
			row = append(row, count)
			continue
		}
		v := values[next]
		next++
		if part.Columns() == 2 {
			number, _ := v.Number()
			row = append(row, query.Value{Kind: query.Float, Float: number}, count)
			continue
		}
		row = append(row, v)
	}
	p.x.row = row
	p.rows[group] = nil
	return p.x.Take(s.tags, row)
}
