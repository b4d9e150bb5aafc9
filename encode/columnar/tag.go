package columnar

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// absent is the code of a series that lacks the tag.
const absent = -1

// tag is the values of one tag in all series: each distinct value once, and
// per series its position among them.
type tag struct {
	first   uint32     // series
	codes   []int32    // per series from the first one on
	values  texts.List // in the order in which series first have them
	numbers []float64  // of a numeric tag: the values as numbers
}

// newTags returns the tags of a table. Tables that share values share a tag by
// way of shared.
func newTags(of *series.Table, own series.Span, shared map[series.TagValues]*tag) ([]*tag, error) {
	tags := make([]*tag, len(of.Tags))
	for i := range of.Tags {
		key := of.Tags[i].Values
		comparable := of.Range == (series.Span{}) && reflect.ValueOf(key).Comparable()
		if comparable && shared[key] != nil {
			tags[i] = shared[key]
			continue
		}
		t, err := newTag(&of.Tags[i], own)
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

func newTag(of *series.Tag, own series.Span) (*tag, error) {
	t := &tag{first: own.First, codes: make([]int32, own.End-own.First)}
	t.values.Reset()
	lookup := texts.NewLookup()
	var value []byte
	for s := range t.codes {
		var has bool
		if value, has = of.Values.Append(value[:0], own.First+uint32(s)); !has {
			t.codes[s] = absent
			continue
		}
		code, err := lookup.Code(&t.values, value)
		if err != nil {
			return nil, fmt.Errorf("%w, which the format cannot hold", err)
		}
		t.codes[s] = code
	}
	if !of.Numeric() {
		return t, nil
	}
	t.numbers = make([]float64, t.values.Len())
	for i := range t.numbers {
		x, err := strconv.ParseFloat(string(t.values.Text(int32(i))), 64)
		if err != nil {
			return nil, fmt.Errorf("a numeric tag must be a number: %w", err)
		}
		t.numbers[i] = x
	}
	return t, nil
}
