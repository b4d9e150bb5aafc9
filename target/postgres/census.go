package postgres

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/pgwire"
	"github.com/tsmark/tsmark/target/sqltarget"
)

// Census implements target.Target.
func (d *database) Census(ctx context.Context, t *series.Table) (target.Census, error) {
	return d.census(ctx, t, false)
}

// DistinctCensus implements target.DistinctCounter.
func (d *database) DistinctCensus(ctx context.Context, t *series.Table) (target.Census, error) {
	return d.census(ctx, t, true)
}

func (d *database) census(ctx context.Context, t *series.Table, distinct bool) (target.Census, error) {
	held := types(d.options)
	c := sqltarget.Census{
		Dialect: d.variant.dialect(d.options),
		Figures: func(t series.Type, column string) sqltarget.Figures { return figures(held[t].As, column) },
		Times:   figures(held[series.Timestamp].As, sql.TimeColumn),
		Text:    func(sum string) string { return "(" + sum + ")::text" }, // bigint or numeric
	}
	var census target.Census
	err := d.admin.Do(ctx, func(conn *pgwire.Conn) (err error) {
		c.Ask = func(ctx context.Context, text string) ([][]query.Value, error) {
			var answer query.Answer
			_, err := conn.Query(ctx, text, &answer)
			return answer.Rows, err
		}
		census, err = c.Of(ctx, t, distinct)
		return err
	})
	return census, err
}

// figures are the expressions for what the values of a column come to that has a
// type of PostgreSQL's. Its sums of whole numbers do not overflow. Sums of reals
// would be reals.
func figures(as, column string) sqltarget.Figures {
	f := sqltarget.Figures{Sum: column, Whole: 1, Order: column}
	digest := "('x' || left(md5(%s), 16))::bit(64)::bigint"
	switch as {
	case "double precision":
		f.Whole = 0
	case "real":
		f.Sum, f.Whole = column+"::float8", 0
	case "boolean":
		f.Sum, f.Order = column+"::int", ""
	case "text":
		f.Sum, f.Order = fmt.Sprintf(digest, column), column+` COLLATE "C"`
	case "bytea": // it has no order before PostgreSQL 18
		f.Sum, f.Order = fmt.Sprintf(digest, column), "convert_from("+column+`, 'UTF8') COLLATE "C"`
	case "timestamptz":
		f.Sum, f.Whole = "(extract(epoch FROM "+column+") * 1000000)::bigint", 1000
	case "date":
		f.Sum = column + " - DATE '1970-01-01'"
	}
	return f
}

// ListSeries implements target.SeriesLister.
func (d *database) ListSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error {
	return d.admin.Do(ctx, func(conn *pgwire.Conn) error {
		return sqltarget.ListSeries(d.variant.dialect(d.options), s, t, func(text string) error {
			return conn.Stream(ctx, text, sink)
		})
	})
}
