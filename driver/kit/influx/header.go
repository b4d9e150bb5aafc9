package influx

import (
	"strconv"
	"strings"
)

// HeaderColumn is a column named in the comment before a query.
type HeaderColumn struct {
	Name   string
	Marked bool
}

// Header returns the comment, a line that names the columns of the query's answer, such as
// // columns "_time", "hostname", "usage" else 0. The prefix begins it, and the mark follows
// marked columns.
func Header(prefix, mark string, columns []HeaderColumn) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = strconv.Quote(c.Name)
		if c.Marked {
			parts[i] += mark
		}
	}
	return prefix + strings.Join(parts, ", ") + "\n"
}
