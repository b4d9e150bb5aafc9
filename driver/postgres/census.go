package postgres

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// counter tells what the tables hold.
func (d *database) counter() sqlkit.Counter {
	held := types(d.options)
	return sqlkit.Counter{
		Dialect: d.variant.dialect(d.options),
		Figures: func(t series.Type, column string) sqlkit.Figures { return figures(held[t].As, column) },
		Times:   figures(held[series.Timestamp].As, sql.TimeColumn),
		Text:    func(sum string) string { return "(" + sum + ")::text" }, // bigint or numeric
		Run: func(ctx context.Context, text string, sink query.Sink) error {
			return d.admin.Do(ctx, func(c *pgwire.Conn) error { return c.Stream(ctx, text, sink) })
		},
	}
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
