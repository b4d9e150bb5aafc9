package sqlite

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query/sql"
)

// precision is that of times: SQLite has no type for them, and holds their
// nanoseconds since 1970 as integers.
const precision = time.Nanosecond

func newDialect() *sql.Dialect {
	return &sql.Dialect{
		Name:      "SQLite",
		Precision: precision,
		Time:      func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) },
		Bucket:    bucket,
		Seconds:   func(from, to string) string { return fmt.Sprintf("(%s - %s) / 1e9", to, from) },
		Newest:    sql.MaxRow,
		NoSetAll:  true,
		Reserved:  reserved,
	}
}

// bucket takes the remainder off. Before 1970 that of SQLite is negative.
func bucket(width time.Duration, expression string) string {
	w := width.Nanoseconds()
	return fmt.Sprintf("%s - (%[1]s %% %d + %[2]d) %% %[2]d", expression, w)
}

// reserved reports whether the word needs quotes as a name: without them SQLite
// would not take it, or read something else in some place. Its other keywords
// are names wherever they can be.
func reserved(word string) bool {
	return strings.Contains(reservedWords, " "+word+" ")
}

const reservedWords = " add all alter and as autoincrement between case cast check collate" +
	" commit constraint create current_date current_time current_timestamp" +
	" default deferrable delete distinct drop else escape except exists" +
	" foreign from group having if in index insert intersect into is isnull" +
	" join limit not nothing notnull null on or order primary raise references" +
	" returning select set table then to transaction union unique update using" +
	" values when where "
