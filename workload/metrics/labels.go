package metrics

import (
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/series"
)

// label is the values of one label in the series of a table.
type label struct {
	*Dataset
	key     string
	parts   []*part
	sources []source // by part
}

// source says where a label's values come from: a dimension, the entity of the series, or its target.
type source struct {
	kind     sourceKind
	of       *dimension // of fromDimension
	value    []string   // its values, or the prefix of its numbers
	under, n uint32     // the dimension's value is number/under%n, of the series of an entity
}

type sourceKind uint8

// The sources of values.
const (
	fromTarget sourceKind = iota
	fromEntity
	fromFiller
	fromDimension
)

// newTags returns the labels of a table.
func (d *Dataset) newTags(g *grouped) []series.Tag {
	keys := []string{"job", "instance"}
	add := func(more ...string) {
		for _, key := range more {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	for _, p := range g.parts {
		switch p.job { // kube-state-metrics has labels of objects instead
		case app, node:
			add("namespace", "pod")
		case kubelet:
			add("namespace", "node")
		}
		add(p.keys...)
		for _, of := range p.dimensions {
			add(of.keys...)
		}
	}
	var tags []series.Tag
	for _, key := range keys {
		l := &label{Dataset: d, key: key, parts: g.parts}
		for _, p := range g.parts {
			l.sources = append(l.sources, p.source(key))
		}
		tags = append(tags, series.Tag{Key: key, Values: l})
	}
	return tags
}

func (p *part) source(key string) source {
	under := uint32(1)
	for i := len(p.dimensions) - 1; i >= 0; i-- {
		of := p.dimensions[i]
		if at := slices.Index(of.keys, key); at >= 0 {
			return source{kind: fromDimension, of: of, value: of.values[at], under: under, n: p.sizes[i]}
		}
		if of.filler && slices.Contains(p.keys, key) {
			return source{kind: fromFiller, under: under, n: p.sizes[i]}
		}
		under *= p.sizes[i]
	}
	if slices.Contains(p.keys, key) {
		return source{kind: fromEntity}
	}
	return source{kind: fromTarget}
}

// Append implements series.TagValues.
func (l *label) Append(dst []byte, number uint32) ([]byte, bool) {
	for i, p := range l.parts {
		at := number - p.first
		if at >= p.size {
			continue
		}
		owner, within := at/p.count, at%p.count
		switch s := &l.sources[i]; s.kind {
		case fromDimension:
			n := within / s.under % s.n
			if len(s.value) == 1 && s.n != 1 {
				return strconv.AppendUint(append(dst, s.value[0]...), uint64(n), 10), true
			}
			return append(dst, s.value[n%uint32(len(s.value))]...), true
		case fromFiller:
			return l.appendFiller(dst, l.key, owner*s.n+within/s.under%s.n)
		case fromEntity:
			return l.appendEntity(dst, l.key, p.entity, owner)
		default:
			return l.appendTarget(dst, l.key, p.job, l.targetOf(p, owner))
		}
	}
	return dst, false
}
