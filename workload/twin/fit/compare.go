package fit

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	gonum "gonum.org/v1/gonum/stat"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/workload/twin"
)

// Line is a figure of the original and of its twin.
type Line struct {
	Of             string // table, tag or field
	What           string
	Original, Twin string
	Differs        bool
}

// comparison collects lines.
type comparison struct {
	of    string
	lines []Line
}

// Tolerances within which figures do not differ. Those of values are parts of the standard deviation.
// Figures of random samples may also differ by three standard errors.
const (
	ofCounts       = 0.05 // rows, series, values of tags
	ofTimes        = 0.05
	ofShares       = 0.25 // and by leastDifference in any case
	leastShare     = 0.005
	ofValues       = 0.2 // standard deviations
	ofDeviations   = 0.2
	ofCorrelations = 0.15
)

// Compare lists the figures of an original and of its twin at scale 1, which has the same tables,
// tags and fields.
func Compare(original, made *Statistics) []Line {
	c := &comparison{of: "all"}
	c.count("rows", original.rows, made.rows)
	c.duration("time span", float64(original.last-original.first), float64(made.last-made.first), ofTimes, 0)
	c.share("rows at the time of another row of their series", float64(original.repeated)/float64(original.rows), float64(made.repeated)/float64(made.rows), float64(original.rows))
	for i, g := range original.groups {
		c.group(g, made.groups[i])
	}
	return c.lines
}

func (c *comparison) add(what, a, b string, differs bool) {
	c.lines = append(c.lines, Line{c.of, what, a, b, differs})
}

func (c *comparison) text(what, a, b string) { c.add(what, a, b, a != b) }

func (c *comparison) count(what string, a, b int64) {
	c.add(what, humanize.Comma(a), humanize.Comma(b), math.Abs(float64(a-b)) > max(ofCounts*float64(a), 0.5))
}

func (c *comparison) duration(what string, a, b, tolerance, most float64) {
	show := func(x float64) string {
		d := time.Duration(x)
		for _, unit := range []time.Duration{time.Minute, time.Second, time.Millisecond, time.Microsecond} {
			if d >= 100*unit {
				return d.Round(unit / 10).String()
			}
		}
		return d.String()
	}
	c.add(what, show(a), show(b), math.Abs(a-b) > max(tolerance*a, most))
}

// share compares shares of n things.
func (c *comparison) share(what string, a, b, n float64) {
	if a == 0 && b == 0 {
		return
	}
	show := func(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }
	p := max(a, 1/max(n, 1))
	c.add(what, show(a), show(b), math.Abs(a-b) > max(leastShare, ofShares*min(a, 1-a), 3*math.Sqrt(2*p*(1-min(p, 1))/max(n, 1))))
}

func (c *comparison) number(what string, a, b, tolerance float64) {
	show := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	c.add(what, show(a), show(b), !(math.Abs(a-b) <= tolerance+1e-9*math.Abs(a)))
}

func (c *comparison) group(a, b *group) {
	c.of = "tables"
	if len(a.tables) == 1 {
		c.of = "table " + a.tables[0].Name
	} else {
		c.of = fmt.Sprintf("%d tables from %s", len(a.tables), a.tables[0].Name)
	}
	c.count("series", a.series, b.series)
	for i := range a.tags {
		t, u := &a.tags[i], &b.tags[i]
		c.of = "tag " + t.Key
		c.count("values", int64(len(t.counts)), int64(len(u.counts)))
		most := func(t *tag, g *group) float64 {
			if len(t.counts) == 0 {
				return 0
			}
			return float64(t.counts[0]) / float64(g.series)
		}
		c.share("series with the most frequent value", most(t, a), most(u, b), float64(a.series))
		c.share("rows with the most frequent value", t.mostRows(), u.mostRows(), float64(a.series))
		c.share("series without it", float64(t.missing)/float64(a.series), float64(u.missing)/float64(b.series), float64(a.series))
		if t.of >= 0 {
			// The twin may have more dependencies by chance, if it has few series.
			holds := u.of >= 0
			c.add("depends on tag "+a.tags[t.of].Key, "yes", map[bool]string{true: "yes", false: "no"}[holds], !holds)
		}
	}
	for i, t := range a.tables {
		c.table(t, b.tables[i], len(a.tables) > 1)
	}
}

// mostRows returns the largest share of rows with one value.
func (t *tag) mostRows() float64 {
	most, all := int64(0), int64(0)
	for _, n := range t.rows {
		most, all = max(most, n), all+n
	}
	return float64(most) / float64(max(all, 1))
}

func (c *comparison) table(a, b *table, several bool) {
	c.of = "table " + a.Name
	if several {
		c.count("rows", a.rows, b.rows)
		c.count("series", a.count, b.count)
	}
	rhythm := map[bool]string{true: "regular", false: "events"}
	c.text("times", rhythm[a.regular], rhythm[b.regular])
	c.duration("time between rows of a series", median(a.intervals), median(b.intervals), ofTimes, 0)
	if a.regular && b.regular {
		c.number("jitter, in intervals", a.jitter.deviation(), b.jitter.deviation(), max(0.01, ofDeviations*a.jitter.deviation()))
		c.share("rows missing in gaps", float64(a.missing)/float64(max(a.expected, 1)), float64(b.missing)/float64(max(b.expected, 1)), float64(a.gaps.seen))
		if len(a.gaps.values) >= leastRows && len(b.gaps.values) >= leastRows {
			rows := gonum.Mean(a.gaps.values, nil)
			c.number("rows of a gap", rows, gonum.Mean(b.gaps.values, nil), max(0.5, ofShares*rows+3*rows/math.Sqrt(float64(len(a.gaps.values)))))
		}
	}
	c.share("late rows", float64(a.late)/float64(max(a.rowsInOrder, 1)), float64(b.late)/float64(max(b.rowsInOrder, 1)), float64(a.late))
	if len(a.delays.values) >= leastRows && len(b.delays.values) >= leastRows {
		c.duration("median delay of late rows", median(a.delays.values), median(b.delays.values), ofShares, median(a.intervals))
	}
	for f := range a.fields {
		c.field(&a.fields[f], &b.fields[f], a, b)
	}
	c.of = "table " + a.Name
	for _, r := range a.correlations {
		other := 0.0
		for _, s := range b.correlations {
			if s.a == r.a && s.b == r.b {
				other = s.r
			}
		}
		n := float64(min(len(a.intervals), len(b.intervals)))
		c.number(fmt.Sprintf("correlation of the levels of %s and %s", a.fields[r.a].Name, a.fields[r.b].Name), r.r, other, max(ofCorrelations, 3*(1-r.r*r.r)/math.Sqrt(n)))
	}
}

