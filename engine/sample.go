package engine

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"
)

// Sample chooses at random which operations of a phase have their answers taken,
// before it is known how many there will be, and so that no target can foresee
// it. Operations have positions from 0 on. These are divided into stretches, and
// in each of them one position is chosen, each with the same chance: a seed
// that nobody else knows decides. The first stretches are as long as OneOf says;
// from the position on at which that would be more than the answers wanted, each
// is so long as the positions before it divided by the answers wanted. So
//
//   - at any moment the sample is at least as dense, everywhere, as one of so many
//     answers as wanted that is spread evenly over all operations so far;
//   - of n operations it takes not more than wanted*(2+1.5*ln(n/wanted)) answers;
//   - what it chooses depends on nothing that happened: all targets have the same
//     queries taken, and a run that is resumed goes on with the same sample.
//
// The zero value chooses nothing.
type Sample struct{ at []int64 }

// OneOf is the share of operations whose answers are taken at the most, as its
// reciprocal: those have no latency.
const OneOf = 3

// Endless is a number of operations that no phase has.
const Endless = 1 << 40

// NewSample returns a sample of so many answers as wanted, at least 1, of at most
// so many operations, one of so many as oneOf at the most. Each text makes another
// sample of the same seed.
func NewSample(seed, text string, wanted, oneOf int, operations int64) Sample {
	digest := xxhash.New()
	var s Sample
	for start := int64(0); start < operations; {
		length := max(int64(oneOf), start/int64(max(wanted, 1)))
		if start == 0 {
			length = min(length, operations) // one is chosen of however few
		}
		digest.Reset()
		_, _ = digest.WriteString(seed + "\x00" + text + "\x00") // a hash takes everything
		_, _ = digest.Write(binary.LittleEndian.AppendUint64(nil, uint64(start)))
		s.at = append(s.at, start+int64(digest.Sum64()%uint64(length)))
		start += length
	}
	return s
}

// Has reports whether the sample has a position.
func (s Sample) Has(position int64) bool {
	_, found := slices.BinarySearch(s.at, position)
	return found
}

// Until is how many positions below a bound it has.
func (s Sample) Until(bound int64) int {
	return sort.Search(len(s.at), func(i int) bool { return s.at[i] >= bound })
}
