package duckdb

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query/sql"
)

// precision is that of the type TIMESTAMP.
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
		Reserved: reserved,
	}
}

func timeLiteral(t time.Time) string {
	return "TIMESTAMP '" + t.UTC().Format("2006-01-02 15:04:05.000000") + "'"
}

// bucketOrigin is where time_bucket begins to count, 2000-01-03, as the time
// since 1970.
const bucketOrigin = 10959 * 24 * time.Hour

func bucket(width time.Duration, expression string) string {
	interval := fmt.Sprintf("%d microseconds", width.Microseconds())
	if width%time.Second == 0 {
		interval = fmt.Sprintf("%d seconds", width/time.Second)
	}
	if bucketOrigin%width == 0 {
		return fmt.Sprintf("time_bucket(INTERVAL '%s', %s)", interval, expression)
	}
	// An origin costs a tenth of the query's time: only where it is needed.
	return fmt.Sprintf("time_bucket(INTERVAL '%s', %s, TIMESTAMP '1970-01-01')", interval, expression)
}

// reserved reports whether the word needs quotes as a name: DuckDB's
// duckdb_keywords() puts it into the category "reserved" or "type_function".
func reserved(word string) bool {
	return strings.Contains(reservedWords, " "+word+" ")
}

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
