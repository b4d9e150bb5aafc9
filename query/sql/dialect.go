// Package sql renders abstract queries as SQL text. What differs between
// databases is a Dialect's parameters; what a query means is written once.
//
// The tables are normalized as TSBS lays them out on TimescaleDB: a table of
// rows (time, tags_id, one column per field), and a table of series (id, one
// column per tag) that it refers to. Or they are wide: a table of rows with a
// column per tag as well. Or they are narrow: a row a value.
package sql

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// The columns that every layout has in addition to tags and fields.
const (
	TimeColumn      = "time"    // of a table of rows
	TagsIDColumn    = "tags_id" // of a table of rows: which series
	IDColumn        = "id"      // of a table of series: the series' number
	FieldColumn     = "field"   // of a narrow table: whose value it is
	ValueColumn     = "value"   // of a narrow table: the value
	WholeColumn     = "whole"   // of a narrow table that distinguishes integers from doubles: the integer, or 0 or 1 for a boolean
	TextColumn      = "text"    // of a narrow table: the text, or the bytes of a blob as one
	TimestampColumn = "moment"  // of a narrow table: the value that is a time
	DayColumn       = "day"     // of a narrow table: the value that is a date
)

// Dialect describes the SQL of one database. Every parameter up to Words but Metrics is required; the zero
// value of the others means standard SQL over normalized tables.
type Dialect struct {
	// Name is the database's name in error messages.
	Name string
	// Precision is the finest step of its timestamps. Bounds between two
	// steps are rounded up, which changes no answer over such timestamps.
	Precision time.Duration
	// Time returns the literal of a time that is a multiple of Precision.
	Time func(time.Time) string
	// Bucket returns the expression of the start of the bucket that holds the
	// expression's time. Buckets start at multiples of the width since
	// 1970-01-01T00:00:00Z, before 1970 as well. The width is a positive
	// multiple of Precision.
	Bucket func(width time.Duration, expression string) string
	// Widths is the unit of the widths that Bucket takes; 0: Precision.
	Widths time.Duration
	// Seconds returns the expression of the seconds from one time to a later
	// one, as a double.
	Seconds func(from, to string) string
	// Newest is the way to select the newest row of each group.
	Newest Newest
	// Metrics has the expressions for functions over time of metrics; nil: tsmark writes none.
	Metrics *Metrics
	// Words are the words, in lower case and each between blanks, that must be quoted as names of
	// tables or columns.
	Words string

	// Names and Texts are the quotes; zero: DoubleQuotes and SingleQuotes.
	Names, Texts Quote
	// Wide says that tables of rows have the tags, and that there is no table
	// of series.
	Wide bool
	// Indexed says that queries look tags up in an index, which has names with quotes only as texts: see
	// ofSeries.
	Indexed bool
	// Narrow says that tables of rows have a row a value, (time, tags_id, field,
	// value), and that the first field of each row has one, if only a NULL. Two
	// rows of a series at one time are one. It goes with Lateral and Numbered.
	Narrow bool
	// NoFilter says that it knows no FILTER behind an aggregate.
	NoFilter bool
	// Integers says that narrow tables have integers in a column of their own.
	Integers bool
	// Folds says that names differ by more than case.
	Folds bool
	// TimeName is the name of a row's time; empty: TimeColumn.
	TimeName string
	// NoHaving says that it knows no HAVING: such a condition is put on a
	// query from the groups.
	NoHaving bool
	// NoSetAll says that it knows no INTERSECT ALL and EXCEPT ALL.
	NoSetAll bool
	// NoBooleanNulls means that a boolean cannot be NULL, so that unknown values need a number: 1
	// is true, 0 is false.
	NoBooleanNulls bool
	// LeastIsNull says that its NULL of whole numbers is the least of 64 bits,
	// with which nothing can be compared.
	LeastIsNull bool
	// Decimal is the type of the columns of fields with Decimals, whose number is %d: numeric(18,%d). The driver's
	// writer must write values of this type. Empty: the columns are doubles.
	Decimal string
	// DecimalMeans says that means of whole numbers and of decimals, and quotients of decimals, are decimals of
	// few digits, or are made of sums that overflow.
	DecimalMeans bool
	// NoWith means that the system supports neither WITH nor window functions: computations on
	// aggregates become subqueries, and comparisons of a row with its neighbor cannot be expressed.
	NoWith bool
	// NoSets says that it knows no set operations.
	NoSets bool
	// EmptyGroups means that groups of a tag without matching rows may be returned as NULLs.
	EmptyGroups bool
	// Long is its type of whole numbers of 64 bits; empty: BIGINT.
	Long string
	// Largest returns the expression of the largest value of a field of a table that is
	// grouped by a tag, or empty: by none; nil: max.
	Largest func(t *series.Table, by string, f series.Field, column string) string
	// Spell returns the database's spelling of a name, if it does not support every name; nil:
	// names are unchanged. Columns of answers are identified by position, not by name.
	Spell func(name string) string
	// Tags is the name of the table of series of a table; nil: TagsTable.
	Tags func(t *series.Table) string
	// TagsID and ID are the names of the columns that say which series; empty: TagsIDColumn
	// and IDColumn.
	TagsID, ID string
	// Typed says that a number is compared with no text, so that the values of tags that
	// are numbers are.
	Typed bool
	// NoEqualTimes says that rows at a time are found by two bounds: GridDB 5.9 joins
	// tables by an index of series and time, and finds none where a constant is equal to
	// its second column.
	NoEqualTimes bool
	// Nested means that the system does not support WITH: named subqueries are written in place.
	Nested bool
	// Neighbor returns the expression of a value in the row that is a distance before (lag) or behind (lead)
	// in the order of a column within a partition; NULL if there is no such row. Nil: standard SQL.
	Neighbor func(function, value string, distance int, partition, order string) string
	// Ticks has what the shapes of ticks need (candles, as-of joins); nil: queries with them are n/a.
	Ticks *Ticks
}

