package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/twin"
)

// Limits of lists.
const (
	listedShares  = 20   // of a tag's values
	rankedSeries  = 16   // parts of the series
	rankedRows    = 8    // parts of few rows
	manyRows      = 500  // from which parts at both ends are narrow
	leastCategory = 0.01 // share of a category that is listed
	leastData     = 10   // rows
)

// Spec returns the specification of a twin: as many series as the data has, and as long. The names of
// tables and columns are replaced unless they are kept.
func (s *Statistics) Spec(keepNames bool) (workload.Spec, error) {
	if s.rows < leastData || s.first == s.last {
		return workload.Spec{}, fmt.Errorf("a twin needs at least %d rows, at two different times or more; rows: %d, times: %s to %s; give more rows",
			leastData, s.rows, time.Unix(0, s.first).UTC().Format(time.RFC3339Nano), time.Unix(0, s.last).UTC().Format(time.RFC3339Nano))
	}
	precision := precisionOf(s.step)
	main := s.groups[0].tables[0]
	for _, t := range s.tables() {
		if t.rows > main.rows {
			main = t
		}
	}
	base := digits(main.usualInterval(), 4)
	interval := time.Duration(max(int64(math.Round(base/float64(precision))), 1) * precision)
	model := twin.Model{Precision: time.Duration(precision)}
	number := 0
	for _, g := range s.groups {
		made := twin.Group{Series: uint32(g.series)}
		rows := int64(0)
		for _, t := range g.tables {
			rows += t.rows
		}
		for i := range g.tags {
			made.Tags = append(made.Tags, g.tag(i, float64(rows)/float64(g.series), keepNames))
			if parts := rankSeries(g.tags[i].perValue); len(parts) > 1 {
				made.PerValue = parts
			}
		}
		if slices.ContainsFunc(made.Tags, func(t twin.Tag) bool { return t.Rates != nil }) {
			made.RateNoise = digits(g.noise, 3)
		}
		for _, t := range g.tables {
			number++
			made.Tables = append(made.Tables, t.model(s, float64(interval), g.series, nameOf(keepNames, t.Name, "table", number), keepNames))
		}
		model.Groups = append(model.Groups, made)
	}
	// The span is as long as that of the data, and does not show its first time.
	span := max(twin.RoundUp(s.last-s.first+1, precision), int64(interval))
	if main.regular && 100*int64(interval) < span {
		span = twin.RoundUp(span, int64(interval))
	}
	unit := precision
	for _, u := range []time.Duration{time.Second, time.Minute, 10 * time.Minute, time.Hour} {
		if int64(u) <= span/20 {
			unit = int64(u)
		}
	}
	start := time.Unix(0, twin.RoundUp(s.first, unit)-unit).UTC()
	spec := workload.Spec{Name: twin.Name, Seed: 1, Scale: 1, Start: start, End: start.Add(time.Duration(span)), Interval: interval}
	text := model.String()
	if _, err := twin.Parse(text); err != nil {
		return spec, fmt.Errorf("the data has no twin: %w", err)
	}
	spec.Settings.Set(twin.ModelKey, text)
	return spec, nil
}

// usualInterval returns the interval of the series that has the middle one of the rows.
func (t *table) usualInterval() float64 {
	rows := 0.0
	for _, x := range t.intervals {
		rows += 1 / max(x, 1)
	}
	before := 0.0
	for _, x := range t.intervals {
		if before += 1 / max(x, 1); 2*before >= rows {
			return x
		}
	}
	return 1
}

// nameOf returns a name, or the one that replaces it.
func nameOf(keep bool, name, what string, number int) string {
	if keep {
		return name
	}
	return fmt.Sprint(what, number)
}

// precisionOf returns the largest of the usual units that divides all times.
func precisionOf(step int64) int64 {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if step%int64(unit) == 0 {
			return int64(unit)
		}
	}
	return 1
}

func (s *Statistics) tables() []*table {
	var list []*table
	for _, g := range s.groups {
		list = append(list, g.tables...)
	}
	return list
}

func (g *group) tag(i int, rowsPerSeries float64, keepNames bool) twin.Tag {
	t := &g.tags[i]
	name := func(i int) string { return nameOf(keepNames, g.tags[i].Key, "tag", i+1) }
	out := twin.Tag{
		Name: name(i), Values: uint32(max(len(t.counts), 1)), Grows: t.grows, Length: min(int(math.Round(t.length.mean)), 256),
		Missing: digits(float64(t.missing)/float64(max(g.series, 1)), 3), Shares: t.shares(listedShares, rowsPerSeries),
	}
	if g.hasRates(t) {
		out.Rates = t.rates(listedShares)
	}
	if t.of >= 0 {
		out.Of = name(t.of)
	}
	return out
}

