package columnar

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"strconv"

	"github.com/tsmark/tsmark/series"
)

// absent is the code of a series that lacks the tag.
const absent = -1

// tag is the values of one tag in all series: each distinct value once, and
// per series its position among them.
type tag struct {
	codes   []int32   // per series
	values  texts     // in the order in which series first have them
	numbers []float64 // of a numeric tag: the values as numbers
}

// newTags returns the tags of a table. Tables that share values share a tag by
// way of shared.
func newTags(of *series.Table, n uint32, shared map[series.TagValues]*tag) ([]*tag, error) {
	tags := make([]*tag, len(of.Tags))
	for i := range of.Tags {
		key := of.Tags[i].Values
		comparable := reflect.ValueOf(key).Comparable()
		if comparable && shared[key] != nil {
			tags[i] = shared[key]
			continue
		}
		t, err := newTag(&of.Tags[i], n)
		if err != nil {
			return nil, fmt.Errorf("tag %s of table %s: %w", of.Tags[i].Key, of.Name, err)
		}
		tags[i] = t
		if comparable {
			shared[key] = t
		}
	}
	return tags, nil
}

func newTag(of *series.Tag, n uint32) (*tag, error) {
	t := &tag{codes: make([]int32, n)}
	t.values.reset()
	lookup := newLookup()
	var value []byte
	for s := range n {
		var has bool
		if value, has = of.Values.Append(value[:0], s); !has {
			t.codes[s] = absent
			continue
		}
		code, err := lookup.code(&t.values, value)
		if err != nil {
			return nil, err
		}
		t.codes[s] = code
	}
	if !of.Numeric() {
		return t, nil
	}
	t.numbers = make([]float64, t.values.len())
	for i := range t.numbers {
		x, err := strconv.ParseFloat(string(t.values.at(int32(i))), 64)
		if err != nil {
			return nil, fmt.Errorf("a numeric tag must be a number: %w", err)
		}
		t.numbers[i] = x
	}
	return t, nil
}

// texts is strings as Arrow lays them out: value i ends where value i+1 begins.
// It is empty after reset, not before.
type texts struct {
	offsets []int32
	bytes   []byte
}

func (t *texts) len() int { return len(t.offsets) - 1 }

func (t *texts) at(i int32) []byte { return t.bytes[t.offsets[i]:t.offsets[i+1]] }

func (t *texts) add(value []byte) {
	t.bytes = append(t.bytes, value...)
	t.offsets = append(t.offsets, int32(len(t.bytes)))
}

// reset empties t and keeps its memory.
func (t *texts) reset() { t.offsets, t.bytes = append(t.offsets[:0], 0), t.bytes[:0] }

// lookup finds values among texts. It takes 8 to 16 bytes a value, where a map
// with a string for each would take several times that: there are millions
// while a large dataset is begun.
type lookup struct {
	seed  maphash.Seed
	slots []int32 // 1 + position of the value; 0: free. A power of two, half full at most
}

func newLookup() *lookup {
	return &lookup{seed: maphash.MakeSeed(), slots: make([]int32, 64)}
}

// code returns the position of the value in t, to which it adds a new one.
func (l *lookup) code(t *texts, value []byte) (int32, error) {
	slot := l.slot(t, value)
	if found := l.slots[slot]; found > 0 {
		return found - 1, nil
	}
	if len(t.bytes)+len(value) > maxText {
		return 0, fmt.Errorf("its values are more than 2 GiB of text, which the format cannot hold")
	}
	t.add(value)
	l.slots[slot] = int32(t.len())
	if 2*t.len() > len(l.slots) {
		l.slots = make([]int32, 2*len(l.slots))
		for i := range int32(t.len()) {
			l.slots[l.slot(t, t.at(i))] = i + 1
		}
	}
	return int32(t.len() - 1), nil
}

// slot returns the slot that has the value, or is free for it.
func (l *lookup) slot(t *texts, value []byte) int {
	mask := len(l.slots) - 1
	for i := int(maphash.Bytes(l.seed, value)) & mask; ; i = (i + 1) & mask {
		if found := l.slots[i]; found == 0 || string(t.at(found-1)) == string(value) {
			return i
		}
	}
}
