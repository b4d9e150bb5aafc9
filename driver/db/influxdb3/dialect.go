package influxdb3

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// newDialect returns the SQL of DataFusion, InfluxDB 3's engine.
func newDialect() *sql.Dialect {
	return &sql.Dialect{
		Name:      "InfluxDB 3",
		Precision: time.Nanosecond,
		Time:      timeLiteral,
		Bucket:    bucket,
		Seconds: func(from, to string) string {
			return fmt.Sprintf("CAST(CAST(%s AS BIGINT) - CAST(%s AS BIGINT) AS DOUBLE) / 1e9", to, from)
		},
		Newest: sql.Numbered,
		Ticks: &sql.Ticks{
			First: func(value, time string) string { return fmt.Sprintf("first_value(%s ORDER BY %s)", value, time) },
			Last:  func(value, time string) string { return fmt.Sprintf("last_value(%s ORDER BY %s)", value, time) },
			Later: func(time string, d time.Duration) string {
				return fmt.Sprintf("%s + INTERVAL '%s'", time, interval(d))
			},
			AsOf: sql.AsOfWindow,
			Frame: func(time string, before, after time.Duration) (order, frame string) {
				return time, fmt.Sprintf("RANGE BETWEEN INTERVAL '%s' PRECEDING AND INTERVAL '%s' FOLLOWING", interval(before), interval(after))
			},
		},
		Words:    reservedWords,
		Wide:     true,
		NoSetAll: true, // the server parses the words, but does not count duplicates
	}
}

func timeLiteral(t time.Time) string {
	return "TIMESTAMP '" + t.UTC().Format("2006-01-02T15:04:05.999999999Z") + "'"
}

// bucket counts from 1970-01-01, also backwards.
func bucket(width time.Duration, expression string) string {
	return fmt.Sprintf("date_bin(INTERVAL '%s', %s)", interval(width), expression)
}

func interval(d time.Duration) string {
	return sql.InUnits(d, [...]string{" days", " hours", " minutes", " seconds", " milliseconds", " microseconds", " nanoseconds"})
}

// figures are the expressions for the figures of a column's values. Sums of whole numbers wrap at 64
// bits.
func figures(t series.Type, column string) sqlkit.Figures {
	f := sqlkit.Figures{Sum: column, Whole: 1, Order: column}
	switch t {
	case series.Float, series.Float32:
		f.Whole = 0
	case series.Bool:
		f.Sum, f.Order = "CAST("+column+" AS BIGINT)", ""
	case series.Text, series.Blob:
		f.Sum = ""
	case series.Timestamp: // times of rows; fields that are times are stored as such numbers
		f.Sum = "CAST(" + column + " AS BIGINT)"
	}
	return f
}

// render renders a query.
func render(q *query.Query, s *series.Schema, _ driver.Options) (driver.Request, error) {
	text, err := newDialect().Render(q, s)
	return driver.Request{Text: text}, err
}

const confinement = "InfluxDB 3 explains it as a subquery first, and its query interface takes statements that read and no others"

// literals returns the literals for users' query texts.
func literals(driver.Options) query.Literals { return newDialect().Literals(confinement) }

// reservedWords are the words that DataFusion does not accept as unquoted names of tables or columns,
// or parses as something else.
const reservedWords = " all analyze any as by case cast cluster cube current_date current_time" +
	" current_timestamp distinct distribute else end except exclude exists" +
	" explain false fetch from group having intersect interval into join lateral" +
	" limit minus natural not null offset on order qualify returning rollup" +
	" select some sort struct table then top trim true union unnest using values" +
	" view when where window with "
