package influxdb2

import (
	"strconv"
	"strings"
)

// header returns the comment before a query in Flux, which names the columns of the result: // columns
// "_time", "hostname", "usage" else 0. The mark says that NULL means 0.
func header(columns []column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = strconv.Quote(c.name)
		if c.zero {
			parts[i] += " else 0"
		}
	}
	return "// columns " + strings.Join(parts, ", ") + "\n"
}
