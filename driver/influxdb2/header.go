package influxdb2

import (
	"fmt"
	"strconv"
	"strings"
)

// headerPrefix begins the comment that names the columns of the answer to a query in
// Flux, as they are called there: // columns "_time", "hostname", "usage" else 0
const headerPrefix = "// columns "

// elseZero says of a column that NULL means 0 in it.
const elseZero = " else 0"

// header returns the comment that names columns.
func header(columns []column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = strconv.Quote(c.name)
		if c.zero {
			parts[i] += elseZero
		}
	}
	return headerPrefix + strings.Join(parts, ", ") + "\n"
}

// parseHeader reads the comment.
func parseHeader(query string) ([]column, error) {
	rest, ok := strings.CutPrefix(query, headerPrefix)
	rest, _, _ = strings.Cut(rest, "\n")
	var columns []column
	for ok {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			break
		}
		name, _ := strconv.Unquote(quoted) // which QuotedPrefix has found right
		rest = rest[len(quoted):]
		var zero bool
		rest, zero = strings.CutPrefix(rest, elseZero)
		columns = append(columns, column{name, zero})
		if rest == "" {
			return columns, nil
		}
		rest, ok = strings.CutPrefix(rest, ", ")
	}
	return nil, fmt.Errorf("the query does not begin with the names of the answer's columns, as in %s", strings.TrimSpace(header(named("_time", "usage"))))
}
