package twin

import (
	"math"
	"math/bits"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
)

// Products are rounded before they are added, so that processors with a fused multiplication give the
// same rows as others.

// Normal scores are in [-bound, bound]. A curve has values at equal distances in it.
const (
	bound  = 3.75
	cells  = 256
	normal = 1024 // parts of equal probability of the normal distribution
)

// scores are the normal scores at the ends of parts of equal probability.
type scores [normal + 1]float64

func newScores() *scores {
	var s scores
	for i := range s {
		p := min(max(float64(i)/normal, 0.0001), 0.9999)
		s[i] = math.Sqrt2 * math.Erfinv(2*p-1)
	}
	return &s
}

// score returns a normal score from random bits.
func (s *scores) score(x uint64) float64 {
	k := x >> 54
	part := float64(x>>22&(1<<32-1)) * (1.0 / (1 << 32))
	return s[k] + float64((s[k+1]-s[k])*part)
}

// curve turns normal scores into values.
type curve [cells + 2]float64

// newCurve makes the curve of a distribution. Standard means that its mean becomes 0 and its standard
// deviation 1.
func newCurve(r Ranked, standard bool) *curve {
	var c curve
	mean, square, weight := 0.0, 0.0, 0.0
	for i := range c {
		z := -bound + 2*bound*float64(i)/cells
		c[i] = r.Value(math.Erfc(-z/math.Sqrt2) / 2)
		w := math.Exp(-z * z / 2)
		mean, square, weight = mean+float64(w*c[i]), square+float64(w*c[i]*c[i]), weight+w
	}
	mean /= weight
	deviation := math.Sqrt(max(square/weight-float64(mean*mean), 0))
	if standard {
		for i := range c {
			if c[i] -= mean; deviation > 0 {
				c[i] /= deviation
			}
		}
	}
	return &c
}

// value returns the value of a normal score.
func (c *curve) value(z float64) float64 {
	x := float64((min(max(z, -bound), bound) + bound) * (cells / (2 * bound)))
	k := int(x)
	return c[k] + float64((c[k+1]-c[k])*(x-float64(k)))
}

// column generates the values of a field.
type column struct {
	*Field
	kind       series.Type
	length     int
	categories categories
	change     float64 // probability of a new draw of the category
	fresh      float64 // weight of the new part of a residual
	residual   *curve
	scale      float64 // of residuals, beside the shape
	shape      []float64
	period     int64 // of the shape
	power      float64
	least      float64 // bounds of values
	most       float64
	lengths    *curve
}

// fieldState is what a series remembers of a field.
type fieldState struct {
	score         float64 // of the residual
	level, spread float64
	value         float64 // of a counter; the category
	absent        bool
}

const hour = int64(3600e9)

func newColumn(f *Field) column {
	c := column{Field: f, scale: 1, least: math.Inf(-1), most: math.Inf(1)}
	c.kind, c.length, _ = f.kind()
	switch f.Class {
	case Category, Codes:
		c.categories = newCategories(f.Shares, uint64(f.Others), f.OthersShare)
		if other := 1 - c.categories.squares(); other > 0 {
			c.change = min(f.Changes/other, 1)
		}
	case Texts:
		c.lengths = newCurve(f.Lengths, false)
	}
	c.fresh = math.Sqrt(max(1-float64(f.Memory*f.Memory), 0))
	if len(f.Residual) > 0 {
		c.residual = newCurve(f.Residual, true)
	}
	if n := len(f.Shape); n > 0 {
		square := 0.0
		for _, x := range f.Shape {
			square += x * x / float64(n)
		}
		c.shape, c.period, c.scale = f.Shape, int64(n)*hour, math.Sqrt(max(1-square, 0))
	}
	if f.Digits != nil {
		c.power = math.Pow10(*f.Digits)
	}
	if c.kind.Integer() {
		c.power = 1
		least, most := c.kind.Bounds()
		c.least, c.most = float64(least), float64(most)
		if c.kind == series.Int { // the largest integer is not a float64
			c.least, c.most = -1<<62, 1<<62
		}
	}
	if f.Class != Counter && f.Low < f.High {
		c.least, c.most = max(c.least, f.Low), min(c.most, f.High)
	}
	return c
}

// place is where in the shape a time is: the hour before, and the part of the way to the next one.
type place struct {
	hour int
	part float64
}

// monday is a Monday's midnight (UTC), with which the week of a shape begins.
const monday = 4 * 24 * hour

// placeOf returns the place of a time. The value of an hour is that at its middle.
func placeOf(t int64) place {
	t = (t - monday - hour/2) % (hoursOfWeek * hour)
	if t < 0 {
		t += hoursOfWeek * hour
	}
	return place{int(t / hour), float64(t%hour) * (1 / float64(hour))}
}

func (c *column) shapeAt(p place) float64 {
	n := len(c.shape)
	if n == hoursOfDay {
		p.hour %= hoursOfDay
	}
	next := p.hour + 1
	if next == n {
		next = 0
	}
	return c.shape[p.hour] + float64((c.shape[next]-c.shape[p.hour])*p.part)
}

