package mysql

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
)

// newDialect returns the dialect for tables laid out by the options.
func newDialect(o driver.Options) *sql.Dialect {
	d := &sql.Dialect{
		Name:         "MySQL",
		Precision:    precision(o),
		Time:         timeLiteral,
		Bucket:       bucket,
		Seconds:      func(from, to string) string { return fmt.Sprintf("TIMESTAMPDIFF(MICROSECOND, %s, %s) / 1e6", from, to) },
		Newest:       sql.Numbered,
		Ticks:        &sql.Ticks{Later: later, SecondOfDay: secondOfDay, AsOf: sql.AsOfWindow, Frame: frame, Lookups: true}, // MariaDB has no LATERAL
		Words:        reservedWords,
		Names:        sql.Backticks,
		Texts:        sql.Backslashes,
		Folds:        true,
		Decimal:      "DECIMAL(18,%d)",
		DecimalMeans: true,
		NoFilter:     true,
		Integers:     true,
		Long:         "SIGNED",
		Wide:         o[optionLayout] == layoutWide,
		Narrow:       o[optionLayout] == layoutNarrow,
	}
	if d.Narrow {
		d.Decimal = ""
	}
	if o[optionTimes] == timesBigint {
		d.Time = func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
		d.Bucket = wholeBucket
		d.Ticks.Later = sql.ShiftWhole
		d.Ticks.Frame = func(time string, before, after time.Duration) (order, frame string) {
			return time, numericFrame(before.Nanoseconds(), after.Nanoseconds())
		}
		d.Ticks.SecondOfDay = func(time string, width time.Duration) string { return sql.WholeSecondOfDay(time, width, "DIV") }
		d.Seconds = func(from, to string) string { return fmt.Sprintf("(%s - %s) / 1e9", to, from) }
	}
	return d
}

func timeLiteral(t time.Time) string {
	return "TIMESTAMP'" + t.UTC().Format("2006-01-02 15:04:05.999999") + "'"
}

// bucket counts from a bucket boundary before all times, since DIV rounds towards zero. TO_SECONDS
// costs half as much as TIMESTAMPDIFF.
func bucket(width time.Duration, expression string) string {
	const before = 10_000_000_000 // seconds before 1970: in 1653
	if width%time.Second == 0 {
		w := int64(width / time.Second)
		epoch := -(before + w - 1) / w * w
		return fmt.Sprintf("%s + INTERVAL (TO_SECONDS(%s) - %d) DIV %d * %[4]d SECOND", timeLiteral(time.Unix(epoch, 0)), expression, yearZero+epoch, w)
	}
	w := width.Microseconds()
	epoch := -((before*1e6 + w - 1) / w * w)
	start := timeLiteral(time.UnixMicro(epoch))
	return fmt.Sprintf("%s + INTERVAL TIMESTAMPDIFF(MICROSECOND, %[1]s, %s) DIV %d * %[3]d MICROSECOND", start, expression, w)
}

func later(at string, d time.Duration) string {
	return fmt.Sprintf("%s + INTERVAL %d MICROSECOND", at, d.Microseconds())
}

// frame counts in microseconds: MariaDB has no frames of times.
func frame(at string, before, after time.Duration) (order, frame string) {
	return fmt.Sprintf("TIMESTAMPDIFF(MICROSECOND, %s, %s)", timeLiteral(time.Unix(0, 0)), at), numericFrame(before.Microseconds(), after.Microseconds())
}

func numericFrame(before, after int64) string {
	return fmt.Sprintf("RANGE BETWEEN %d PRECEDING AND %d FOLLOWING", before, after)
}

func secondOfDay(time string, width time.Duration) string {
	return fmt.Sprintf("TIME_TO_SEC(%s) DIV %d * %[2]d", time, width/1e9)
}

// yearZero is TO_SECONDS('1970-01-01').
const yearZero = 62_167_219_200