func (c *comparison) field(x, y *field, a, b *table) {
	c.of = "field " + x.Name
	c.text("class", x.class, y.class)
	nulls := func(x *field) float64 { return float64(x.nulls) / float64(max(x.values+x.nulls, 1)) }
	c.share("NULL", nulls(x), nulls(y), float64(x.values+x.nulls))
	c.share("series without it", float64(x.absent)/float64(max(len(a.measured), 1)), float64(y.absent)/float64(max(len(b.measured), 1)), float64(len(a.measured)))
	c.share("NaN and infinities", float64(x.odd)/float64(max(x.values+x.odd, 1)), float64(y.odd)/float64(max(y.values+y.odd, 1)), float64(x.values))
	steps := func(x *field) float64 { return float64(x.rises+x.falls) / float64(max(x.rises+x.falls+x.same, 1)) }
	switch {
	case x.class != y.class && (x.Type.Textual() || y.Type.Textual()):
	case x.class == twin.Texts:
		bytes := gonum.Mean(x.lengths.values, nil)
		c.number("mean bytes", bytes, gonum.Mean(y.lengths.values, nil), max(1, ofDeviations*bytes))
	case x.class == twin.Category || x.class == twin.Codes:
		c.count("different values", x.frequent(), y.frequent())
		c.share("most frequent value", x.mostFrequent(), y.mostFrequent(), float64(len(a.measured)))
		c.share("changes from row to row", steps(x), steps(y), float64(x.values))
	case x.class == counter:
		c.number("mean increase", x.change.mean, y.change.mean, ofValues*max(math.Abs(x.change.mean), x.change.deviation()))
		c.number("its standard deviation", x.change.deviation(), y.change.deviation(), ofDeviations*x.change.deviation()+levelError(x))
		c.share("resets", float64(x.falls)/float64(max(x.values, 1)), float64(y.falls)/float64(max(y.values, 1)), float64(max(x.falls, 1)))
		c.places(x, y)
	default:
		c.values(x, y)
	}
}

// values compares the values of a numeric field.
func (c *comparison) values(x, y *field) {
	deviation := x.value.deviation()
	tolerance := ofValues*deviation + levelError(x)
	c.number("mean", x.value.mean, y.value.mean, tolerance)
	c.number("standard deviation", deviation, y.value.deviation(), tolerance)
	a, b := slices.Sorted(slices.Values(x.sample.values)), slices.Sorted(slices.Values(y.sample.values))
	for _, share := range []float64{0.05, 0.5, 0.95} {
		c.number(fmt.Sprintf("p%.0f", 100*share), quantile(a, share), quantile(b, share), 1.5*tolerance)
	}
	c.places(x, y)
	if x.class == twin.Constant || x.products.n < leastRows {
		return
	}
	c.number("autocorrelation", x.products.mean, y.products.mean, ofCorrelations)
	if x.shapeShare > 0 || y.shapeShare > 0 {
		c.number("variance by hour, as a share", x.shapeShare, y.shapeShare, ofCorrelations)
	}
}

// levelError is the tolerance that comes from few series, whose levels are drawn, or from few values.
func levelError(x *field) float64 {
	var m summary
	for _, v := range x.levels {
		m.add(v)
	}
	return 0.5*m.deviation() + 3*x.value.deviation()/math.Sqrt(float64(max(x.value.n, 1)))
}

// frequent returns the number of different values, without the rare codes that a twin omits.
func (x *field) frequent() int64 {
	n := int64(0)
	for _, c := range x.counts {
		if x.class == twin.Category || float64(c) >= leastCategory*float64(x.values) && c >= leastRows {
			n++
		}
	}
	return n
}

func (x *field) mostFrequent() float64 {
	most := int64(0)
	for _, n := range x.counts {
		most = max(most, n)
	}
	return float64(most) / float64(max(x.values, 1))
}

func (c *comparison) places(x, y *field) {
	show := func(n int) string {
		if n < 0 {
			return "all"
		}
		return strconv.Itoa(n)
	}
	if !x.Type.Integer() {
		c.text("decimal places", show(x.decimals()), show(y.decimals()))
	}
}

// Write writes lines as a table of text, and marks the figures that differ.
func Write(w io.Writer, lines []Line) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\tfigure\toriginal\ttwin\t")
	before, differ := "", 0
	for _, l := range lines {
		of, mark := l.Of, ""
		if of == before {
			of = ""
		}
		if before = l.Of; l.Differs {
			mark, differ = "differs", differ+1
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", printable.OneLine(of), l.What, l.Original, l.Twin, mark)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d of %d figures differ\n", differ, len(lines))
	return err
}