// number draws the next value of a numeric field.
func (c *column) number(s *fieldState, n *scores, x uint64, p place, t int64) float64 {
	switch c.Class {
	case Codes:
		c.drawCategory(s, x)
		return c.Values[int(s.value)]
	case Constant:
		return c.round(s.level, t)
	}
	v := s.level
	if c.residual != nil && s.spread > 0 {
		s.score = float64(c.Memory*s.score) + float64(c.fresh*n.score(x))
		y := float64(c.scale * c.residual.value(s.score))
		if c.shape != nil {
			y += c.shapeAt(p)
		}
		v += float64(s.spread * y)
	}
	if c.Class == Counter {
		v = max(v, 0)
		if s.value += v; c.Resets > 0 && splitmix.Unit(splitmix.Mix(x)) < c.Resets {
			s.value = v
		}
		v = s.value
	}
	return c.round(v, t)
}

// drawCategory keeps the category of the row before, or draws a new one.
func (c *column) drawCategory(s *fieldState, x uint64) {
	if splitmix.Unit(x<<20) < c.change {
		s.value = float64(c.categories.category(splitmix.Unit(bits.ReverseBytes64(x))))
	}
}

// round returns a value with the digits of the field, within its bounds.
func (c *column) round(v float64, t int64) float64 {
	if v = min(max(v, c.least), c.most); c.power > 0 && math.Abs(v) < 1<<52/c.power {
		v = math.Round(v*c.power) / c.power
	}
	if c.kind == series.Float32 {
		return float64(float32(v))
	}
	return v
}

// integer draws the next value of a field whose columns hold integers.
func (c *column) integer(s *fieldState, n *scores, x uint64, p place, t int64) int64 {
	switch {
	case c.Class == Category:
		c.drawCategory(s, x)
		if c.length > 0 { // scattered: the factor has no divisor in common with the number of texts
			return (int64(s.value)*7919 + 12_345) % series.Texts(c.length)
		}
		return int64(s.value)
	case c.Class == Texts && c.length > 0:
		return int64(splitmix.Scale(x, uint64(series.Texts(c.length))))
	case c.Class == Texts:
		return int64(x)
	}
	v := c.number(s, n, x, p, t)
	switch c.kind {
	case series.Timestamp, series.Date:
		at := int64(v * 1e9)
		if c.Relative {
			at += t
		}
		if c.kind == series.Date {
			return int64(math.Floor(float64(at) / float64(24*hour)))
		}
		return at
	}
	return int64(v)
}

// appendText appends the text of a free field from the number that integer returned.
func (c *column) appendText(dst []byte, number int64, n *scores) []byte {
	x := uint64(number)
	if c.Class == Category {
		x = splitmix.Mix(x + splitmix.MixText(c.Name))
	}
	length := int(math.Round(c.lengthAt(n, x)))
	for i := range length {
		if i%8 == 0 {
			x = splitmix.Mix(x + splitmix.Golden)
		}
		dst = append(dst, letter(x<<(8*(i%8))))
	}
	return dst
}

// lengthAt returns the length of a text with random bits.
func (c *column) lengthAt(n *scores, x uint64) float64 {
	if c.lengths == nil {
		return 8
	}
	return max(c.lengths.value(n.score(x)), 0)
}

// begin draws the first states of a series' fields. Their levels correlate as the factor of the
// table's correlations says, and come from independent normal scores.
func (t *table) begin(states []fieldState, independent []float64, random *splitmix.Stream) {
	for i := range states {
		c, s := &t.columns[i], &states[i]
		z := independent[i]
		if t.factor != nil {
			z = 0
			for j, w := range t.factor[i] {
				z += float64(w * independent[j])
			}
		}
		s.level = c.Level.Value(math.Erfc(-z/math.Sqrt2) / 2)
		w := float64(c.SpreadLevel*z) + float64(math.Sqrt(1-float64(c.SpreadLevel*c.SpreadLevel))*t.scores.score(random.Next()))
		s.spread = c.Spread.Value(math.Erfc(-w/math.Sqrt2) / 2)
		s.score = t.scores.score(random.Next())
		if c.Class == Counter {
			s.value = c.round(float64(c.Start*splitmix.Unit(random.Next()))*2, 0)
		}
		if c.Class == Category || c.Class == Codes {
			s.value = float64(c.categories.category(splitmix.Unit(random.Next())))
		}
		s.absent = splitmix.Unit(random.Next()) < c.Absent
	}
}

// factorOf returns the Cholesky factor of the correlations of a table's levels; nil: they have no
// correlations. Correlations that contradict each other are weakened until they have one.
func factorOf(t *Table) [][]float64 {
	if len(t.LevelsCorrelate) == 0 {
		return nil
	}
	n := len(t.Fields)
	for weaken := 1.0; ; weaken *= 0.95 {
		matrix := make([][]float64, n)
		for i := range matrix {
			matrix[i] = make([]float64, i+1)
			matrix[i][i] = 1
		}
		for _, c := range t.LevelsCorrelate {
			i, j := t.field(c.Fields[0]), t.field(c.Fields[1])
			if i != j {
				matrix[max(i, j)][min(i, j)] = c.R * weaken
			}
		}
		if decompose(matrix) {
			return matrix
		}
	}
}

// decompose replaces the lower triangle of a matrix by its Cholesky factor; false: it has none.
func decompose(m [][]float64) bool {
	for i := range m {
		for j := range i + 1 {
			x := m[i][j]
			for k := range j {
				x -= float64(m[i][k] * m[j][k])
			}
			switch {
			case i != j && m[j][j] == 0:
				m[i][j] = 0
			case i != j:
				m[i][j] = x / m[j][j]
			case x < -1e-6:
				return false
			default:
				m[i][i] = math.Sqrt(max(x, 0))
			}
		}
	}
	return true
}
