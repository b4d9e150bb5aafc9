package iotdb

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// language renders queries.
type language interface {
	render(*query.Query, *series.Schema) (string, error)
}

// languageOf returns that of the options' model.
func languageOf(o driver.Options) language {
	if o[optionModel] == modelTable {
		return tableLanguage{newDialect(o)}
	}
	return &tree{root: rootOf(o), unit: units[o[optionPrecision]]}
}

// rootOf is the path of the tree model's database.
func rootOf(o driver.Options) string { return "root." + node(o[connection.Database]) }

// tableLanguage renders queries in SQL.
type tableLanguage struct{ *sql.Dialect }

func (l tableLanguage) render(q *query.Query, s *series.Schema) (string, error) {
	return l.Render(q, s)
}

// newDialect is the SQL of the table model. A tag that is a number is a column of
// doubles.
func newDialect(o driver.Options) *sql.Dialect {
	unit := units[o[optionPrecision]]
	return &sql.Dialect{
		Name:      "IoTDB",
		Precision: unit,
		Time:      func(t time.Time) string { return fmt.Sprint(t.UnixNano() / int64(unit)) },
		Bucket: func(width time.Duration, expression string) string {
			return fmt.Sprintf("date_bin(%s, %s)", sql.InUnits(width, [...]string{"d", "h", "m", "s", "ms", "us", "ns"}), expression)
		},
		Seconds: func(from, to string) string {
			return fmt.Sprintf("(CAST(%s AS INT64) - CAST(%s AS INT64)) / %de0", to, from, time.Second/unit)
		},
		Newest: sql.LastBy,
		Words:  reservedWords,
		Wide:   true,
		Folds:  true,
		Plain:  true,
		NoSets: true,
		// In 2.0.1-beta.
		NoNegativeMax: true,
		NullGroups:    true,
	}
}

// reservedWords are those that the table model does not take as the name of a table or
// a column.
const reservedWords = " alter and as between by case cast constraint create cross cube current_date current_role current_time current_timestamp current_user" +
	" deallocate delete describe distinct drop else end escape except execute exists extract false for from full group grouping having in inner insert intersect into is" +
	" join json_array json_exists json_object json_query json_table json_value left like listagg localtime localtimestamp natural normalize not null offset on or order outer" +
	" prepare recursive right rollup select skip table then trim true uescape union unnest using values when where with" +
	" limit fill default user date timestamp time_bound row rows range "

// declared returns the statement that makes a table.
func declared(o driver.Options, t *series.Table) string {
	d, held := newDialect(o), types(o)
	var columns []string
	for i := range t.Tags {
		kind := "STRING TAG"
		if t.Tags[i].Numeric() {
			kind = "DOUBLE FIELD"
		}
		columns = append(columns, d.Ident(t.Tags[i].Key)+" "+kind)
	}
	for _, f := range t.Fields {
		columns = append(columns, fmt.Sprintf("%s %s FIELD", d.Ident(f.Name), held[f.Type].As))
	}
	return fmt.Sprintf("CREATE TABLE %s (%s)", d.Ident(t.Name), strings.Join(columns, ", "))
}
