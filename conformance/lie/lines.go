package lie

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// asksLines reports whether a request queries InfluxDB 3, whose answer is lines of JSON,
// a row each.
func asksLines(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/query_sql") }

// linesOf is the query of such a request, without the comments before it.
func linesOf(body []byte) string {
	var asked struct {
		Query string `json:"q"`
	}
	_ = json.Unmarshal(body, &asked) // of what is none the server says so
	text := asked.Query
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// linesAnswer is the lines of an answer; one empty one: there are none.
type linesAnswer [][]byte

func (a linesAnswer) count() int {
	if len(a) == 1 && len(a[0]) == 0 {
		return 0
	}
	return len(a)
}

// with implements rowsOf.
func (a linesAnswer) with(order []int) ([]byte, error) {
	var out bytes.Buffer
	for _, i := range order {
		out.Write(append(bytes.Clone(a[i]), '\n'))
	}
	return out.Bytes(), nil
}
