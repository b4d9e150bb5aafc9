package query

import "math"

// SumBound is the largest difference between two sums of the same n doubles, with size at least the
// sum of their absolute values.
//
// Whatever the order in which n doubles are added, one after the other, in pairs, or in parts by
// many threads, rounding keeps the result within γ(n−1)·Σ|x| of the exact sum, where γ(k) =
// k·u/(1−k·u) and u = 2⁻⁵³ (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition,
// section 4.2), as long as nothing overflows. Compensated sums are nearer. The oracle's own of a
// table's contents is Neumaier's, within u·Σ|x| and terms of u² (section 4.3). Together that is less than
// (n+1)·u·Σ|x|·(1+2·n·u), for n up to 2⁵¹; 2 in the place of 1 makes up for the roundings of the
// bound itself. For a million values around 50 it is 0.006.
func SumBound(n int64, size float64) float64 {
	const u = 0x1p-53
	return float64(n+2) * u * size * (1 + 2*float64(n)*u)
}

// SumTolerance is the tolerance of an answer's sum of n doubles, with size the sum of their absolute values. It is
// twice SumBound because both sums may be naive, and terms may have been rounded when they were converted to doubles.
// It is at most the relative tolerance of the size, so that it allows nothing more unless terms cancel.
func SumTolerance(n int64, size float64) float64 { return min(2*SumBound(n, size), tolerance*size) }

// Allow sets the tolerance of an expected Float, unless the relative tolerance is larger.
func (v *Value) Allow(difference float64) {
	if difference > tolerance*math.Abs(v.Float) && difference <= math.MaxFloat32 {
		v.Tolerance = float32(difference)
	}
}
