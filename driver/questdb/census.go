package questdb

import (
	"context"
	"fmt"
	"math"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
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
	c := sqlkit.Census{
		Dialect: newDialect(),
		Figures: figures,
		Times:   figures(series.Timestamp, timeColumn),
		Ask:     d.ask,
	}
	out, err := c.Of(ctx, renamedSchema(t).Tables[0], distinct)
	for i, f := range t.Fields {
		if err != nil {
			break
		}
		// QuestDB's sums of LONG are modulo 2^64, and one of them is its NULL.
		if content := &out.Fields[i]; content.Count > 0 && f.Type.Whole() && content.Sum != nil && content.Sum.Kind == query.Null {
			content.Sum = &query.Value{Kind: query.Int, Int: math.MinInt64}
		}
	}
	return out, err
}

// figures are the expressions for what the values of a column come to. A sum of
// FLOAT would be a FLOAT.
func figures(t series.Type, column string) sqlkit.Figures {
	f := sqlkit.Figures{Sum: column, Whole: 1, Order: column}
	switch t {
	case series.Float:
		f.Whole = 0
	case series.Float32:
		f.Sum, f.Whole = "CAST("+column+" AS DOUBLE)", 0
	case series.Bool:
		f.Sum, f.Order = "CAST("+column+" AS INT)", ""
	case series.Text, series.Blob:
		f.Sum = ""
	case series.Timestamp:
		f.Sum, f.Whole = "CAST("+column+" AS LONG)", 1000
	case series.Date: // milliseconds
		f.Sum = fmt.Sprintf("CAST(%s AS LONG) / %d", column, 24*60*60*1000)
	}
	return f
}

// ListSeries implements driver.SeriesLister.
func (d *database) ListSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error {
	return sqlkit.ListSeries(newDialect(), s, renamedSchema(t).Tables[0], func(text string) error {
		return d.give(ctx, text, sink)
	})
}
