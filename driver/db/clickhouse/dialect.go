package clickhouse

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// timeType is the type of times.
const timeType = "DateTime64(9, 'UTC')"

// timeColumn is the name of the column of a row's time.
func timeColumn(o driver.Options) string {
	if o[optionLayout] == layoutTSBS {
		return tsbsTime
	}
	return sql.TimeColumn
}

// newDialect returns the dialect for tables laid out by the options.
func newDialect(o driver.Options) *sql.Dialect {
	d := &sql.Dialect{
		Name:      "ClickHouse",
		Precision: precision(o),
		Time:      timeLiteral,
		Bucket:    bucket,
		Seconds: func(from, to string) string {
			return fmt.Sprintf("(%s - %s) / 1e9", nanoseconds(to), nanoseconds(from))
		},
		Newest: sql.LimitBy,
		Metrics: &sql.Metrics{
			Milliseconds:     func(time string) string { return "toUnixTimestamp64Milli(" + time + ")" },
			FromMilliseconds: func(ms string) string { return "fromUnixTimestamp64Nano(" + ms + " * 1000000, 'UTC')" },
			Double:           "Float64",
			Numbers: func(count int64) string {
				return fmt.Sprintf("(SELECT toInt64(number) AS n FROM numbers(%d)) AS numbers", count)
			},
			Matches: func(text, pattern string) string { return fmt.Sprintf("match(%s, %s)", text, pattern) },
		},
		Ticks:        ticks(),
		Words:        reservedWords,
		Names:        "``\\",
		Texts:        sql.Backslashes,
		Decimal:      "Decimal(18, %d)",
		DecimalMeans: true,
		Neighbor:     neighbor,
		Wide:         o[optionLayout] != layoutNormalized && o[optionLayout] != layoutTSBS,
		TimeName:     timeColumn(o),
	}
	if o[optionLayout] == layoutTSBS {
		d.Bucket = func(width time.Duration, expression string) string { return bucket(width, fine(expression)) }
		second := d.Ticks.SecondOfDay
		d.Ticks.SecondOfDay = func(time string, width time.Duration) string { return second(fine(time), width) }
		d.Decimal = ""
		d.Time = func(t time.Time) string { return "toDateTime('" + t.UTC().Format(time.DateTime) + "', 'UTC')" }
	}
	return d
}

// ticks returns what the shapes of ticks need.
func ticks() *sql.Ticks {
	return &sql.Ticks{
		First: func(value, time string) string { return fmt.Sprintf("argMin(%s, %s)", value, time) },
		Last:  func(value, time string) string { return fmt.Sprintf("argMax(%s, %s)", value, time) },
		Later: func(at string, d time.Duration) string {
			if d%time.Second == 0 {
				return fmt.Sprintf("%s + toIntervalSecond(%d)", at, d/time.Second)
			}
			return fmt.Sprintf("%s + toIntervalNanosecond(%d)", at, d)
		},
		SecondOfDay: func(time string, width time.Duration) string {
			return fmt.Sprintf("intDiv(positiveModulo(%s, 86400000000000), %d) * %d", nanoseconds(time), width.Nanoseconds(), width/1e9)
		},
		AsOf:     sql.AsOfOn,
		Joined:   true,
		Settings: "SETTINGS join_use_nulls = 1",
	}
}

// settings returns the settings of each connection. Some of them preserve the meaning of queries:
// otherwise an alias would hide the column that it is computed from, and a set operation would keep
// duplicate rows. Another allows batches with rows of many months. Results never come from the query
// cache, which a user's profile may turn on. The query condition cache, an index of the granules that a
// filter has skipped, keeps the server's setting.
func settings() []setting {
	return []setting{
		{"prefer_column_name_to_alias", "1"},
		{"union_default_mode", "DISTINCT"},
		{"intersect_default_mode", "DISTINCT"},
		{"except_default_mode", "DISTINCT"},
		{"max_partitions_per_insert_block", "0"},
		{"use_query_cache", "0"},
	}
}

// setting is the name and the value of a setting.
type setting struct{ name, value string }

func timeLiteral(t time.Time) string {
	return "toDateTime64('" + t.UTC().Format("2006-01-02 15:04:05.999999999") + "', 9, 'UTC')"
}

// fine converts a time in whole seconds to a DateTime64.
func fine(expression string) string { return "toDateTime64(" + expression + ", 9, 'UTC')" }

func nanoseconds(expression string) string { return "toUnixTimestamp64Nano(" + expression + ")" }

// bucket subtracts the remainder. toStartOfInterval does not support times before 1970, and takes a
// third longer.
func bucket(width time.Duration, expression string) string {
	return fmt.Sprintf("fromUnixTimestamp64Nano(%s - positiveModulo(%[1]s, %d), 'UTC')", nanoseconds(expression), width.Nanoseconds())
}

// neighbor makes the value Nullable: a missing value would be the type's default otherwise. All
// versions have these functions; lag and lead are newer.
func neighbor(function, value string, distance int, partition, order string) string {
	value = "toNullable(" + value + ")"
	if distance > 1 {
		value += fmt.Sprintf(", %d", distance)
	}
	return fmt.Sprintf("%sInFrame(%s) OVER (PARTITION BY %s ORDER BY %s ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
		function, value, partition, order)
}

// figures are the expressions for the figures of a column's values. Sums of integers are modulo 2^64.
// toNullable makes them NULL for a table without rows.
func figures(t series.Type, column string) sqlkit.Figures {
	column = "toNullable(" + column + ")"
	f := sqlkit.Figures{Sum: column, Whole: 1, Order: column}
	switch t {
	case series.Float:
		f.Whole = 0
	case series.Float32:
		f.Sum, f.Whole = "toFloat64("+column+")", 0
	case series.Bool:
		f.Order = ""
	case series.Text, series.Blob:
		f.Sum = fmt.Sprintf("reinterpretAsInt64(reverse(substring(MD5(%s), 1, 8)))", column)
	case series.Timestamp:
		f.Sum = nanoseconds(column)
	case series.Date:
		f.Sum = "toInt32(" + column + ")"
	}
	return f
}

// figuresOf returns the figures of the layout.
func figuresOf(o driver.Options) func(series.Type, string) sqlkit.Figures {
	if o[optionLayout] == layoutTSBS {
		return tsbsFigures
	}
	return figures
}

// tsbsFigures are the figures for columns of TSBS's layout: integers are stored as doubles, and the
// times of rows in whole seconds.
func tsbsFigures(t series.Type, column string) sqlkit.Figures {
	switch {
	case t == series.Int:
		column = "toInt64(" + column + ")"
	case t == series.Timestamp && column == tsbsTime:
		column = fine(column)
	}
	return figures(t, column)
}

// quoteIdent returns a name as an identifier of SQL, and literal returns a text as a literal.
func quoteIdent(name string) string { return newDialect(nil).Ident(name) }
func literal(value string) string   { return newDialect(nil).Text(value) }

// reservedWords are the words that ClickHouse does not accept as unquoted names, or parses as something
// else in some contexts.
const reservedWords = " all and anti any array as asc asof between by case cast columns cross date date_add date_sub desc distinct div else" +
	" end escape except exists extract false fetch fill final first following for format from full global grouping group having if ilike in" +
	" inf infinity inner interpolate intersect interval into is join key last left like limit mod nan not null nulls offset on or order" +
	" outer over overlay partition position preceding prewhere qualify range right row rows sample select semi set settings step" +
	" substring sum table then ties timestamp to top totals trim true truncate tuple union unbounded using values view when where window with "
