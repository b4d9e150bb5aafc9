package oracle

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// grouping numbers the distinct combinations of values of some tags of a
// table.
type grouping struct {
	of     []int32          // per series, the number of its values; -1: it lacks a tag
	values [][]query.Value  // per number, the value of each tag
	number map[string]int32 // by values, each ended by a zero byte
	rank   []int32          // per number, its place in the order of values; nil: see ranks
}

// ranks returns the place of each number in the order of values.
func (g *grouping) ranks() []int32 {
	if g.rank == nil {
		order := make([]int32, len(g.values))
		for n := range order {
			order[n] = int32(n)
		}
		slices.SortFunc(order, func(a, b int32) int { return query.CompareRows(g.values[a], g.values[b]) })
		g.rank = make([]int32, len(order))
		for place, n := range order {
			g.rank[n] = int32(place)
		}
	}
	return g.rank
}

// groupings caches the groupings that depend only on tags.
type groupings struct {
	schema   *series.Schema
	made     map[string]*grouping
	matches  map[string]bitset
	numerics map[string][]float64
}

func newGroupings(s *series.Schema) *groupings {
	return &groupings{schema: s, made: map[string]*grouping{}, matches: map[string]bitset{}, numerics: map[string][]float64{}}
}

// groupBy returns the grouping of a table by tags.
func (g *groupings) groupBy(table *series.Table, keys ...string) (*grouping, error) {
	id := table.Name + "\x00" + strings.Join(keys, "\x00")
	if made := g.made[id]; made != nil {
		return made, nil
	}
	tags := make([]*series.Tag, len(keys))
	for i, key := range keys {
		if tags[i] = table.Tag(key); tags[i] == nil {
			return nil, fmt.Errorf("table %s has no tag %q", table.Name, key)
		}
	}
	made := &grouping{of: make([]int32, g.schema.Series), number: map[string]int32{}}
	var text []byte
	ends := make([]int, len(tags))
	for s := range g.schema.Series {
		text = text[:0]
		whole := true
		for i, tag := range tags {
			var ok bool
			text, ok = tag.Values.Append(text, s)
			whole = whole && ok
			ends[i] = len(text)
			text = append(text, 0)
		}
		if !whole {
			made.of[s] = -1
			continue
		}
		n, known := made.number[string(text)]
		if !known {
			n = int32(len(made.values))
			made.number[string(text)] = n
			values := make([]query.Value, len(tags))
			from := 0
			for i, tag := range tags {
				var err error
				if values[i], err = tagValue(tag, text[from:ends[i]]); err != nil {
					return nil, err
				}
				from = ends[i] + 1
			}
			made.values = append(made.values, values)
		}
		made.of[s] = n
	}
	g.made[id] = made
	return made, nil
}

// tagValue returns a tag's value in an answer.
func tagValue(tag *series.Tag, text []byte) (query.Value, error) {
	if !tag.Numeric() {
		return query.Value{Kind: query.Text, Text: slices.Clone(text)}, nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return query.Value{}, fmt.Errorf("the numeric tag %s: %w", tag.Key, err)
	}
	return query.Value{Kind: query.Float, Float: v}, nil
}

// matching returns the series whose tag has one of the values.
func (g *groupings) matching(table *series.Table, in *query.TagIn) (bitset, error) {
	id := table.Name + "\x00" + in.Key + "\x00" + strings.Join(in.Values, "\x00")
	if set := g.matches[id]; set != nil {
		return set, nil
	}
	by, err := g.groupBy(table, in.Key)
	if err != nil {
		return nil, err
	}
	wanted := make(map[int32]bool, len(in.Values))
	for _, v := range in.Values {
		if n, ok := by.number[v+"\x00"]; ok {
			wanted[n] = true
		}
	}
	set := make(bitset, len(by.of)>>6+1)
	for s, n := range by.of {
		if wanted[n] {
			set.add(s)
		}
	}
	g.matches[id] = set
	return set, nil
}

// numeric returns the values of a numeric tag, per series; NaN if a series lacks it.
func (g *groupings) numeric(table *series.Table, key string) ([]float64, error) {
	id := table.Name + "\x00" + key
	if values := g.numerics[id]; values != nil {
		return values, nil
	}
	by, err := g.groupBy(table, key)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(by.of))
	for s, n := range by.of {
		values[s] = math.NaN()
		if n >= 0 {
			values[s] = by.values[n][0].Float
		}
	}
	g.numerics[id] = values
	return values, nil
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
