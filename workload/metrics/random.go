package metrics

import (
	"math/bits"
)

// Odd constants that separate streams of random numbers.
const (
	golden   = 0x9E3779B97F4A7C15 // the golden ratio
	perEpoch = 0xD6E8FEB86659FD93
	perStep  = 0xA0761D6478BD642F
)

// mix returns random bits for a number: the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators", 2014). It is a permutation, so different numbers have
// different bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// unit turns random bits into a number from 0 to below 1.
func unit(x uint64) float64 { return float64(x>>11) * (1.0 / (1 << 53)) }

// scaleInt turns random bits into a number from 0 to below n.
func scaleInt(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}

// hashText returns bits that a text determines (FNV-1a, mixed).
func hashText(text string) uint64 {
	h := uint64(0xCBF29CE484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001B3
	}
	return mix(h)
}
