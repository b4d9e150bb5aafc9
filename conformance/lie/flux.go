package lie

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// queriesFlux ends the paths to which InfluxDB 2's users send queries in Flux.
const queriesFlux = "/api/v2/query"

// fluxRows finds queries in Flux that read rows: their first line names the columns of
// the answer, a time and others; tsmark counts by others.
var fluxRows = regexp.MustCompile(`^// columns "_time", `)

// asksFlux reports whether a request carries a query in Flux.
func asksFlux(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, queriesFlux) }

// fluxOf is the query in the body of a request.
func fluxOf(body []byte) string {
	var sent struct{ Query string }
	_ = json.Unmarshal(body, &sent) // else it is none
	return sent.Query
}

// csvAnswer is an answer in annotated CSV, without line breaks in its texts.
type csvAnswer struct {
	lines []string
	rows  []int // of the lines
}

func parseCSV(body []byte) *csvAnswer {
	a := &csvAnswer{lines: strings.SplitAfter(string(body), "\n")}
	named := false // the annotation came, and not the names yet
	for i, line := range a.lines {
		switch {
		case strings.HasPrefix(line, "#"):
			named = true
		case named:
			named = false
		case strings.HasPrefix(line, ","):
			a.rows = append(a.rows, i)
		}
	}
	return a
}

func (a *csvAnswer) count() int { return len(a.rows) }

// with returns the answer with other rows, each in the table that it came from.
func (a *csvAnswer) with(order []int) ([]byte, error) {
	times := make(map[int]int, len(order)) // by line
	for _, row := range order {
		times[a.rows[row]]++
	}
	var out strings.Builder
	next := 0
	for i, line := range a.lines {
		n := 1
		if next < len(a.rows) && a.rows[next] == i {
			n, next = times[i], next+1
		}
		out.WriteString(strings.Repeat(line, n))
	}
	return []byte(out.String()), nil
}
