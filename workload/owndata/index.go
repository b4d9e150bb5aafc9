package owndata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// lacks is the code of a tag that a series has not.
const lacks = -1

// tagSet is the tags of one table: the values of each, and which of them make a series.
// Reading it while nothing is added is safe for many goroutines.
type tagSet struct {
	tags   []series.Tag
	values []texts.List // per tag, each value once
	of     []*texts.Lookup
	// known are the series, each as the codes of its values, four bytes a tag.
	known  texts.List
	lookup *texts.Lookup
	number []uint32 // per known series, its number among those of all tables
}

func newTagSet(keys []string) *tagSet {
	s := &tagSet{tags: make([]series.Tag, len(keys)), values: make([]texts.List, len(keys)), lookup: texts.NewLookup()}
	s.known.Reset()
	for i, key := range keys {
		s.tags[i].Key = key
		s.values[i].Reset()
		s.of = append(s.of, texts.NewLookup())
	}
	return s
}

// span returns the first number of a series of the set, and how many there are up to its last.
func (s *tagSet) span() (first uint32, count int) {
	if len(s.number) == 0 {
		return 0, 0
	}
	first = s.number[0] // they rise
	return first, int(s.number[len(s.number)-1]-first) + 1
}

// bytes is the memory that the set takes.
func (s *tagSet) bytes() int64 {
	_, count := s.span()
	n := int64(cap(s.known.Bytes)) + 4*int64(cap(s.known.Offsets)+cap(s.number)) + int64(s.lookup.Bytes())
	for i := range s.values {
		n += int64(cap(s.values[i].Bytes)) + 4*int64(cap(s.values[i].Offsets)) + int64(s.of[i].Bytes()) + 4*int64(count)
	}
	return n
}

// index is the tables of a dataset and its series: all that stays in memory.
type index struct {
	tables []*table
	byName map[string]*table
	series uint32
	frozen bool // all series are known
}

// table is a table and what its rows need to be read.
type table struct {
	*series.Table
	place int // among the index's tables
	set   *tagSet
	// tagAt and fieldAt are the places of tags and fields by name.
	tagAt, fieldAt map[string]int
	// seen are those of time, tags and fields that a row names, of formats without a header,
	// while the index is not frozen.
	seen []bool
}

// widestTag is the tag with the most values.
func (t *table) widestTag() string {
	at := 0
	for i := range t.set.values {
		if t.set.values[i].Len() > t.set.values[at].Len() {
			at = i
		}
	}
	return t.set.tags[at].Key
}

// columns are the names of the columns of the time, the tags and the fields, each once.
func (t *table) columns(times ...string) []string {
	names := slices.Clone(times)
	for i := range t.Tags {
		names = append(names, t.Tags[i].Key)
	}
	for i := range t.Fields {
		names = append(names, t.Fields[i].Name)
	}
	return distinct(names)
}

// newIndex makes the tables of sections, which are alike in both lists.
func newIndex(name string, tags, fields []section) (*index, error) {
	x := &index{byName: make(map[string]*table)}
	tagsOf := make(map[string][]section)
	for _, g := range tags {
		tagsOf[g.table] = append(tagsOf[g.table], g)
	}
	sets := make(map[string]*tagSet) // tables with the same keys share one
	for _, f := range fields {
		t := &table{Table: &series.Table{Name: f.table}, place: len(x.tables)}
		if t.Name == "" {
			t.Name = name
		}
		if x.byName[t.Name] != nil {
			return nil, fmt.Errorf("table %s is there twice", t.Name)
		}
		var keys []string
		for _, g := range tagsOf[f.table] {
			for _, c := range g.columns {
				if c.kind != 0 {
					return nil, fmt.Errorf("tag %s has a type, which tags have not; leave it out", c.name)
				}
				keys = append(keys, c.name)
			}
		}
		for _, c := range f.columns {
			if c.kind == 0 {
				return nil, fmt.Errorf("field %s has no type; write it as %s:float", c.name, quoteName(c.name))
			}
			t.Fields = append(t.Fields, series.Field{Name: c.name, Type: c.kind, Length: c.size})
		}
		same := fmt.Sprintf("%q", keys)
		if t.set = sets[same]; t.set == nil {
			t.set = newTagSet(keys)
			sets[same] = t.set
		}
		x.tables, x.byName[t.Name] = append(x.tables, t), t
	}
	for _, g := range tags {
		if g.table != "" && x.byName[g.table] == nil || g.table == "" && len(fields) > 0 && fields[0].table != "" {
			if g.table == "" {
				return nil, fmt.Errorf("there are several tables: write the tags of each in brackets, as in %s(%s)", quoteName(fields[0].table), formatList([]section{g}))
			}
			return nil, fmt.Errorf("the tags name table %q, of which there are no fields; give it fields, or leave it out", g.table)
		}
	}
	for _, t := range x.tables {
		t.Tags = t.set.tags
		t.tagAt, t.fieldAt = make(map[string]int, len(t.Tags)), make(map[string]int, len(t.Fields))
		for i := range t.Tags {
			t.tagAt[t.Tags[i].Key] = i
		}
		for i := range t.Fields {
			t.fieldAt[t.Fields[i].Name] = i
		}
	}
	return x, nil
}

