package influxdb2

import "github.com/tsmark/tsmark/driver/kit/influx"

// header returns the comment before a query in Flux, which names the columns of the result: // columns
// "_time", "hostname", "usage" else 0. The mark says that NULL means 0.
func header(columns []column) string {
	named := make([]influx.HeaderColumn, len(columns))
	for i, c := range columns {
		named[i] = influx.HeaderColumn{Name: c.name, Marked: c.zero}
	}
	return influx.Header("// columns ", " else 0", named)
}
