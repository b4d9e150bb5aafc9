// Package texts keeps many short texts in little memory: one after the other, as
// Arrow lays them out.
package texts

import (
	"errors"
	"hash/maphash"
	"math"
)

// Max is the maximum number of bytes of all texts of a list: the range of 32-bit offsets.
const Max = math.MaxInt32

// List is texts one after the other: text i ends where text i+1 begins. It is
// empty after Reset, not before.
type List struct {
	Offsets []int32
	Bytes   []byte
}

// Len returns how many texts there are.
func (l *List) Len() int { return len(l.Offsets) - 1 }

// Text returns text i, which belongs to the list.
func (l *List) Text(i int32) []byte { return l.Bytes[l.Offsets[i]:l.Offsets[i+1]] }

// Add appends a text.
func (l *List) Add(text []byte) {
	l.Bytes = append(l.Bytes, text...)
	l.Offsets = append(l.Offsets, int32(len(l.Bytes)))
}

// Reset empties the list and keeps its memory.
func (l *List) Reset() { l.Offsets, l.Bytes = append(l.Offsets[:0], 0), l.Bytes[:0] }

// ErrTooLong is the error of a text for which a list has no room.
var ErrTooLong = errors.New("the values are more than 2 GiB of text")

// Lookup finds texts in a list. It takes 8 to 16 bytes a text, where a map with a
// string for each would take several times that. Find may be called by several
// goroutines at once while nothing is added.
type Lookup struct {
	seed  maphash.Seed
	slots []int32 // 1 + position of the text; 0: free. A power of two, half full at most
}

// NewLookup returns the lookup of an empty list.
func NewLookup() *Lookup {
	return &Lookup{seed: maphash.MakeSeed(), slots: make([]int32, 64)}
}

// Code returns the position of the text in the list, to which it adds a new one.
// Its error is ErrTooLong.
func (l *Lookup) Code(list *List, text []byte) (int32, error) {
	slot := l.slot(list, text)
	if found := l.slots[slot]; found > 0 {
		return found - 1, nil
	}
	if len(list.Bytes)+len(text) > Max {
		return 0, ErrTooLong
	}
	list.Add(text)
	l.slots[slot] = int32(list.Len())
	if 2*list.Len() > len(l.slots) {
		l.slots = make([]int32, 2*len(l.slots))
		for i := range int32(list.Len()) {
			l.slots[l.slot(list, list.Text(i))] = i + 1
		}
	}
	return int32(list.Len() - 1), nil
}

// Find returns the position of the text in the list; -1: it is not there.
func (l *Lookup) Find(list *List, text []byte) int32 { return l.slots[l.slot(list, text)] - 1 }

// Bytes returns the memory of the lookup without the list.
func (l *Lookup) Bytes() int { return 4 * len(l.slots) }

// slot returns the slot that has the text, or is free for it.
func (l *Lookup) slot(list *List, text []byte) int {
	mask := len(l.slots) - 1
	for i := int(maphash.Bytes(l.seed, text)) & mask; ; i = (i + 1) & mask {
		if found := l.slots[i]; found == 0 || string(list.Text(found-1)) == string(text) {
			return i
		}
	}
}