// Newest is a way to take the newest row of each group.
type Newest uint8

// The ways.
const (
	// DistinctOn is SELECT DISTINCT ON, which keeps the first row of each group
	// in the order of the answer. Of normalized tables only rows at the newest
	// time of their series are put in order.
	DistinctOn Newest = iota
	// MaxRow is GROUP BY with a single max(), whose row the columns that are
	// not aggregated are taken from.
	MaxRow
	// Lateral takes the newest row of each series by LATERAL and LIMIT 1, which
	// an index of series and time finds at once, and then DistinctOn.
	Lateral
	// LatestOn is QuestDB's LATEST ON … PARTITION BY, over wide tables.
	LatestOn
	// Numbered takes the rows at the newest time of their series, which an index of
	// series and time finds at once by LIMIT 1, and of these the first by ROW_NUMBER.
	Numbered
	// LimitBy is ClickHouse's LIMIT 1 BY, of the rows at the newest time of their tag's
	// value, or of their series where tables are normalized. The two together are
	// looked up, which an order by them finds at once.
	LimitBy
	// Joined takes the rows at the newest time of their series, found by one GROUP BY of
	// all and joined, and of these the first by ROW_NUMBER.
	Joined
	// LastBy is IoTDB's GROUP BY with last_by(), which keeps NULLs as well, over wide
	// tables; of texts by a number with max_by(), since 2.0.1 fails on last_by() there.
	LastBy
)

// CountExpression returns the expression that is counted for values of a column.
func (d *Dialect) CountExpression(t series.Type, column string) string {
	if t == series.Bool && d.NoBooleanNulls {
		return "CAST(" + column + " AS INT)" // a column that is never NULL needs no count, and QuestDB cannot count it
	}
	return column
}

// DecimalType returns the type of a field's column if it is one of decimals; otherwise "".
func (d *Dialect) DecimalType(f *series.Field) string {
	if f.Decimals == 0 || d.Decimal == "" {
		return ""
	}
	return fmt.Sprintf(d.Decimal, f.Decimals)
}

// FilterAggregate returns an aggregate of an expression, or of *, over the rows for which a
// condition holds; an empty one: over all.
func (d *Dialect) FilterAggregate(aggregate, expression, condition string) string {
	switch {
	case condition == "":
		return fmt.Sprintf("%s(%s)", aggregate, expression)
	case !d.NoFilter:
		return fmt.Sprintf("%s(%s) FILTER (WHERE %s)", aggregate, expression, condition)
	case expression == "*":
		expression = "1"
	}
	return fmt.Sprintf("%s(CASE WHEN %s THEN %s END)", aggregate, condition, expression)
}

// IntegerType returns the type of whole numbers of 64 bits.
func (d *Dialect) IntegerType() string { return cmp.Or(d.Long, "BIGINT") }

// Interval returns a duration of whole microseconds as databases of PostgreSQL's
// kin read their type interval.
func Interval(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d seconds", d/time.Second)
	}
	return fmt.Sprintf("%d microseconds", d.Microseconds())
}

// TimeBucket is the Bucket function of databases with TimescaleDB's time_bucket, which counts from
// 2000-01-03; interval and epoch are the literals of the width and of 1970. An origin costs a tenth
// of the query's time and is used only if necessary.
func TimeBucket(width time.Duration, interval, expression, epoch string) string {
	const origin = 10959 * 24 * time.Hour
	if origin%width == 0 {
		return fmt.Sprintf("time_bucket(%s, %s)", interval, expression)
	}
	return fmt.Sprintf("time_bucket(%s, %s, %s)", interval, expression, epoch)
}

// Double returns the literal of a finite double.
func Double(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.Contains(text, "e") {
		text += "e0" // without an exponent it were a decimal, not a double
	}
	return text
}

// TagsTable returns the name of the table that holds the series of t. Tables
// that share one slice of tags share it; the first one's is called "tags", as
// TSBS does, and further ones "<table>_tags".
func TagsTable(s *series.Schema, t *series.Table) string {
	for i, other := range s.Tables {
		if other == t || SameTags(other, t) {
			if i == 0 {
				return "tags"
			}
			return other.Name + "_tags"
		}
	}
	return t.Name + "_tags"
}

// SameTags reports whether two tables were given the very same tags. Equal
// keys would not do: their values may differ.
func SameTags(a, b *series.Table) bool {
	if len(a.Tags) != len(b.Tags) {
		return false
	}
	return len(a.Tags) == 0 || &a.Tags[0] == &b.Tags[0]
}