// freeze makes the series' tags readable by number, and ends adding.
func (x *index) freeze() {
	done := make(map[*tagSet]bool)
	for _, t := range x.tables {
		s := t.set
		if done[s] {
			continue
		}
		done[s] = true
		for i := range s.tags {
			first, count := s.span()
			v := &tagValues{values: &s.values[i], first: first, codes: make([]int32, count)}
			for n := range v.codes {
				v.codes[n] = lacks
			}
			for local, n := range s.number {
				v.codes[n-first] = int32(binary.LittleEndian.Uint32(s.known.Text(int32(local))[4*i:]))
			}
			s.tags[i].Values = v
		}
	}
	x.frozen = true
}

// bytes is the memory of the index.
func (x *index) bytes() int64 {
	n, done := int64(0), make(map[*tagSet]bool)
	for _, t := range x.tables {
		if !done[t.set] {
			done[t.set] = true
			n += t.set.bytes()
		}
	}
	return n
}

// tagValues implements series.TagValues.
type tagValues struct {
	values *texts.List
	first  uint32  // series with the tags
	codes  []int32 // per series from first on, up to the last one with the tags
}

// Append implements series.TagValues.
func (v *tagValues) Append(dst []byte, of uint32) ([]byte, bool) {
	if of -= v.first; int64(of) >= int64(len(v.codes)) || v.codes[of] == lacks { // below first it wraps around
		return dst, false
	}
	return append(dst, v.values.Text(v.codes[of])...), true
}

// errChanged is the error of rows that the survey has not seen.
var errChanged = errors.New("has another tag value than when it was surveyed: the file was changed")

// finder finds the series of rows, and adds those that are new while the index is not
// frozen. It is used by one goroutine.
type finder struct {
	index *index
	codes []int32 // per tag of the row at hand
	key   []byte
	// What the row before had, which the next one often has too.
	last  []lastValue
	set   *tagSet
	begun []byte // its key
	found uint32
}

type lastValue struct {
	text []byte
	code int32
}

// begin begins a row of the table, without any tag.
func (f *finder) begin(t *table) {
	if f.set != t.set {
		f.set, f.begun = t.set, f.begun[:0]
		n := len(t.set.tags)
		for len(f.codes) < n {
			f.codes, f.last = append(f.codes, lacks), append(f.last, lastValue{})
		}
		for i := range n {
			f.last[i].code = lacks
		}
	}
	for i := range f.set.tags {
		f.codes[i] = lacks
	}
}

// tag gives the row a tag, which belongs to the caller.
func (f *finder) tag(i int, text []byte) error {
	last := &f.last[i]
	if last.code != lacks && string(last.text) == string(text) {
		f.codes[i] = last.code
		return nil
	}
	before := f.set.values[i].Len()
	code, err := f.code(f.set.of[i], &f.set.values[i], text)
	if err != nil {
		return err
	}
	if f.set.values[i].Len() > before && !utf8.Valid(text) {
		return invalidUTF8(f.set.tags[i].Key, "tags", text)
	}
	last.text, last.code = append(last.text[:0], text...), code
	f.codes[i] = code
	return nil
}

func (f *finder) code(in *texts.Lookup, list *texts.List, text []byte) (int32, error) {
	if !f.index.frozen {
		return in.Code(list, text)
	}
	code := in.Find(list, text)
	if code < 0 {
		return 0, errChanged
	}
	return code, nil
}

// series returns the number of the row's series.
func (f *finder) series() (uint32, error) {
	f.key = f.key[:0]
	for _, code := range f.codes[:len(f.set.tags)] {
		f.key = binary.LittleEndian.AppendUint32(f.key, uint32(code))
	}
	if len(f.begun) > 0 && string(f.key) == string(f.begun) {
		return f.found, nil
	}
	code, err := f.code(f.set.lookup, &f.set.known, f.key)
	if err != nil {
		return 0, err
	}
	if int(code) == len(f.set.number) {
		if f.index.series == math.MaxUint32 {
			return 0, errors.New("there are more series than 32 bits can number; make a tag of many values a field")
		}
		f.set.number = append(f.set.number, f.index.series)
		f.index.series++
	}
	f.begun, f.found = append(f.begun[:0], f.key...), f.set.number[code]
	return f.found, nil
}
