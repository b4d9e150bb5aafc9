package verify

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
)

// exactDoubles is the limit up to which doubles represent all whole numbers: sums of whole numbers
// are exact in any order if their absolute values add up to at most this.
const exactDoubles = 1 << 53

// compareContents returns the first difference in the values' figures; empty: none. If duplicates
// are included only counts can be compared, which happened before.
func (c *census) compareContents(counted *driver.Census, duplicates bool) string {
	problem := ""
	found := func(p string) {
		if problem == "" && p != "" {
			problem = fmt.Sprintf("table %s: %s", c.expected.Table.Name, p)
		}
	}
	if !duplicates {
		by, p := compareTimes(&c.expected.Times, &counted.Times)
		c.result.Contents.Times = by
		found(p)
	}
	for i, f := range c.expected.Table.Fields {
		expected, content := &c.expected.Fields[i], &counted.Fields[i]
		if off := content.Count - expected.Count; max(off, -off) > c.openCount(i) && !duplicates {
			found(fmt.Sprintf("it holds %d values of %s, %d expected", content.Count, f.Name, expected.Count))
		}
		by := "count"
		if !duplicates {
			var p string
			if by, p = compareContent(f, expected, content, counted.Digits); p != "" && c.open != nil && c.open[i].explains(f, expected, content, rounding(counted.Digits)) {
				p = ""
			}
			found(p)
		}
		c.countCompared(by)
	}
	return problem
}

// countCompared counts one more field that was compared by these figures.
func (c *census) countCompared(by string) {
	list := &c.result.Contents.Fields
	for i := range *list {
		if (*list)[i].By == by {
			(*list)[i].Fields++
			return
		}
	}
	*list = append(*list, result.Compared{By: by, Fields: 1})
}

// compareTimes compares the times of rows.
func compareTimes(expected *oracle.Content, found *driver.Content) (by, problem string) {
	var figures []string
	column := query.Column{Kind: query.Time}
	for _, bound := range []struct {
		name            string
		expected, found *query.Value
	}{{"first", &expected.Min, found.Min}, {"last", &expected.Max, found.Max}} {
		if bound.found == nil {
			continue
		}
		figures = append(figures, bound.name)
		if problem == "" && !column.Equal(*bound.expected, *bound.found) {
			problem = fmt.Sprintf("the %s time of a row is %v, expected %v", bound.name, bound.found, bound.expected)
		}
	}
	if found.Sum != nil {
		figures = append(figures, "sum")
		if problem == "" && !wholeSum(expected, *found.Sum) {
			problem = "the sum of the times of its rows differs from the generated one"
		}
	}
	return strings.Join(figures, ", "), problem
}

// compareContent compares the figures of a field's values other than their count. Doubles are
// compared to the given number of digits; 0: exactly.
func compareContent(f series.Field, expected *oracle.Content, found *driver.Content, digits int) (by, problem string) {
	rounding := rounding(digits)
	if f.Type.UsesInts() {
		rounding = 0
	}
	figures := []string{"count"}
	if found.Sum != nil && (f.Type.UsesInts() || expected.Special == 0 && expected.Size <= math.MaxFloat64) {
		name := "sum"
		if f.Type.Textual() {
			name = "digest"
		}
		figures = append(figures, name)
		switch {
		case sameSum(f.Type, expected, found, rounding):
		case f.Type.Textual():
			problem = fmt.Sprintf("the digest of the texts of %s differs from the generated one", f.Name)
		case found.Scaled:
			problem = fmt.Sprintf("sum of %s is %v, expected %s, in units of %v", f.Name, found.Sum, expected.Whole, math.Pow10(-f.Decimals))
		default:
			problem = fmt.Sprintf("sum of %s is %v, expected %s", f.Name, found.Sum, sumText(f.Type, expected))
		}
	}
	column := query.Column{Kind: query.KindOf(f.Type)}
	for _, edge := range []struct {
		name            string
		expected, found *query.Value
	}{{"min", &expected.Min, found.Min}, {"max", &expected.Max, found.Max}} {
		if edge.found == nil || expected.Count > 0 && edge.expected.Kind == query.Null {
			continue
		}
		figures = append(figures, edge.name)
		if problem == "" && !column.Equal(*edge.expected, *edge.found) && !nearly(*edge.expected, *edge.found, rounding) {
			problem = fmt.Sprintf("%s of %s is %v, expected %v", edge.name, f.Name, edge.found, edge.expected)
		}
	}
	return strings.Join(figures, ", "), problem
}

