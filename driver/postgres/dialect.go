package postgres

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query/sql"
)

// newDialect returns the dialect of normalized tables.
func newDialect() *sql.Dialect {
	return &sql.Dialect{
		Name:      "PostgreSQL",
		Precision: precision,
		Time:      timeLiteral,
		Bucket:    bucket,
		Seconds: func(from, to string) string {
			return fmt.Sprintf("extract(epoch FROM %s - %s)::double precision", to, from)
		},
		Newest:   sql.Lateral,
		Reserved: reserved,
	}
}

func timeLiteral(t time.Time) string {
	return "TIMESTAMPTZ '" + t.UTC().Format("2006-01-02 15:04:05.999999") + "+00'"
}

func bucket(width time.Duration, expression string) string {
	return fmt.Sprintf("date_bin('%s', %s, TIMESTAMPTZ '1970-01-01 00:00:00+00')", Interval(width), expression)
}

// Interval returns a duration of whole microseconds as PostgreSQL's type
// interval reads it.
func Interval(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d seconds", d/time.Second)
	}
	return fmt.Sprintf("%d microseconds", d.Microseconds())
}

// Quoted returns a name as it stands in SQL.
func Quoted(name string) string { return newDialect().Ident(name) }

// Literal returns a text as it stands in SQL.
func Literal(text string) string { return newDialect().Text(text) }

// reserved reports whether the word needs quotes as a name: pg_get_keywords()
// puts it into the category R or T.
func reserved(word string) bool {
	return strings.Contains(reservedWords, " "+word+" ")
}

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