// rankSeries returns the distribution of a figure of series, whose values are sorted: each has
// leastRows rows or more.
func rankSeries(sorted []float64) twin.Ranked { return rank(sorted, min(len(sorted), rankedSeries)) }

// rankRows returns the distribution of values of rows; nil: there are too few.
func rankRows(values []float64) twin.Ranked {
	sorted := slices.Sorted(slices.Values(values))
	switch n := len(sorted); {
	case n < leastRows:
		return nil
	case n >= manyRows:
		return rank(sorted, 14)
	default:
		return rank(sorted, min(rankedRows, n/leastRows))
	}
}

// rank returns the means of parts of sorted values; the mean alone if all are equal.
func rank(sorted []float64, parts int) twin.Ranked {
	n := float64(len(sorted))
	if n > 0 && sorted[0] == sorted[len(sorted)-1] {
		return twin.Ranked{digits(sorted[0], 4)}
	}
	var list twin.Ranked
	for k := range parts {
		from, to := twin.Edge(k, parts)*n, twin.Edge(k+1, parts)*n
		sum := 0.0
		for i := int(from); i < len(sorted) && float64(i) < to; i++ { // with a part of the values at the ends
			sum += sorted[i] * (min(to, float64(i+1)) - max(from, float64(i)))
		}
		list = append(list, digits(sum/(to-from), 4))
	}
	if parts > 1 && list[0] == list[parts-1] {
		return list[:1]
	}
	return list
}

// withoutNoise returns the mean alone of a distribution that is not wider than a limit.
func withoutNoise(list twin.Ranked, width float64) twin.Ranked {
	if n := len(list); n > 1 && list[n-1]-list[0] <= width {
		return twin.Ranked{digits(list.Mean(), 4)}
	}
	return list
}

func (t *table) model(s *Statistics, interval float64, series int64, name string, keepNames bool) twin.Table {
	out := twin.Table{Name: name, Regular: t.regular, Aligned: t.aligned && t.regular}
	if t.count < series {
		out.SeriesShare = digits(float64(t.count)/float64(series), 4)
	}
	multiples, rates := make([]float64, len(t.intervals)), make([]float64, len(t.intervals))
	for i, x := range t.intervals {
		multiples[i] = max(x/interval, 1e-6)
		rates[len(rates)-1-i] = 1 / multiples[i]
	}
	// The mean of rates, and not of intervals, keeps the number of rows.
	for _, rate := range slices.Backward(rankSeries(rates)) {
		out.Interval = append(out.Interval, digits(1/rate, 4))
	}
	if t.regular {
		out.Jitter = digits(t.jitter.deviation(), 3)
		if out.Jitter < 1e-4 {
			out.Jitter = 0
		}
		if share := float64(t.missing) / float64(max(t.expected, 1)); share >= 1e-5 {
			out.Gaps = twin.Gaps{Share: digits(min(share, 0.9), 3), Lengths: rankRows(t.gaps.values)}
			if out.Gaps.Lengths == nil {
				out.Gaps.Lengths = twin.Ranked{1}
			}
		}
		if quantile(t.begin, 0.95) > 0.02 || quantile(t.end, 0.05) < 0.98-interval*quantile(multiples, 0.95)/float64(s.last-s.first+1) {
			out.Begin, out.End = rankSeries(t.begin), rankSeries(t.end)
		}
	} else if out.Spacing = rankRows(t.spacing.values); out.Spacing == nil || out.Spacing.Mean() == 0 {
		out.Spacing = twin.Ranked{0.1, 0.35, 0.8, 2.75} // of events that do not depend on each other
	}
	if t.late > 0 {
		out.Late.Share = digits(min(float64(t.late)/float64(t.rowsInOrder), 0.9), 3)
		delays := rankRows(t.delays.values)
		if delays == nil {
			delays = twin.Ranked{quantile(t.intervals, 0.5)}
		}
		for _, d := range delays {
			out.Late.Delays = append(out.Late.Delays, time.Duration(d).Round(time.Duration(precisionOf(s.step))))
		}
	}
	fieldName := func(f int) string { return nameOf(keepNames, t.fields[f].Name, "field", f+1) }
	for f := range t.fields {
		out.Fields = append(out.Fields, t.fields[f].model(fieldName(f), len(t.measured)))
	}
	for _, c := range t.correlations {
		out.LevelsCorrelate = append(out.LevelsCorrelate, twin.Correlation{Fields: []string{fieldName(c.a), fieldName(c.b)}, R: digits(c.r, 2)})
	}
	return out
}

