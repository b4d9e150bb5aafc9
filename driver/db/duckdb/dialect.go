package duckdb

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// precision is the precision of the type TIMESTAMP.
const precision = time.Microsecond

func newDialect() *sql.Dialect {
	return &sql.Dialect{
		Name:      "DuckDB",
		Precision: precision,
		Time:      timeLiteral,
		Bucket:    bucket,
		Seconds: func(from, to string) string {
			return fmt.Sprintf("date_diff('microseconds', %s, %s) / 1e6", from, to)
		},
		Metrics: &sql.Metrics{
			Milliseconds:     func(time string) string { return "epoch_ms(" + time + ")" },
			FromMilliseconds: func(ms string) string { return "make_timestamp(" + ms + " * 1000)" },
			Double:           "DOUBLE",
			Numbers:          func(count int64) string { return fmt.Sprintf("range(%d) AS numbers(n)", count) },
			Matches:          func(text, pattern string) string { return fmt.Sprintf("regexp_matches(%s, %s)", text, pattern) },
		},
		Ticks: &sql.Ticks{
			First: func(value, time string) string { return fmt.Sprintf("arg_min(%s, %s)", value, time) },
			Last:  func(value, time string) string { return fmt.Sprintf("arg_max(%s, %s)", value, time) },
			Later: sql.Shift,
			AsOf:  sql.AsOfOn,
			Frame: func(time string, before, after time.Duration) (order, frame string) {
				return time, fmt.Sprintf("RANGE BETWEEN INTERVAL '%s' PRECEDING AND INTERVAL '%s' FOLLOWING", sql.Interval(before), sql.Interval(after))
			},
		},
		Decimal: "DECIMAL(18,%d)",
		Words:   reservedWords,
		Folds:   true,
	}
}

func timeLiteral(t time.Time) string {
	return "TIMESTAMP '" + t.UTC().Format("2006-01-02 15:04:05.000000") + "'"
}

func bucket(width time.Duration, expression string) string {
	return sql.TimeBucket(width, "INTERVAL '"+sql.Interval(width)+"'", expression, "TIMESTAMP '1970-01-01'")
}

// figures are the expressions for the figures of a column's values. Sums of whole numbers are HUGEINT,
// of 128 bits.
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

// reservedWords are the words of category "reserved" or "type_function" in DuckDB's duckdb_keywords().
const reservedWords = " all analyse analyze and anti any array as asc asof asymmetric at" +
	" authorization binary both by case cast check collate collation column" +
	" columns concurrently constraint create cross default deferrable desc" +
	" describe distinct do else end except false fetch for foreign freeze from" +
	" full generated glob group having ilike in initially inner intersect into is" +
	" isnull join lambda lateral leading left like limit map natural not notnull" +
	" null offset on only or order outer overlaps pivot pivot_longer pivot_wider" +
	" placing positional primary qualify references returning right select semi" +
	" show similar some struct summarize symmetric table tablesample then to" +
	" trailing true try_cast union unique unpack unpivot using variadic verbose" +
	" when where window with "
