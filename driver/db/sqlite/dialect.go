package sqlite

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// precision is the precision of times: SQLite has no type for them, and stores their nanoseconds since
// 1970 as integers.
const precision = time.Nanosecond

func newDialect() *sql.Dialect {
	return &sql.Dialect{
		Name:      "SQLite",
		Precision: precision,
		Time:      func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) },
		Bucket:    bucket,
		Seconds:   func(from, to string) string { return fmt.Sprintf("(%s - %s) / 1e9", to, from) },
		Newest:    sql.MaxRow,
		Metrics: &sql.Metrics{
			Milliseconds:     func(time string) string { return time + " / 1000000" },
			FromMilliseconds: func(ms string) string { return ms + " * 1000000" },
			Double:           "DOUBLE",
			Numbers: func(count int64) string {
				return fmt.Sprintf("(WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d) SELECT n FROM numbers) AS numbers", count-1)
			},
		},
		Ticks: &sql.Ticks{
			Later:       sql.ShiftWhole,
			SecondOfDay: func(time string, width time.Duration) string { return sql.WholeSecondOfDay(time, width, "/") },
			AsOf:        sql.AsOfTime,
			Lookups:     true,
		},
		NoSetAll: true,
		Words:    reservedWords,
		Folds:    true,
	}
}

// bucket takes the remainder off. Before 1970 that of SQLite is negative.
func bucket(width time.Duration, expression string) string {
	w := width.Nanoseconds()
	return fmt.Sprintf("%s - (%[1]s %% %d + %[2]d) %% %[2]d", expression, w)
}

// figures are the expressions for the figures of a column's values. SQLite's sum of integers fails if
// it exceeds 64 bits, so sums are computed in halves. It has no hash function for a digest of texts.
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

// reservedWords are the words that SQLite does not accept as unquoted names, or parses as something
// else in some contexts. It accepts its other keywords wherever names are allowed.
const reservedWords = " add all alter and as autoincrement between case cast check collate" +
	" commit constraint create current_date current_time current_timestamp" +
	" default deferrable delete distinct drop else escape except exists" +
	" foreign from group having if in index insert intersect into is isnull" +
	" join limit not nothing notnull null on or order primary raise references" +
	" returning select set table then to transaction union unique update using" +
	" values when where "
