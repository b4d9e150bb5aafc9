package griddb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// dialect is SQL as GridDB 5.9 has it, over one container for a table and its registry.
func (l *layout) dialect() *sql.Dialect {
	return &sql.Dialect{
		Name:         "GridDB's SQL",
		Precision:    l.precision.unit,
		Time:         func(t time.Time) string { return l.timeLiteral(t.UnixNano()) },
		Bucket:       bucket,
		Seconds:      func(from, to string) string { return fmt.Sprintf("TIMESTAMPDIFF(MILLISECOND, %s, %s) / 1e3", to, from) },
		Newest:       sql.Joined,
		Words:        reservedWords,
		NoFilter:     true,
		NoSetAll:     true,
		Spell:        clean,
		Tags:         registryName,
		TagsID:       seriesColumn,
		ID:           numberColumn,
		Typed:        true,
		NoEqualTimes: true,
		Nested:       true,
		// Written from the manual: no server has answered queries of ticks yet.
		Ticks: &sql.Ticks{
			Later: func(at string, d time.Duration) string {
				return fmt.Sprintf("TIMESTAMP_ADD(MILLISECOND, %s, %d)", at, d.Milliseconds())
			},
			SecondOfDay: func(at string, width time.Duration) string {
				return fmt.Sprintf("TO_EPOCH_MS(%s) %% 86400000 / %d * %d", at, width.Milliseconds(), width/time.Second)
			},
			AsOf: sql.AsOfWindow,
			Few:  true,
		},
	}
}

// bucket rounds times down by their milliseconds: GROUP BY RANGE cannot group by other columns as well,
// and returns rows for empty buckets.
func bucket(width time.Duration, expression string) string {
	return fmt.Sprintf("TO_TIMESTAMP_MS(TO_EPOCH_MS(%s) / %d * %[2]d)", expression, width.Milliseconds())
}

// renderSQL returns a query as one SELECT.
func renderSQL(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	duration := q.Width()
	switch s := q.Shape.(type) {
	case query.AsOf:
		duration = s.Tolerance
	case query.Gaps:
		duration = s.Longer
	}
	if duration%time.Millisecond != 0 {
		return driver.Request{}, fmt.Errorf("query %s: %w: durations in GridDB's SQL are whole milliseconds, and this is %v", q.Type, query.ErrUnsupported, duration)
	}
	text, err := newLayout(o).dialect().Render(q, s)
	return driver.Request{Text: text}, err
}

// reservedWords are the words that 5.9 does not accept as unquoted names of tables and columns, or
// parses as something else.
const reservedWords = " add all alter and as between by case cast collate commit create cross current" +
	" current_timestamp delete distinct drop else escape except exists extract false following from full" +
	" grant group having identified if in index inner insert intersect into is isnull join left limit" +
	" natural not notnull null of offset on one or order outer over partition partitions password past" +
	" pattern per plan pragma preceding previous primary query raise range references regexp release rename" +
	" replace revoke right role rollback row rows savepoint second select series set skip subpartition" +
	" subpartitions sum table temp temporary then time timeseries timestamp timestamp_add timestamp_diff" +
	" timestamp_trunc timestampadd timestampdiff to transaction true unbounded union unique update user" +
	" using vacuum values view virtual when where with within without xor year "

// sqlQuerier implements driver.Querier over the SQL interface.
type sqlQuerier struct {
	db     *database
	worker int
	conn   *client.SQL
	row    []query.Value
	closed bool
}

func (d *database) newSQLQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q := &sqlQuerier{db: d, worker: worker}
	if err := q.connect(ctx); err != nil {
		return nil, err
	}
	return q, nil
}

// connect opens a connection.
func (q *sqlQuerier) connect(ctx context.Context) error {
	c, err := q.db.sqlConfig()
	var fresh *client.SQL
	if err == nil {
		fresh, err = client.OpenSQL(ctx, c, q.worker)
	}
	if err != nil { // q.conn stays the broken connection, so that Close and another connect work
		return fmt.Errorf("opening a connection for reading by SQL, at port %s: %w", q.db.options[optionSQLPort], q.db.connecting(ctx, err))
	}
	q.conn = fresh
	return nil
}

// Close implements driver.Querier.
func (q *sqlQuerier) Close() error {
	q.closed = true
	return q.conn.Close()
}

// Do implements driver.Querier.
func (q *sqlQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (cost driver.Cost, err error) {
	if q.closed {
		return cost, errors.New("the connection is closed")
	}
	if q.conn.Err() != nil && ctx.Err() == nil { // a query before was cut off
		_ = q.conn.Close() // it is broken
		if err := q.connect(ctx); err != nil {
			return cost, err
		}
	}
	err = q.conn.Query(ctx, r.Text, func(a *client.Answer) error {
		cost.Bytes += int64(a.Bytes)
		for a.Rows.Next() {
			cost.Rows++
			if sink == nil {
				continue
			}
			q.row = q.row[:0]
			for column := range a.Rows.Columns {
				q.row = append(q.row, value(a.Rows, column))
			}
			if err := sink.Row(q.row); err != nil {
				return &limit.Refused{Err: err}
			}
		}
		return a.Rows.Err()
	})
	if said := client.AsError(err); said != nil && said.Code == client.CodeNoTable {
		err = fmt.Errorf("%w; load the data first: %w", said, driver.ErrUnreachable)
	}
	if err != nil {
		return cost, fmt.Errorf("querying GridDB: %w", q.db.explain(ctx, err))
	}
	return cost, nil
}