func (x *field) model(name string, measured int) twin.Field {
	out := twin.Field{
		Name: name, Type: input.TypeName(x.Type, x.Length), Class: x.class,
		Null: digits(float64(x.nulls)/float64(max(x.values+x.nulls, 1)), 3), Absent: digits(float64(x.absent)/float64(max(measured, 1)), 3),
	}
	if x.Type == series.Blob {
		out.Type = series.Text.String()
	}
	all := float64(x.rises + x.falls + x.same)
	switch x.class {
	case twin.Category, twin.Codes:
		x.categories(&out)
		out.Changes = digits(float64(x.rises+x.falls)/max(all, 1), 3)
		if x.pooled {
			out.Changes = 1
		}
		return out
	case twin.Texts:
		if out.Lengths = rankRows(x.lengths.values); out.Lengths == nil {
			out.Lengths = twin.Ranked{8}
		}
		return out
	}
	if n := x.decimals(); n >= 0 && !x.Type.Integer() {
		out.Digits = &n
	}
	if x.Type == series.Timestamp || x.Type == series.Date {
		out.Relative = true
	}
	out.Level, out.Spread, out.SpreadLevel = rankSeries(x.levels), rankSeries(x.widths), digits(x.widthLevel, 2)
	// Means of rows that do not depend on each other differ by so much even if the levels are the same.
	if perSeries := float64(x.values) / float64(max(measured, 1)); perSeries > 0 {
		out.Level = withoutNoise(out.Level, 4*out.Spread.Mean()/math.Sqrt(perSeries))
		out.Spread = withoutNoise(out.Spread, 0.1*out.Spread.Mean())
	}
	if x.class == twin.Constant {
		out.Spread = nil
		return out
	}
	if len(out.Spread) == 1 && out.Spread[0] == 0 {
		out.Spread = nil
	}
	out.Residual, out.Memory = rankRows(x.residuals.values), digits(x.memory(), 4)
	for _, y := range x.shape {
		out.Shape = append(out.Shape, digits(y, 3))
	}
	if x.class == counter {
		out.Resets = digits(float64(x.falls)/max(all, 1), 3)
		out.Start = digits(quantile(slices.Sorted(slices.Values(x.sample.values)), 0.05), 1)
		return out
	}
	sorted := slices.Sorted(slices.Values(x.sample.values))
	if n := len(sorted); n >= leastRows { // outside of the extreme values
		out.Low, out.High = outward(rank(sorted[:leastRows], 1)[0], -1), outward(rank(sorted[n-leastRows:], 1)[0], 1)
	}
	return out
}

// outward rounds a number down or up to two significant digits.
func outward(x, sign float64) float64 {
	if x == 0 {
		return 0
	}
	unit := math.Pow10(int(math.Floor(math.Log10(math.Abs(x)))) - 1)
	n := x / unit
	if n = math.Round(n); sign*n < sign*x/unit-1e-9 {
		n += sign
	}
	return digits(n*unit, 2)
}

// categories lists the shares of different values. Rare ones are only counted.
func (x *field) categories(out *twin.Field) {
	type category struct {
		value float64
		n     int64
	}
	var list []category
	for v, n := range x.counts {
		list = append(list, category{v, n})
	}
	slices.SortFunc(list, func(a, b category) int {
		if x.Type == series.Bool || a.n == b.n { // a boolean's in order: false, true
			return cmp.Compare(a.value, b.value)
		}
		return cmp.Compare(b.n, a.n)
	})
	rare := int64(0)
	for _, c := range list {
		share := float64(c.n) / float64(x.values)
		if x.Type != series.Bool && (share < leastCategory || c.n < leastRows) {
			rare += c.n
			out.Others++
			continue
		}
		out.Shares = append(out.Shares, digits(share, 3))
		if x.class == twin.Codes {
			out.Values = append(out.Values, digits(c.value, 6))
		}
	}
	out.OthersShare = digits(float64(rare)/float64(max(x.values, 1)), 3)
	if x.class == twin.Codes { // rare codes are omitted
		out.Others, out.OthersShare = 0, 0
	}
	if x.Type == series.Bool && len(list) == 1 {
		out.Shares = []float64{1 - list[0].value, list[0].value}
	}
	if x.Type == series.Bool && len(list) == 0 || len(out.Shares) == 0 && out.OthersShare == 0 {
		out.Shares, out.Others = []float64{1}, 0
		if x.class == twin.Codes {
			out.Values = []float64{0}
		}
	}
	if x.Type.Textual() {
		out.Lengths = rankRows(x.lengths.values)
	}
}

// decimals returns the decimal places that nearly all values have at most; -1: as many as fit.
func (x *field) decimals() int {
	var places []int
	for _, v := range x.sample.values {
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if x.Type == series.Float32 {
			text = strconv.FormatFloat(v, 'f', -1, 32)
		}
		_, after, _ := strings.Cut(text, ".")
		places = append(places, len(after))
	}
	if len(places) == 0 {
		return 0
	}
	slices.Sort(places)
	if n := places[len(places)*99/100]; n <= mostDecimals {
		return n
	}
	return -1
}

// mostDecimals is the number of decimal places from which values are not decimals.
const mostDecimals = 9
