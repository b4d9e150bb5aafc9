package metrics

import (
	"math"
	"strconv"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
)

// Products are rounded before they are added, so that processors with a fused multiplication give the
// same values as others.

// Noise of gauges, as a share of their level.
const (
	noise        = 0.3
	limitedNoise = 0.1
	// counterNoise is the noise of counters, in intervals' worth of events. It stays below the least
	// pace of work, so that counters do not fall.
	counterNoise = leastUse - 0.01
)

// Scrapes for which values stay the same, as binary logarithms.
const (
	slowFor  = 5
	stateFor = 6
)

// Scrapes after which a reset counter begins again, at least, and how many more at most.
const (
	leastReset = 64
	moreReset  = 256
)

// setValues sets how values follow from their class, for an interval in seconds.
func (p *part) setValues(interval float64) {
	p.up, p.down, p.step = 1, 1, 1
	switch p.resolution {
	case full:
		p.step = 0
	case tenths:
		p.down, p.step = 10, 10
	case cents:
		p.down, p.step = 100, 100
	case millis:
		p.down, p.step = 1000, 1000
	case nanos:
		p.down, p.step = 1e9, 1e9
	case pages:
		p.up, p.step = 4096, 1.0/4096
	}
	p.rate = p.entry.size * interval
	if p.step > 0 {
		p.rate *= p.step
	}
	switch p.class.shownClass() {
	case classicBuckets:
		p.setShapes(classicLimits())
	case nativeBuckets:
		p.setShapes(nativeLimits())
	}
}

// round returns the multiple of the part's resolution below x.
func (p *part) round(x float64) float64 {
	if p.step == 0 {
		return x
	}
	return math.Floor(x*p.step) * p.up / p.down
}

// factor turns random bits into a factor for a level: 0.5 to 1.5.
func factor(x uint64) float64 { return 0.5 + splitmix.Unit(x) }

// spread turns random bits into a factor for a rate, 0.25 to 4, mostly below 1.
func spread(x uint64) float64 {
	u := splitmix.Unit(x)
	return 0.25 + float64(3.75*float64(u*float64(u*u)))
}

// fill computes the values of an entity in a part. Each series has a stream of random bits; those of one
// entity are consecutive.
func (p *part) fill(values []float64, owner uint32, c *clock, t *scrape) {
	stream := p.seed + uint64(owner)*uint64(p.count)*splitmix.Golden
	now := uint64(t.epoch) * perEpoch
	switch p.class {
	case constant:
		v := p.entry.size
		for i := range values {
			values[i] = v
			if p.resolution == pages { // memory comes in sizes
				values[i] = v * float64(uint64(1)<<(splitmix.Mix(stream+uint64(i)*splitmix.Golden)&3))
			}
		}
	case slowGauge:
		for i := range values {
			h := splitmix.Mix(stream + uint64(i)*splitmix.Golden)
			step := (uint64(t.epoch) + h>>20&(1<<slowFor-1)) >> slowFor
			values[i] = p.round(p.entry.size * factor(h) * (1 + float64(noise*(splitmix.Unit(splitmix.Mix(h+step*perEpoch))-0.5))))
		}
	case noisyGauge, limitedGauge:
		load := 1 + float64(noise*(c.load-1))
		noise := noise
		if p.class == limitedGauge {
			noise = limitedNoise
		}
		for i := range values {
			h := splitmix.Mix(stream + uint64(i)*splitmix.Golden)
			values[i] = p.round(p.entry.size * factor(h) * (load + float64(noise*(splitmix.Unit(splitmix.Mix(h+now))-0.5))))
		}
	case busyCounter:
		for i := range values {
			h := splitmix.Mix(stream + uint64(i)*splitmix.Golden)
			rate := p.rate * spread(h)
			y := float64(rate*c.work) + float64(rate*counterNoise)*splitmix.Unit(splitmix.Mix(h+now))
			if p.step > 0 {
				y = math.Floor(y) * p.up / p.down
			}
			values[i] = y
		}
	case sparseCounter:
		for i := range values {
			h := splitmix.Mix(stream + uint64(i)*splitmix.Golden)
			values[i] = events(p.rate*spread(h)*c.work, h) * p.up / p.down
		}
	case resetCounter:
		for i := range values {
			h := splitmix.Mix(stream + uint64(i)*splitmix.Golden)
			life := leastReset + h>>40%moreReset
			age := min((uint64(t.epoch)+h>>20)%life, uint64(c.age))
			y := p.rate * spread(h) * (float64(age) + float64(counterNoise*splitmix.Unit(splitmix.Mix(h+now))))
			values[i] = math.Floor(y) * p.up / p.down
		}
	case state:
		p.fillStates(values, stream, t)
	case info:
		for i := range values {
			values[i] = 1
		}
	case up:
		values[0] = 0
		if t.ok {
			values[0] = 1
		}
	case beganAt:
		for i := range values {
			values[i] = float64(c.began)
		}
	case samples:
		values[0] = float64(t.samples)
	case added:
		values[0] = 0
		if !t.before {
			values[0] = float64(t.samples)
		}
	}
}

