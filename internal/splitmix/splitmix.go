// Package splitmix has random bits as functions of numbers: the generator SplitMix64 (Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators", 2014).
package splitmix

import "math/bits"

// Golden is the golden ratio as a fraction of 2^64, by which consecutive states of a stream differ.
const Golden = 0x9E3779B97F4A7C15

// Mix returns random bits for a number. It is a permutation, so different numbers have different bits.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// MixText returns bits that a text determines (FNV-1a, mixed).
func MixText(text string) uint64 {
	h := uint64(0xCBF29CE484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001B3
	}
	return Mix(h)
}

// Unit turns random bits into a number from 0 to below 1.
func Unit(x uint64) float64 { return float64(x>>11) * (1.0 / (1 << 53)) }

// Scale turns random bits into a number from 0 to below n, which the first bits determine.
func Scale(x, n uint64) uint64 {
	high, _ := bits.Mul64(x, n)
	return high
}

// Stream is a stream of random bits, from a seed.
type Stream uint64

// Next returns the next bits.
func (s *Stream) Next() uint64 {
	*s += Golden
	return Mix(uint64(*s))
}

// Draw returns a number from 0 to below n.
func (s *Stream) Draw(n uint64) uint64 { return Scale(s.Next(), n) }