// wholeBucket subtracts the remainder, which is negative before 1970.
func wholeBucket(width time.Duration, expression string) string {
	w := width.Nanoseconds()
	return fmt.Sprintf("%s - (%[1]s %% %d + %[2]d) %% %[2]d", expression, w)
}

// dialect is newDialect for a variant.
func (v variant) dialect(o driver.Options) *sql.Dialect {
	d := newDialect(o)
	d.Name = cmp.Or(v.system, d.Name)
	if v.quirks != nil {
		d.Decimal = ""
	}
	v.quirks.Dialect(d)
	return d
}

// quoteIdent returns a name as an identifier of SQL, and literal returns a text as a literal.
func quoteIdent(name string) string { return newDialect(nil).Ident(name) }
func literal(value string) string   { return newDialect(nil).Text(value) }

// figures are the expressions for the figures of a column of MySQL's type as. Sums of whole numbers are
// decimals, which do not overflow.
func figures(as, column string) sqlkit.Figures {
	f := sqlkit.Figures{Sum: column, Whole: 1, Order: column}
	switch as {
	case "DOUBLE":
		f.Whole = 0
	case "FLOAT":
		f.Sum, f.Whole = column+" * 1e0", 0
	case "TINYINT(1)":
		f.Order = ""
	case "TEXT", "BLOB":
		f.Sum = fmt.Sprintf("CAST(CONV(LEFT(MD5(%s), 16), 16, 10) AS UNSIGNED)", column)
	case "DATETIME(6)":
		f.Sum, f.Whole = fmt.Sprintf("TIMESTAMPDIFF(MICROSECOND, %s, %s)", timeLiteral(time.Unix(0, 0)), column), 1000
	case "DATE":
		f.Sum = "DATEDIFF(" + column + ", '1970-01-01')"
	}
	return f
}

// reservedWords are the reserved words of MySQL 9 and of MariaDB 11.
const reservedWords = " accessible add all alter analyze and as asc asensitive before between bigint binary blob both by call cascade case change char" +
	" character check collate column condition constraint continue convert create cross cube cume_dist current_date current_role" +
	" current_time current_timestamp current_user cursor database databases day_hour day_microsecond day_minute day_second dec decimal" +
	" declare default delayed delete delete_domain_id dense_rank desc describe deterministic distinct distinctrow div do_domain_ids" +
	" double drop dual each else elseif empty enclosed escaped except exists exit explain false fetch first_value float float4 float8" +
	" for force foreign from fulltext function general generated get grant group grouping groups having high_priority hour_microsecond" +
	" hour_minute hour_second if ignore ignore_domain_ids ignore_server_ids in index infile inner inout insensitive insert int int1 int2" +
	" int3 int4 int8 integer intersect interval into io_after_gtids io_before_gtids is iterate join json_table key keys kill lag" +
	" last_value lateral lead leading leave left library like limit linear lines load localtime localtimestamp lock long longblob" +
	" longtext loop low_priority manual master_bind master_heartbeat_period master_ssl_verify_server_cert match maxvalue mediumblob" +
	" mediumint mediumtext middleint minute_microsecond minute_second mod modifies natural no_write_to_binlog not nth_value ntile null" +
	" numeric of offset on optimize optimizer_costs option optionally or order out outer outfile over page_checksum parallel" +
	" parse_vcol_expr partition percent_rank position precision primary procedure purge qualify range rank read read_write reads real" +
	" recursive ref_system_id references regexp release rename repeat replace require resignal restrict return returning revoke right" +
	" rlike row_number rows schema schemas second_microsecond select sensitive separator set sets show signal slow smallint spatial" +
	" specific sql sql_big_result sql_calc_found_rows sql_small_result sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc" +
	" stats_persistent stats_sample_pages stored straight_join system table tablesample terminated then tinyblob tinyint tinytext to" +
	" trailing trigger true undo union unique unlock unsigned update usage use using utc_date utc_time utc_timestamp values varbinary" +
	" varchar varcharacter varying vector virtual when where while window with write xor year_month zerofill "
