package promql

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
)

// ReadMetrics passes the metrics that a server reports about itself, in the lines of Prometheus's text
// format, to a function: their names, their labels, and their values.
func (c *Console) ReadMetrics(ctx context.Context, path string, take func(name, labels string, value float64)) error {
	text, err := c.Get(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	Figures(text, take)
	return nil
}

// Figures passes the metrics of a text in that format to a function.
func Figures(text []byte, take func(name, labels string, value float64)) {
	for line := range bytes.Lines(text) {
		// A label may contain a space, and a value does not.
		series, value, ok := cutLast(strings.TrimSpace(string(line)))
		name, labels, _ := strings.Cut(series, "{")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			take(name, strings.TrimSuffix(labels, "}"), v)
		}
	}
}

// cutLast cuts a line at its last space.
func cutLast(line string) (before, after string, ok bool) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 || line[0] == '#' {
		return line, "", false
	}
	return line[:at], line[at+1:], true
}