// rounding is the relative error of a double on a target that stores the given number of digits;
// for 0 digits it is 0.
func rounding(digits int) float64 {
	if digits == 0 {
		return 0
	}
	return math.Pow10(1 - digits)
}

// nearly reports whether a value equals the expected double within the relative error rounding.
func nearly(expected, found query.Value, rounding float64) bool {
	if found.Kind == query.Int {
		found = query.Value{Kind: query.Float, Float: float64(found.Int)}
	}
	return rounding > 0 && expected.Kind == query.Float && found.Kind == query.Float &&
		math.Abs(expected.Float-found.Float) <= rounding*math.Abs(expected.Float)
}

// sumText formats the expected sum for messages.
func sumText(t series.Type, expected *oracle.Content) string {
	if t.UsesInts() {
		return expected.Whole.String()
	}
	return query.Value{Kind: query.Float, Float: expected.Float}.String()
}

// sameSum reports whether a sum of a field's values matches the expected one.
func sameSum(t series.Type, expected *oracle.Content, content *driver.Content, rounding float64) bool {
	found := *content.Sum
	switch {
	case found.Kind == query.Null:
		return expected.Count == 0
	case t.UsesInts() || content.Scaled:
		return wholeSum(expected, found)
	case found.Kind == query.Int: // JSON has no fraction for a whole double
		found.Float = float64(found.Int)
	case found.Kind != query.Float:
		return false
	}
	return math.Abs(found.Float-expected.Float) <= query.SumBound(expected.Count, expected.Size)+rounding*expected.Size
}

// wholeSum reports whether a sum of whole numbers matches: modulo 2^64, since some systems have
// only 64 bits; for a system that returns doubles, exactly if all partial sums are exact, else
// within SumBound.
func wholeSum(expected *oracle.Content, found query.Value) bool {
	switch found.Kind {
	case query.Null:
		return expected.Count == 0
	case query.Float:
		most := math.Max(math.Abs(float64(expected.Min.Int)), math.Abs(float64(expected.Max.Int)))
		size := most * float64(expected.Count)
		if size <= exactDoubles {
			return found.Float == expected.Whole.Float()
		}
		return math.Abs(found.Float-expected.Whole.Float()) <= query.SumBound(expected.Count, size)
	}
	return uint64(found.Int) == expected.Whole.Low
}

// compareSeries compares the tags of the series that have rows and returns the first difference.
func (c *census) compareSeries(ctx context.Context) (problem string, err error) {
	table := c.expected.Table
	if c.target.ListSeries == nil || len(table.Tags) == 0 {
		return "", nil
	}
	list := &seriesList{expected: c.expected, table: table}
	if err := c.target.ListSeries(ctx, c.survey.Schema, table, list); err != nil {
		return "", fmt.Errorf("listing its series: %w", err)
	}
	want := c.expected.Series
	found := query.NewSeriesSet(table, true)
	if list.found != nil {
		want, found = list.want, list.found
	}
	c.result.Contents.Series = int64(want.Len())
	switch missing := want.Len() - want.Common(found); {
	case list.strange != "":
		return fmt.Sprintf("table %s has a series that was not generated: %s", table.Name, list.strange), nil
	case missing > 0:
		return fmt.Sprintf("table %s has no rows of %d of %d series", table.Name, missing, want.Len()), nil
	}
	return "", nil
}

// seriesList is a query.Sink for the tags of series.
type seriesList struct {
	expected    *oracle.Census
	table       *series.Table
	want, found *query.SeriesSet // nil: no row yet
	strange     string           // the first unexpected series
}

// Row implements query.Sink.
func (l *seriesList) Row(row []query.Value) error {
	if l.found == nil {
		l.want = l.expected.Series
		numeric := len(row) == len(l.want.Columns())
		if !numeric {
			l.want = l.expected.TextSeries
		}
		l.found = query.NewSeriesSet(l.table, numeric)
	}
	if len(row) != len(l.want.Columns()) {
		return fmt.Errorf("a series has %d tags, and the table %d", len(row), len(l.want.Columns()))
	}
	l.found.Add(row)
	if l.strange == "" && !l.want.Has(row) {
		const shown = 4
		for i, v := range row {
			if i == shown {
				l.strange += ", …"
				break
			}
			if i > 0 {
				l.strange += ", "
			}
			l.strange += l.want.Columns()[i].Name + "=" + v.String()
		}
	}
	return nil
}
