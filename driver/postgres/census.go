package postgres

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Census implements driver.DB.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	return d.census(ctx, t, false)
}

// DistinctCensus implements driver.DistinctCounter.
func (d *database) DistinctCensus(ctx context.Context, t *series.Table) (driver.Census, error) {
	return d.census(ctx, t, true)
}

func (d *database) census(ctx context.Context, t *series.Table, distinct bool) (driver.Census, error) {
	held := types(d.options)
	c := sqlkit.Census{
		Dialect: d.variant.dialect(d.options),
		Figures: func(t series.Type, column string) sqlkit.Figures { return figures(held[t].As, column) },
		Times:   figures(held[series.Timestamp].As, sql.TimeColumn),
		Text:    func(sum string) string { return "(" + sum + ")::text" }, // bigint or numeric
	}
	var census driver.Census
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
func figures(as, column string) sqlkit.Figures {
	f := sqlkit.Figures{Sum: column, Whole: 1, Order: column}
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

// ListSeries implements driver.SeriesLister.
func (d *database) ListSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error {
	return d.admin.Do(ctx, func(conn *pgwire.Conn) error {
		return sqlkit.ListSeries(d.variant.dialect(d.options), s, t, func(text string) error {
			return conn.Stream(ctx, text, sink)
		})
	})
}
