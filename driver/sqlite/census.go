package sqlite

import (
	"context"

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
		Times:   figures(series.Timestamp, sql.TimeColumn),
		Ask: func(ctx context.Context, text string) ([][]query.Value, error) {
			var answer query.Answer
			_, err := d.admin.query(ctx, text, &answer)
			return answer.Rows, err
		},
	}
	return c.Of(ctx, t, distinct)
}

// figures are the expressions for what the values of a column come to. SQLite's
// sum of integers must fit 64 bits, else it is an error: larger ones are added up
// in halves. It has no hash for a digest of texts.
func figures(t series.Type, column string) sqlkit.Figures {
	f := sqlkit.Figures{Sum: column, Whole: 1, Order: column}
	switch t {
	case series.Int, series.Timestamp:
		f.High, f.Sum = column+" >> 32", column+" & 4294967295"
	case series.Float, series.Float32:
		f.Whole = 0
	case series.Bool:
		f.Order = ""
	case series.Text, series.Blob:
		f.Sum = ""
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
