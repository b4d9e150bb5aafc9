package engine

import (
	"container/heap"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/internal/splitmix"
)

// Sample chooses at random which answers of a phase are compared. Each operation has a position,
// and each position a priority: a number derived from a secret seed. The sample is the wanted
// number of answers with the highest priorities, or all answers if there are fewer. Hence
//
//   - each answer has the same chance, independent of the others: that an
//     answer is kept says nothing about the next one;
//   - the sample does not depend on events such as the time an answer took;
//   - all targets with as many answers have the same queries in it, and so has a
//     part of a run that is repeated;
//   - several clients can determine it together: it is contained in the union of
//     their samples.
//
// The choice is made after an answer was read, and every answer is read in the same way. A target
// cannot distinguish sampled answers while it answers.
//
// The zero value chooses no answers.
type Sample struct {
	key    uint64
	wanted int
}

// NewSample returns a sample of wanted answers. Different texts give different samples of the same
// seed.
func NewSample(seed, text string, wanted int) Sample {
	return Sample{xxhash.Sum64String(seed + "\x00" + text), wanted}
}

// priority returns the priority of a position: SplitMix64 from the key on, which maps different
// positions to different numbers.
func (s Sample) priority(position int64) uint64 {
	return splitmix.Mix(s.key + uint64(position)*splitmix.Golden)
}

// reservoir keeps the answers of a sample. It is for one goroutine at a time.
type reservoir struct {
	Sample
	kept []Answered // a heap, whose first element has the lowest priority
}

// offer adds an answer and returns the one that is not, or no longer, in the sample; nil: there is
// room for all.
func (r *reservoir) offer(a *Answered) (rejected *Answered) {
	switch {
	case r.wanted == 0:
		return a
	case len(r.kept) < r.wanted:
		heap.Push(r, *a)
		return nil
	case r.priority(a.Position) <= r.priority(r.kept[0].Position):
		return a
	}
	lowest := r.kept[0]
	r.kept[0] = *a
	heap.Fix(r, 0)
	return &lowest
}

// The methods of heap.Interface.

func (r *reservoir) Len() int { return len(r.kept) }
func (r *reservoir) Less(i, j int) bool {
	return r.priority(r.kept[i].Position) < r.priority(r.kept[j].Position)
}
func (r *reservoir) Swap(i, j int) { r.kept[i], r.kept[j] = r.kept[j], r.kept[i] }
func (r *reservoir) Push(a any)    { r.kept = append(r.kept, a.(Answered)) }
func (r *reservoir) Pop() any {
	last := len(r.kept) - 1
	a := r.kept[last]
	r.kept = r.kept[:last]
	return a
}
