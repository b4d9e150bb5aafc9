package iotdb

import "math/bits"

// random returns 128 random bits for a counter of 128 bits, whose second half selects the stream:
// Philox2x64 with ten rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC11). For a fixed key it is a permutation of the counters, so every value of every
// series can be drawn independently, in any order and on any machine.
func random(key, counter, stream uint64) (uint64, uint64) {
	const (
		multiplier = 0xD2B74407B1CE6E93
		weyl       = 0x9E3779B97F4A7C15 // the golden ratio
		rounds     = 10
	)
	for range rounds {
		hi, lo := bits.Mul64(multiplier, counter)
		counter, stream = hi^key^stream, lo
		key += weyl
	}
	return counter, stream
}

// purpose separates the random streams of one series.
type purpose uint64

const (
	forValues     purpose = iota // counter: row
	forArrival                   // counter: row
	forDuplicate                 // counter: row
	forInterval                  // counter: row
	forParameters                // counter: which
	forFunction                  // counter: which; of a sensor of all devices
	forQueries                   // counter: draw; of a query type in place of a sensor
	purposes
)

// maxSensors keeps streams within 64 bits.
const maxSensors = 1 << 28

// allDevices stands for the device in what all devices share.
const allDevices = 1<<32 - 1

// streamOf returns the second half of the counters of a device's sensor.
func streamOf(device, sensor uint32, p purpose) uint64 {
	return uint64(device)<<32 | uint64(sensor)*uint64(purposes) + uint64(p)
}

// unit turns random bits into a number from 0 to below 1.
func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// unitFloat turns random bits into a number above 0 and below 1.
func unitFloat(x uint64) float64 { return (float64(x>>12) + 0.5) / (1 << 52) }

// scaleInt turns random bits into a number from 0 to below n, which is the high
// half of a product (Lemire, "Fast random integer generation in an interval",
// 2019). Its bias is n in 2^64 at most.
func scaleInt(x uint64, n int64) int64 {
	hi, _ := bits.Mul64(x, uint64(n))
	return int64(hi)
}
