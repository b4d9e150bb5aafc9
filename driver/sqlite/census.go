package sqlite

import (
	"context"

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
