package questdb

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/query/sql"
)

// precision is the precision of the type TIMESTAMP.
const precision = time.Microsecond

// timeColumn is the designated timestamp, with QuestDB's name for it in tables that lines create.
const timeColumn = "timestamp"

func newDialect() *sql.Dialect {
	return &sql.Dialect{
		Name:      "QuestDB",
		Precision: precision,
		Time:      timeLiteral,
		Bucket:    bucket,
		Seconds:   func(from, to string) string { return fmt.Sprintf("datediff('u', %s, %s) / 1e6", from, to) },
		Newest:    sql.LatestOn,
		Metrics: &sql.Metrics{
			Milliseconds:     func(time string) string { return "CAST(" + time + " AS LONG) / 1000" },
			FromMilliseconds: func(ms string) string { return "CAST(" + ms + " * 1000 AS TIMESTAMP)" },
			Double:           "DOUBLE",
			Numbers: func(count int64) string {
				return fmt.Sprintf("(SELECT x - 1 AS n FROM long_sequence(%d)) AS numbers", count)
			},
			Matches: func(text, pattern string) string { return text + " ~ " + pattern },
		},
		Ticks: &sql.Ticks{
			First: func(value, _ string) string { return "first(" + value + ")" },
			Last:  func(value, _ string) string { return "last(" + value + ")" },
			Later: later,
			AsOf:  sql.AsOfColumns,
			Tolerance: func(d time.Duration) string {
				return sql.InUnits(d, [...]string{"d", "h", "m", "s", "T", "U", ""})
			},
			Around: func(before, after time.Duration) string {
				units := [...]string{" days", " hours", " minutes", " seconds", " milliseconds", " microseconds", ""}
				return fmt.Sprintf("RANGE BETWEEN %s PRECEDING AND %s FOLLOWING EXCLUDE PREVAILING", sql.InUnits(before, units), sql.InUnits(after, units))
			},
		},
		Words:          reservedWords,
		Wide:           true,
		Long:           "LONG",
		TimeName:       timeColumn,
		NoHaving:       true,
		NoBooleanNulls: true,
		LeastIsNull:    true,
	}
}

// timeLiteral returns a text, which QuestDB compares with times as a time.
func timeLiteral(t time.Time) string {
	return "'" + t.UTC().Format("2006-01-02T15:04:05.000000Z") + "'"
}

// bucket counts in the largest unit that divides the width. All units begin at 1970-01-01, except
// weeks, which begin on Monday.
func bucket(width time.Duration, expression string) string {
	return fmt.Sprintf("timestamp_floor('%s', %s)", sql.InUnits(width, [...]string{"d", "h", "m", "s", "", "U", ""}), expression)
}

// later counts in the largest unit that divides the duration, since dateadd takes 32 bits.
func later(at string, d time.Duration) string {
	n, unit := d.Microseconds(), "u"
	for _, larger := range []struct {
		of   time.Duration
		name string
	}{{time.Millisecond, "T"}, {time.Second, "s"}, {time.Minute, "m"}} {
		if d%larger.of == 0 {
			n, unit = int64(d/larger.of), larger.name
		}
	}
	return fmt.Sprintf("dateadd('%s', %d, %s)", unit, n, at)
}

// reservedWords are the words that QuestDB does not accept as names of tables or columns, or parses as
// something else.
const reservedWords = " add all alter and as asc asof between by case cast create cross declare default" +
	" delete desc distinct drop else end except exists explain false fill from" +
	" full group grouping having ilike in index inner insert intersect into is join" +
	" keep latest left like limit lt not null offset on or order outer over partition right sample" +
	" select set show splice table then timestamp_ns to true truncate union unnest update using values when where window with within "
