package mysql

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
)

// last is the partition for times after those of all others.
const last = "later"

// makeTable sets how a table is created. Its comment is its identity. TSBS's second index has the
// newest time first; the indexes here are read in both directions.
func makeTable(o driver.Options, collation string, t *sqlkit.Table, columns []string) {
	index := func(names ...string) {
		for i, name := range names {
			names[i] = quoteIdent(name)
		}
		columns = append(columns, "INDEX ("+strings.Join(names, ", ")+")")
	}
	option := o[optionIndex]
	if t.By != "" && !t.Rows && option != indexNone {
		index(t.By)
	}
	if t.By != "" && t.Rows && (option == indexBoth || option == indexTagsTime) {
		index(t.By, sql.TimeColumn)
	}
	if t.Rows && (option == indexBoth || option == indexTime) {
		index(sql.TimeColumn)
	}
	more := ""
	if t.Rows && o[optionPartition] != "" {
		more = fmt.Sprintf(" PARTITION BY %s (PARTITION %s VALUES LESS THAN %s)", partitionBy(o), last, lastBound(o))
	}
	t.Make = []string{fmt.Sprintf("CREATE TABLE %s (%s) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE %s COMMENT=%s%s",
		quoteIdent(t.Name), strings.Join(columns, ", "), collation, literal(driver.Token()), more)}
}

// partitionBy is the expression that partitions a table, and most the bound of the last partition.
func partitionBy(o driver.Options) string {
	if o[optionTimes] == timesBigint {
		return "RANGE (" + sql.TimeColumn + ")"
	}
	return "RANGE COLUMNS (" + sql.TimeColumn + ")"
}

func lastBound(o driver.Options) string {
	if o[optionTimes] == timesBigint {
		return "MAXVALUE"
	}
	return "(MAXVALUE)"
}
