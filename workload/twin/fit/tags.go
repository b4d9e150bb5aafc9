package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/tsmark/tsmark/series"
)

// tag has the figures of a tag.
type tag struct {
	series.Tag
	counts  []int64 // series of each value
	rows    []int64 // of each value
	missing int64
	length  summary
	of      int // the tag that determines it; -1: none
	grows   bool
	// perValue is the number of series of each value of the tag that grows, sorted.
	perValue []float64
}

// mostCompared is the number of series whose tags are compared.
const mostCompared = 100_000

// finish reads the tags of the series that have rows.
func (g *group) finish(schema *series.Schema) {
	for _, t := range g.tables {
		for i, word := range t.seen {
			g.seen[i] |= word
		}
	}
	numbers := make([][]uint32, len(g.tags)) // of values, per series; 0: it lacks the tag
	known := make([]map[string]uint32, len(g.tags))
	for i := range known {
		known[i] = map[string]uint32{}
	}
	var text []byte
	for id := range schema.Series {
		if !g.seen.Has(int(id)) {
			continue
		}
		g.series++
		for i := range g.tags {
			t := &g.tags[i]
			value, ok := t.Values.Append(text[:0], id)
			text = value
			if !ok {
				t.missing++
				numbers[i] = append(numbers[i], 0)
				continue
			}
			n := known[i][string(value)]
			if n == 0 {
				n = uint32(len(known[i]) + 1)
				known[i][string(value)] = n
				t.counts, t.rows = append(t.counts, 0), append(t.rows, 0)
				t.length.add(float64(len(value)))
			}
			t.counts[n-1]++
			t.rows[n-1] += g.rows[id]
			numbers[i] = append(numbers[i], n)
		}
	}
	g.findDependencies(numbers)
	g.findNoise(numbers)
	growing := -1
	for i := range g.tags {
		if t := &g.tags[i]; t.of < 0 && (growing < 0 || len(t.counts) > len(g.tags[growing].counts)) {
			growing = i
		}
	}
	for i := range g.tags {
		t := &g.tags[i]
		// Nearly each value of the tag that determines it has its own.
		t.grows = i == growing || t.of == growing && growing >= 0 && 2*len(t.counts) > len(g.tags[growing].counts)
	}
	if growing >= 0 {
		for _, n := range g.tags[growing].counts {
			g.tags[growing].perValue = append(g.tags[growing].perValue, float64(n))
		}
		slices.Sort(g.tags[growing].perValue)
	}
	for i := range g.tags { // the order would show the order of the series
		g.tags[i].sort()
	}
	g.rows = nil
}

// sort sorts the values by their numbers of series, and of rows.
func (t *tag) sort() {
	order := make([]int, len(t.counts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.counts[b], t.counts[a]), cmp.Compare(t.rows[b], t.rows[a]), a-b)
	})
	counts, rows := slices.Clone(t.counts), slices.Clone(t.rows)
	for i, from := range order {
		t.counts[i], t.rows[i] = counts[from], rows[from]
	}
}

// hasRates reports whether the rates of the values are of interest: not if nearly each series has its
// own value.
func (g *group) hasRates(t *tag) bool {
	return 2*int64(len(t.counts)) <= g.series && t.rates(len(t.counts)) != nil
}

// findNoise finds how much the rows of series differ beside the rates of tags.
func (g *group) findNoise(numbers [][]uint32) {
	var rest summary
	at := 0
	rows := int64(0)
	for _, t := range g.tables {
		rows += t.rows
	}
	mean := float64(rows) / float64(max(g.series, 1))
	var rated []int
	for i := range g.tags {
		if g.hasRates(&g.tags[i]) {
			rated = append(rated, i)
		}
	}
	for id, n := range g.rows {
		if !g.seen.Has(id) {
			continue
		}
		expected := mean
		for _, i := range rated {
			if t := &g.tags[i]; numbers[i][at] > 0 {
				value := numbers[i][at] - 1
				expected *= float64(t.rows[value]) / float64(t.counts[value]) / mean
			}
		}
		rest.add(math.Log(float64(n) / expected))
		at++
	}
	g.noise = rest.deviation()
}

// rates returns the rows of a series with one of the most frequent values, at most n, in a mean of all;
// nil: they are about equal.
func (t *tag) rates(n int) []float64 {
	rows, count, differ := int64(0), int64(0), false
	for i := range t.counts {
		rows, count = rows+t.rows[i], count+t.counts[i]
	}
	var list []float64
	for i := range t.counts[:min(n, len(t.counts))] {
		if t.rows[i] < leastRows {
			break
		}
		rate := digits(float64(t.rows[i])/float64(t.counts[i])/(float64(rows)/float64(count)), 3)
		differ = differ || math.Abs(rate-1) > leastRate
		list = append(list, rate)
	}
	if !differ {
		return nil
	}
	return list
}

// leastRate is the difference of rates from their mean that a twin has.
const leastRate = 0.1

// findDependencies finds for each tag the tag with fewest values that determines it.
func (g *group) findDependencies(numbers [][]uint32) {
	for i := range g.tags {
		g.tags[i].of = -1
	}
	for b := range g.tags {
		for a := range g.tags {
			t, of := &g.tags[b], &g.tags[a]
			switch more := len(of.counts) - len(t.counts); {
			case a == b || len(t.counts) < 2 && t.missing == 0, more < 0, more == 0 && a > b:
			case t.of >= 0 && len(g.tags[t.of].counts) <= len(of.counts):
			case determines(numbers[a], numbers[b]):
				t.of = a
			}
		}
	}
}

// determines reports whether a value of one tag always comes with the same value of another.
func determines(a, b []uint32) bool {
	with := make(map[uint32]uint32)
	for i := range min(len(a), mostCompared) {
		if other, ok := with[a[i]]; ok && other != b[i] {
			return false
		}
		with[a[i]] = b[i]
	}
	return true
}

// shares returns the shares of series of the most frequent values, at most n. A value without
// leastRows rows, about, is not listed.
func (t *tag) shares(n int, rowsPerSeries float64) []float64 {
	total := int64(0)
	for _, c := range t.counts {
		total += c
	}
	var list []float64
	for i, c := range t.counts {
		if i == n || float64(c)*rowsPerSeries < leastRows {
			break
		}
		list = append(list, digits(float64(c)/float64(total), 3))
	}
	if len(list) > 0 && t.counts[0] == t.counts[len(t.counts)-1] {
		return nil // all are equally frequent
	}
	return list
}

// digits rounds a number to a number of significant digits.
func digits(x float64, n int) float64 {
	if x == 0 || x-x != 0 {
		return 0
	}
	unit := math.Pow10(int(math.Floor(math.Log10(math.Abs(x)))) + 1 - n)
	if unit < 1 { // multiples of a unit such as 0.01 are not exact
		by := math.Round(1 / unit)
		return math.Round(x*by) / by
	}
	return math.Round(x/unit) * unit
}
