package postgres

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
)

// newDialect returns the dialect of normalized tables.
func newDialect() *sql.Dialect {
	return &sql.Dialect{
		Name:      "PostgreSQL",
		Precision: precision,
		Time:      TimeLiteral,
		Bucket:    bucket,
		Seconds: func(from, to string) string {
			return fmt.Sprintf("extract(epoch FROM %s - %s)::double precision", to, from)
		},
		Newest: sql.Lateral,
		Metrics: &sql.Metrics{
			Milliseconds:     func(time string) string { return "CAST(extract(epoch FROM " + time + ") * 1000 AS bigint)" },
			FromMilliseconds: func(ms string) string { return "to_timestamp(CAST(" + ms + " AS double precision) / 1000)" },
			Double:           "double precision",
			Numbers: func(count int64) string {
				return fmt.Sprintf("generate_series(CAST(0 AS bigint), %d) AS numbers(n)", count-1)
			},
			Matches: func(text, pattern string) string { return text + " ~ " + pattern },
		},
		Ticks: &sql.Ticks{
			First: func(value, time string) string { return fmt.Sprintf("(array_agg(%s ORDER BY %s))[1]", value, time) },
			Last: func(value, time string) string {
				return fmt.Sprintf("(array_agg(%s ORDER BY %s DESC))[1]", value, time)
			},
			Later:   sql.Shift,
			AsOf:    sql.AsOfLateral,
			Lookups: true,
		},
		Words: reservedWords,
	}
}

// TimeLiteral returns a time as a literal of SQL.
func TimeLiteral(t time.Time) string {
	return "TIMESTAMPTZ '" + t.UTC().Format("2006-01-02 15:04:05.999999") + "+00'"
}

func bucket(width time.Duration, expression string) string {
	return fmt.Sprintf("date_bin('%s', %s, TIMESTAMPTZ '1970-01-01 00:00:00+00')", sql.Interval(width), expression)
}

// QuoteIdent returns a name as an identifier of SQL.
func QuoteIdent(name string) string { return newDialect().Ident(name) }

// Literal returns a text as a literal of SQL.
func Literal(text string) string { return newDialect().Text(text) }

// figures are the expressions for the figures of a column of PostgreSQL's type as. Sums of whole
// numbers do not overflow. Sums of reals would be reals.
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

// reservedWords are the words of category R or T in pg_get_keywords().
const reservedWords = " all analyse analyze and any array as asc asymmetric authorization" +
	" binary both case cast check collate collation column concurrently" +
	" constraint create cross current_catalog current_date current_role" +
	" current_schema current_time current_timestamp current_user default" +
	" deferrable desc distinct do else end except false fetch for foreign freeze" +
	" from full grant group having ilike in initially inner intersect into is" +
	" isnull join lateral leading left like limit localtime localtimestamp" +
	" natural not notnull null offset on only or order outer overlaps placing" +
	" primary references returning right select session_user similar some" +
	" symmetric table tablesample then to trailing true union unique user using" +
	" variadic verbose when where window with "
