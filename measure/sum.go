package measure

import (
	"math"
	"math/big"
	"math/bits"
)

// sum is a 128-bit sum. It does not depend on the order of addition, so the sum over several
// workers equals the sum over their operations in one sequence, to the last bit.
type sum struct{ high, low uint64 }

func (s *sum) add(high, low uint64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high, _ = bits.Add64(s.high, high, carry)
}

// times returns the sum n times.
func (s sum) times(n uint64) sum {
	high, low := bits.Mul64(s.low, n)
	return sum{high + s.high*n, low}
}

// square returns the square of n.
func square(n uint64) sum {
	high, low := bits.Mul64(n, n)
	return sum{high, low}
}

func (s sum) float() float64 { return math.Ldexp(float64(s.high), 64) + float64(s.low) }

func (s sum) big() *big.Int {
	n := new(big.Int).SetUint64(s.high)
	return n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(s.low))
}

// nearest returns the sum next to a number that is not negative.
func nearest(f *big.Float) sum {
	n, _ := f.Add(f, big.NewFloat(0.5)).Int(nil)
	low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return sum{n.Rsh(n, 64).Uint64(), low.Uint64()}
}

// deviation returns the standard deviation of n numbers from their sum and the sum of their
// squares. It subtracts integers, so it loses no precision if the numbers are large and nearly
// equal.
func deviation(n int64, total, squares sum) float64 {
	count, plain := big.NewInt(n), total.big()
	distance := count.Mul(count, squares.big())
	distance.Sub(distance, plain.Mul(plain, plain))
	of, _ := new(big.Float).SetInt(distance).Float64()
	return math.Sqrt(max(of, 0)) / float64(n) // below 0 only by rounding in restored figures
}

// squaresOf is the inverse of deviation.
func squaresOf(n int64, total sum, deviation float64) sum {
	const precision = 300 // bits: more than any of the products has
	number := func(f float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(f) }
	plain := new(big.Float).SetPrec(precision).SetInt(total.big())
	plain.Mul(plain, plain).Quo(plain, number(float64(n)))
	spread := number(deviation)
	spread.Mul(spread, spread).Mul(spread, number(float64(n)))
	return nearest(plain.Add(plain, spread))
}
