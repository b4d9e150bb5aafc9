package influxdb2

import "github.com/tsmark/tsmark/driver/kit/influx"

// comment is the one before a query in Flux, whose columns are called as they are there:
// // columns "_time", "hostname", "usage" else 0. The mark says that NULL means 0.
func comment() influx.Header { return influx.Header{Prefix: "// columns ", Mark: " else 0"} }

// header returns the comment that names columns.
func header(columns []column) string {
	named := make([]influx.HeaderColumn, len(columns))
	for i, c := range columns {
		named[i] = influx.HeaderColumn{Name: c.name, Marked: c.zero}
	}
	return comment().Comment(named)
}

// parseHeader reads the comment.
func parseHeader(query string) ([]column, error) {
	named, err := comment().Parse(query)
	columns := make([]column, len(named))
	for i, c := range named {
		columns[i] = column{c.Name, c.Marked}
	}
	return columns, err
}
