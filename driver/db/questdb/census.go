package questdb

import (
	"fmt"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// counter returns the counter of the tables, with QuestDB's names.
func (d *database) counter() sqlkit.Counter {
	return sqlkit.Counter{
		Dialect: newDialect(),
		Figures: figures,
		Scaled: func(column string, factor int64) sqlkit.Figures {
			return figures(series.Int, fmt.Sprintf("CAST(round(%s * %d, 0) AS LONG)", column, factor))
		},
		Named: func(t *series.Table) *series.Table { return renamedSchema(t).Tables[0] },
		Run:   d.own.Run,
	}
}

// figures are the expressions for the figures of a column's values. A sum of FLOAT would be a FLOAT.
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
