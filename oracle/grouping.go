package oracle

import (
	"fmt"
	"math/bits"

	"github.com/tsmark/tsmark/series"
)

// grouping numbers the distinct values of one tag of one table.
type grouping struct {
	of     []int32  // per series, the number of its value; -1: it lacks the tag
	values [][]byte // per number, the value
	number map[string]int32
}

// groupings makes each grouping once.
type groupings struct {
	schema *series.Schema
	made   map[[2]string]*grouping
}

func newGroupings(s *series.Schema) *groupings {
	return &groupings{schema: s, made: map[[2]string]*grouping{}}
}

// by returns the grouping of a table by a tag.
func (g *groupings) by(table *series.Table, key string) (*grouping, error) {
	id := [2]string{table.Name, key}
	if made := g.made[id]; made != nil {
		return made, nil
	}
	tag := table.Tag(key)
	if tag == nil {
		return nil, fmt.Errorf("table %s has no tag %q", table.Name, key)
	}
	made := &grouping{of: make([]int32, g.schema.Series), number: map[string]int32{}}
	var value []byte
	for s := range g.schema.Series {
		var ok bool
		if value, ok = tag.Values.Append(value[:0], s); !ok {
			made.of[s] = -1
			continue
		}
		n, known := made.number[string(value)]
		if !known {
			n = int32(len(made.values))
			kept := string(value)
			made.number[kept] = n
			made.values = append(made.values, []byte(kept))
		}
		made.of[s] = n
	}
	g.made[id] = made
	return made, nil
}

// bitset is a set of small numbers that grows as needed.
type bitset []uint64

func (b *bitset) add(i int) {
	for len(*b) <= i>>6 {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (uint(i) & 63)
}

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(uint(i)&63)&1 != 0 }

func (b bitset) count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}