// events returns how many events of a stream happened until a position: the whole part of the position,
// and one more where the event of the current unit has happened, at a random place in it.
func events(y float64, stream uint64) float64 {
	n := math.Floor(y)
	if splitmix.Unit(splitmix.Mix(stream+uint64(n)*perStep)) < y-n {
		n++
	}
	return n
}

// fillStates sets the current state of each object to 1: in 31 of 32 spans the usual one.
func (p *part) fillStates(values []float64, stream uint64, t *scrape) {
	n := int(p.states())
	for from := 0; from < len(values); from += n {
		h := splitmix.Mix(stream + uint64(from)*splitmix.Golden)
		x := splitmix.Mix(h + ((uint64(t.epoch)+h>>20&(1<<stateFor-1))>>stateFor)*perEpoch)
		usual := x&31 != 0
		if n == 1 {
			values[from] = 0
			if usual {
				values[from] = 1
			}
			continue
		}
		of := values[from : from+n]
		clear(of)
		current := 0
		if !usual {
			current = 1 + int(splitmix.Scale(splitmix.Mix(x), uint64(n-1)))
		}
		of[current] = 1
	}
}

// Buckets of native histograms: 40 of four in each power of two, from 2^-9.5 s (1.4 ms) to 2^0.5 s.
const (
	nativeSchema    = 2
	nativeFirst     = -37
	nativeBucketsN  = 40
	nativeThreshold = 1.0 / (1 << 20)
)

func nativeFields() []series.Field {
	fields := []series.Field{{Name: series.NativeCount, Type: series.Int}, {Name: series.NativeSum, Type: series.Float}, {Name: series.NativeZero, Type: series.Int}}
	for i := range nativeBucketsN {
		fields = append(fields, series.Field{Name: "b" + strconv.Itoa(i), Type: series.Int})
	}
	return fields
}

// nativeLimits returns the bounds of the native buckets.
func nativeLimits() [][2]float64 {
	// Powers of two with the exponents 0, 1/4, 2/4 and 3/4.
	parts := [...]float64{1, 1.189207115002721, 1.4142135623730951, 1.681792830507429}
	power := func(i int) float64 {
		i += 4 << 10 // positive, so that division rounds down
		return math.Ldexp(parts[i%4], i/4-1<<10)
	}
	var limits [][2]float64
	for i := range nativeBucketsN {
		limits = append(limits, [2]float64{power(nativeFirst + i - 1), power(nativeFirst + i)})
	}
	return limits
}

// classicLimits returns the bounds of the classic buckets. The last one has no upper bound, but
// observations in it stay below twice its lower bound.
func classicLimits() [][2]float64 {
	lower := 0.0
	var limits [][2]float64
	for _, upper := range append(bounds(), 2*bounds()[len(bounds())-1]) {
		limits = append(limits, [2]float64{lower, upper})
		lower = upper
	}
	return limits
}

func boundTexts() []string {
	var texts []string
	for _, b := range bounds() {
		// Not 1.0, as OpenMetrics has it: receivers of OTLP, and Prometheus before version 3, store 1.
		texts = append(texts, strconv.FormatFloat(b, 'f', -1, 64))
	}
	return append(texts, "+Inf")
}

// shapes is the number of different distributions of observations that series of a histogram have.
const shapes = 4

// shape is how the observations of a series are distributed.
type shape struct {
	weights []float64 // of the buckets; their sum is 1
	slow    int       // the first bucket whose observations are slow
}

// setShapes makes distributions that fall off from a usual bucket to both sides, which differ in that
// bucket.
func (p *part) setShapes(limits [][2]float64) {
	p.limits = limits
	n := len(limits)
	for k := range p.shapes {
		usual := n/4 + k*n/12
		weights := make([]float64, n)
		total := 0.0
		for b := range weights {
			// Integers, so that every processor computes the same.
			w := int64(1) << 40
			for range max(usual-b, 0) * 24 / n {
				w = w * 2 / 5
			}
			for range max(b-usual, 0) * 24 / n {
				w = w * 3 / 5
			}
			weights[b] = float64(w)
			total += weights[b]
		}
		for b := range weights {
			weights[b] /= total
		}
		p.shapes[k] = shape{weights, usual + 1 + n/12}
	}
}

// observe computes the number of observations in each bucket of a series at a scrape, and returns their
// sum. Buckets of slow observations have a clock of their own, so that quantiles move.
func (p *part) observe(counts []float64, h uint64, c *clock, t *scrape) (sum float64) {
	rate := p.rate * spread(h)
	shape := &p.shapes[h&(shapes-1)]
	place := 0.25 + float64(0.5*splitmix.Unit(splitmix.Mix(h+perStep))) // of observations in their bucket
	x := splitmix.Mix(h + uint64(t.epoch)*perEpoch)
	for b := range counts {
		x += splitmix.Golden
		y := c.work
		if b >= shape.slow {
			y = c.slow
		}
		r := float64(rate * shape.weights[b])
		y = float64(r*y) + float64(float64(r*counterNoise)*splitmix.Unit(splitmix.Mix(x)))
		if r < 2 {
			y = events(y, h+uint64(b)*splitmix.Golden)
		} else {
			y = math.Floor(y)
		}
		counts[b] = y
		limits := &p.limits[b]
		sum += float64(y * (limits[0] + float64((limits[1]-limits[0])*place)))
	}
	return sum
}
