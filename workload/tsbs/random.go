package tsbs

import (
	"math"
	"math/rand"
)

// The additive lagged Fibonacci generator behind math/rand (version 1), which
// TSBS draws everything from: x[n] = x[n-lagLong] + x[n-lagShort].
const (
	lagLong  = 607
	lagShort = 273
)

// random is the stream of math/rand for one seed, drawn a block at a time. Its
// methods return, draw for draw, what the functions of math/rand of the same
// names return after rand.Seed.
//
// Every draw depends on all before it, so this stream bounds how fast TSBS
// data can be made at all: hence blocks, and walk for the common case.
type random struct {
	block    [lagLong]uint64
	next     int // of block, the first value not drawn yet
	ziggurat ziggurat
}

// newRandom returns the stream for a seed.
func newRandom(seed int64) *random {
	r := &random{ziggurat: newZiggurat()}
	// The first lagLong values of a stream determine all others, so math/rand
	// itself does the seeding and its tables need no copy here.
	source := rand.NewSource(seed).(rand.Source64)
	for i := range r.block {
		r.block[i] = source.Uint64()
	}
	return r
}

// refill replaces the block by the lagLong values that follow it.
func (r *random) refill() {
	b := &r.block
	for i := 0; i < lagShort; i++ {
		b[i] += b[i+lagLong-lagShort]
	}
	for i := lagShort; i < lagLong; i++ {
		b[i] += b[i-lagShort]
	}
	r.next = 0
}

func (r *random) uint64() uint64 {
	if r.next == lagLong {
		r.refill()
	}
	x := r.block[r.next]
	r.next++
	return x
}

func (r *random) int63() int64 { return int64(r.uint64() & math.MaxInt64) }

// intn returns a uniform number in [0, n), n ≤ 2³¹-1.
func (r *random) intn(n int) int {
	bound := int32(n)
	if bound&(bound-1) == 0 {
		return int(int32(r.int63()>>32) & (bound - 1))
	}
	limit := int32((1 << 31) - 1 - (1<<31)%uint32(bound))
	v := int32(r.int63() >> 32)
	for v > limit {
		v = int32(r.int63() >> 32)
	}
	return int(v % bound)
}

// int63n returns a uniform number in [0, n).
func (r *random) int63n(n int64) int64 {
	if n&(n-1) == 0 {
		return r.int63() & (n - 1)
	}
	limit := int64((1 << 63) - 1 - (1<<63)%uint64(n))
	v := r.int63()
	for v > limit {
		v = r.int63()
	}
	return v % n
}

// float64 returns a uniform number in [0, 1).
func (r *random) float64() float64 {
	for {
		if f := float64(r.int63()) / (1 << 63); f < 1 {
			return f
		}
	}
}

// normal returns a number of the standard normal distribution.
func (r *random) normal() float64 {
	for {
		j := normalBits(r.uint64())
		strip := &r.ziggurat.strips[j&stripMask]
		if magnitude(j) < strip.inside {
			return float64(j) * strip.width
		}
		if x, ok := r.edge(j); ok {
			return x
		}
	}
}

// walk moves each state by a draw of normal and keeps it within [low, high]:
// what TSBS calls a clamped random walk with a step of ND(0, 1).
func (r *random) walk(states []float64, low, high float64) {
	strips := &r.ziggurat.strips
	for len(states) > 0 {
		if r.next == lagLong {
			r.refill()
		}
		// Within a block nothing but an edge draw needs r.next up to date.
		draws := r.block[r.next:]
		n := min(len(draws), len(states))
		draws, part := draws[:n], states[:n]
		for i, u := range draws {
			j := normalBits(u)
			strip := &strips[j&stripMask]
			step := float64(j) * strip.width
			if magnitude(j) >= strip.inside {
				r.next += i + 1
				x, ok := r.edge(j)
				if !ok {
					x = r.normal()
				}
				part[i] = clamp(part[i]+x, low, high)
				states = states[i+1:]
				n = 0
				break
			}
			part[i] = clamp(part[i]+step, low, high)
		}
		r.next += n
		states = states[n:]
	}
}

func clamp(x, low, high float64) float64 {
	if x > high {
		return high
	}
	if x < low {
		return low
	}
	return x
}

// The ziggurat of Marsaglia and Tsang ("The Ziggurat Method for Generating
// Random Variables", 2000) cuts the normal density into 128 strips of equal
// area. 99 draws in 100 fall inside a strip and need one multiplication.
const (
	stripCount = 128
	stripMask  = stripCount - 1
	tail       = 3.442619855899      // where the bottom strip's tail begins
	stripArea  = 9.91256303526217e-3 // of each strip
)

type strip struct {
	width  float64 // scales the 32 random bits to an abscissa
	inside uint32  // bits below this are inside the strip whatever the density
}

// wedge is where a strip crosses the density, between the outer edge of the strip
// above and its own. There a straight line runs close to the density, so that
// most draws need no exponential function.
type wedge struct {
	outer, slope float64 // of the line, which falls
	error        float64 // maximum distance of the density from the line
}

type ziggurat struct {
	strips  [stripCount]strip
	wedges  [stripCount]wedge
	density [stripCount]float32 // at each strip's outer edge
}

// newZiggurat computes the tables of math/rand, which holds widths as
// float32: the rounding is part of the stream.
func newZiggurat() ziggurat {
	const bits = 1 << 31
	var z ziggurat
	density := func(x float64) float64 { return math.Exp(-.5 * x * x) }
	x := float64(tail)
	base := stripArea / density(x)
	z.strips[0] = strip{float64(float32(base / bits)), uint32(x / base * bits)}
	z.density[0] = 1
	for i := stripCount - 1; i > 0; i-- {
		z.strips[i].width = float64(float32(x / bits))
		z.density[i] = float32(density(x))
		outer := x
		x = math.Sqrt(-2 * math.Log(stripArea/x+density(x)))
		inner := 0.
		if i > 1 {
			z.strips[i].inside = uint32(x / outer * bits)
			inner = x
		}
		// The second derivative of the density is within ±1, which bounds the error of a line
		// through two of its points. Rounding to float32 adds far less than roundings.
		const roundings = 1e-6
		width := outer - inner
		z.wedges[i] = wedge{outer, (density(inner) - density(outer)) / width, width*width/8 + roundings}
	}
	return z
}

// normalBits takes the 32 bits of a draw that normal uses.
func normalBits(u uint64) int32 { return int32(uint32(u >> 31)) }

// magnitude is |j|, right for the smallest int32 too.
func magnitude(j int32) uint32 {
	sign := j >> 31
	return uint32((j ^ sign) - sign)
}

// edge handles bits that fell outside the inner part of their strip. It returns false if they are
// rejected and normal must start again.
func (r *random) edge(j int32) (float64, bool) {
	i := j & stripMask
	z := &r.ziggurat
	if i == 0 {
		for {
			x := -math.Log(r.float64()) * (1.0 / tail)
			y := -math.Log(r.float64())
			if y+y >= x*x {
				if j > 0 {
					return tail + x, true
				}
				return -tail - x, true
			}
		}
	}
	x := float64(j) * z.strips[i].width
	height := z.density[i] + float32(r.float64())*(z.density[i-1]-z.density[i])
	wedge := &z.wedges[i]
	line := float64(z.density[i]) + (wedge.outer-math.Abs(x))*wedge.slope
	if off := float64(height) - line; off < -wedge.error {
		return x, true
	} else if off > wedge.error {
		return x, false
	}
	return x, height < float32(math.Exp(-.5*x*x))
}
