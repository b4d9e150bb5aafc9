package influx

import (
	"fmt"
	"strconv"
	"strings"
)

// Header is a comment before a query that names the columns of its answer, as in
// // columns "_time", "hostname", "usage" else 0.
type Header struct {
	Prefix string // what the comment begins with: "// columns "
	Mark   string // behind a column that is marked: " else 0"
}

// HeaderColumn is a column that a Header names.
type HeaderColumn struct {
	Name   string
	Marked bool
}

// Comment returns the comment, a line.
func (h Header) Comment(columns []HeaderColumn) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = strconv.Quote(c.Name)
		if c.Marked {
			parts[i] += h.Mark
		}
	}
	return h.Prefix + strings.Join(parts, ", ") + "\n"
}

// Parse reads the comment that a query begins with.
func (h Header) Parse(query string) ([]HeaderColumn, error) {
	rest, ok := strings.CutPrefix(query, h.Prefix)
	rest, _, _ = strings.Cut(rest, "\n")
	var columns []HeaderColumn
	for ok {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			break
		}
		name, _ := strconv.Unquote(quoted) // which QuotedPrefix has found right
		rest = rest[len(quoted):]
		var marked bool
		rest, marked = strings.CutPrefix(rest, h.Mark)
		columns = append(columns, HeaderColumn{name, marked})
		if rest == "" {
			return columns, nil
		}
		rest, ok = strings.CutPrefix(rest, ", ")
	}
	return nil, fmt.Errorf("the query does not begin with the names of the answer's columns, as in %s",
		strings.TrimSpace(h.Comment([]HeaderColumn{{Name: "_time"}, {Name: "usage"}})))
}
