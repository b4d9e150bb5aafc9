//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
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
	d.mu.Lock()
	defer d.mu.Unlock()
	c := sqlkit.Census{
		Dialect: newDialect(),
		Figures: figures,
		Times:   figures(series.Timestamp, newDialect().Ident(sql.TimeColumn)),
		Text:    func(sum string) string { return "CAST(" + sum + " AS VARCHAR)" }, // a HUGEINT
		Ask: func(ctx context.Context, text string) ([][]query.Value, error) {
			var answer query.Answer
			_, err := d.admin.query(ctx, text, &answer)
			return answer.Rows, err
		},
	}
	return c.Of(ctx, t, distinct)
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

// ListSeries implements driver.SeriesLister.
func (d *database) ListSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return sqlkit.ListSeries(newDialect(), s, t, func(text string) error {
		_, err := d.admin.query(ctx, text, sink)
		return err
	})
}
