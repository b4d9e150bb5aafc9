package iotdb

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// filter is the value filter of queries.
type filter struct {
	compare  query.Comparison
	constant float64
	drawn    bool // each query has a constant of its own, drawn from the values of its first sensor
}

// drawnConstant stands for the constant of a filter that is drawn.
const drawnConstant = "drawn"

// parseFilter parses an operator and a constant, as in "> -5".
func parseFilter(text string) (filter, error) {
	for _, c := range []query.Comparison{query.Greater, query.Less, query.Equal} {
		constant, found := strings.CutPrefix(text, c.String())
		if !found {
			continue
		}
		constant = strings.TrimSpace(constant)
		if c == query.Equal && constant == drawnConstant {
			return filter{compare: c, drawn: true}, nil
		}
		if v, err := strconv.ParseFloat(constant, 64); err == nil && math.Abs(v) <= 1e15 {
			return filter{compare: c, constant: v}, nil
		}
	}
	return filter{}, fmt.Errorf("must be >, < or = and a number from -1e15 to 1e15, such as \"> -5\", or \"= %s\"", drawnConstant)
}

// CheckFilter checks a value filter: an operator and a constant, as in "> -5".
func CheckFilter(text string) error {
	_, err := parseFilter(text)
	return err
}

// drawValue draws a value that the dataset has for the first device and sensor of a query in its window.
func (s *settings) drawValue(r *stream, q *query.Query, sensors []sensor) float64 {
	src := s.sourceOf(q)
	k := r.intBelow(s.rows)
	if start, end := q.Bounds(); !q.Start.IsZero() {
		k = min((start-s.start+r.intBelow(end-start))/s.step, s.rows-1)
		if s.time(src, k) < start && k < s.rows-1 {
			k++
		}
	}
	number, _ := strconv.Atoi(strings.TrimPrefix(q.Filter.Field, "s_")) // this package wrote it
	n := &sensors[number]
	c := series.Column{Ints: make([]int64, 1), Floats: make([]float64, 1)}
	s.fill(&c, make([]float64, 1), src.device, n, []row{{at: k}}, []int64{s.time(src, k)})
	if held[n.kind].UsesInts() {
		return float64(c.Ints[0])
	}
	return c.Floats[0]
}
