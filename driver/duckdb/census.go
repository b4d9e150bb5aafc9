//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// counter tells what the tables hold.
func (d *database) counter() sqlkit.Counter {
	return sqlkit.Counter{
		Dialect: newDialect(),
		Figures: figures,
		Times:   figures(series.Timestamp, sql.TimeColumn),
		Text:    func(sum string) string { return "CAST(" + sum + " AS VARCHAR)" }, // a HUGEINT
		Run:     d.run,
	}
}

// run runs a statement of tsmark's own.
func (d *database) run(ctx context.Context, text string, sink query.Sink) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.admin.query(ctx, text, sink)
	return err
}

// figures are the expressions for what the values of a column come to. Sums of
// whole numbers are HUGEINT, of 128 bits.
func figures(t series.Type, column string) sqlkit.Figures {
	f := sqlkit.Figures{Sum: column, Whole: 1, Order: column}
	switch t {
	case series.Float:
		f.Whole = 0
	case series.Float32:
		f.Sum, f.Whole = "CAST("+column+" AS DOUBLE)", 0
	case series.Bool:
		f.Sum, f.Order = "CAST("+column+" AS INTEGER)", ""
	case series.Text, series.Blob:
		f.Sum = fmt.Sprintf("CAST('0x' || left(md5(%s), 16) AS UBIGINT)", column)
	case series.Timestamp:
		f.Sum, f.Whole = "epoch_us("+column+")", 1000
	case series.Date:
		f.Sum = "date_diff('day', DATE '1970-01-01', " + column + ")"
	}
	return f
}
