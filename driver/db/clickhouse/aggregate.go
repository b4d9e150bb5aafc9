package clickhouse

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// viewEnd is the suffix of the name of the view that fills an aggregate.
const viewEnd = "_view"

// aggregates implements continuous aggregates as an AggregatingMergeTree that a materialized view fills
// with each batch. The view's query fills in the existing rows. TSBS's layout, which exists for TSBS's
// query texts, has no aggregates because these texts do not use any.
func aggregates(o driver.Options) *sqlkit.Aggregates {
	if o[optionLayout] == layoutTSBS {
		return nil
	}
	keep := func(a *sqlkit.Aggregate) []string {
		return []string{
			target(o, a),
			fmt.Sprintf("CREATE MATERIALIZED VIEW %s TO %s AS\n%s", quoteIdent(a.Name()+viewEnd), a.Ident, a.Select),
		}
	}
	return &sqlkit.Aggregates{
		Make:  func(a *sqlkit.Aggregate) []string { return append(keep(a), a.Fill()) },
		Keep:  keep,
		Views: []string{viewEnd},
		Bytes: func(m *query.Materialized) string {
			return fmt.Sprintf("SELECT toInt64(sum(bytes_on_disk)) FROM system.parts WHERE active AND database = currentDatabase() AND table = %s", literal(m.Name()))
		},
	}
}

// target returns the statement that creates the table of an aggregate, ordered like rows: by series and
// time.
func target(o driver.Options, a *sqlkit.Aggregate) string {
	d := newDesign(o)
	columns := make([]string, len(a.Columns))
	table := a.Schema.Table(a.Materialized.Table)
	for i, c := range a.Columns {
		kind := seriesNumber
		switch {
		case i == 0:
			kind = timeType
		case c.Aggregate == "" && d.wide && table.Tags[i-1].Numeric():
			kind = tagNumber
		case c.Aggregate == "" && d.wide:
			kind = tagText
		case c.Aggregate == query.Count:
			kind = "SimpleAggregateFunction(sum, UInt64)"
		case c.Aggregate == query.Sum:
			kind = "SimpleAggregateFunction(sum, " + d.orNull(table, "Float64") + ")"
		case c.Aggregate != "":
			kind = fmt.Sprintf("SimpleAggregateFunction(%s, %s)", c.Aggregate, d.columnType(table, fieldOf(table, c.Field)))
		}
		columns[i] = c.Name + " " + kind
	}
	names := sql.Keys(a.Columns)
	return fmt.Sprintf("CREATE TABLE %s (%s) ENGINE = AggregatingMergeTree ORDER BY (%s) SETTINGS allow_nullable_key = 1",
		a.Ident, strings.Join(columns, ", "), strings.Join(append(names[1:], names[0]), ", "))
}

func fieldOf(t *series.Table, name string) *series.Field { return &t.Fields[t.FieldIndex(name)] }
