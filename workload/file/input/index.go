package input

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

// TagSet is the tags of one table: the values of each, and which of them make a series.
// Reading it while nothing is added is safe for many goroutines.
type TagSet struct {
	Tags   []series.Tag
	Values []texts.List // per tag, each value once
	of     []*texts.Lookup
	// known are the series, each as the codes of its values, four bytes a tag.
	known  texts.List
	lookup *texts.Lookup
	Number []uint32 // per known series, its number among those of all tables
}

func newTagSet(keys []string) *TagSet {
	s := &TagSet{Tags: make([]series.Tag, len(keys)), Values: make([]texts.List, len(keys)), lookup: texts.NewLookup()}
	s.known.Reset()
	for i, key := range keys {
		s.Tags[i].Key = key
		s.Values[i].Reset()
		s.of = append(s.of, texts.NewLookup())
	}
	return s
}

// span returns the first number of a series of the set, and how many there are up to its last.
func (s *TagSet) span() (first uint32, count int) {
	if len(s.Number) == 0 {
		return 0, 0
	}
	first = s.Number[0] // they rise
	return first, int(s.Number[len(s.Number)-1]-first) + 1
}

// bytes is the memory that the set takes.
func (s *TagSet) bytes() int64 {
	_, count := s.span()
	n := int64(cap(s.known.Bytes)) + 4*int64(cap(s.known.Offsets)+cap(s.Number)) + int64(s.lookup.Bytes())
	for i := range s.Values {
		n += int64(cap(s.Values[i].Bytes)) + 4*int64(cap(s.Values[i].Offsets)) + int64(s.of[i].Bytes()) + 4*int64(count)
	}
	return n
}

// Index is the tables of a dataset and its series: all that stays in memory.
type Index struct {
	Tables []*Table
	ByName map[string]*Table
	Series uint32
	Frozen bool // all series are known
}

// Table is a table and what its rows need to be read.
type Table struct {
	*series.Table
	Place int // among the index's tables
	Set   *TagSet
	// TagAt and FieldAt are the places of tags and fields by name.
	TagAt, FieldAt map[string]int
	// Named marks the columns of time, tags and fields that rows name, in formats without a header,
	// while the index is not frozen.
	Named []bool
}

// WidestTag is the tag with the most values.
func (t *Table) WidestTag() string {
	at := 0
	for i := range t.Set.Values {
		if t.Set.Values[i].Len() > t.Set.Values[at].Len() {
			at = i
		}
	}
	return t.Set.Tags[at].Key
}

// Columns are the names of the columns of the time, the tags and the fields, each once.
func (t *Table) Columns(times ...string) []string {
	names := slices.Clone(times)
	for i := range t.Tags {
		names = append(names, t.Tags[i].Key)
	}
	for i := range t.Fields {
		names = append(names, t.Fields[i].Name)
	}
	return RemoveDuplicates(names)
}

// NewIndex makes the tables of sections, which are alike in both lists.
func NewIndex(name string, tags, fields []Section) (*Index, error) {
	x := &Index{ByName: make(map[string]*Table)}
	tagsOf := make(map[string][]Section)
	for _, g := range tags {
		tagsOf[g.Table] = append(tagsOf[g.Table], g)
	}
	sets := make(map[string]*TagSet) // tables with the same keys share one
	for _, f := range fields {
		t := &Table{Table: &series.Table{Name: f.Table}, Place: len(x.Tables)}
		if t.Name == "" {
			t.Name = name
		}
		if x.ByName[t.Name] != nil {
			return nil, fmt.Errorf("table %s is there twice", t.Name)
		}
		var keys []string
		for _, g := range tagsOf[f.Table] {
			for _, c := range g.Columns {
				if c.Kind != 0 {
					return nil, fmt.Errorf("tag %s has a type, which tags have not; leave it out", c.Name)
				}
				keys = append(keys, c.Name)
			}
		}
		for _, c := range f.Columns {
			if c.Kind == 0 {
				return nil, fmt.Errorf("field %s has no type; write it as %s:float", c.Name, QuoteName(c.Name))
			}
			t.Fields = append(t.Fields, series.Field{Name: c.Name, Type: c.Kind, Length: c.Size})
		}
		same := fmt.Sprintf("%q", keys)
		if t.Set = sets[same]; t.Set == nil {
			t.Set = newTagSet(keys)
			sets[same] = t.Set
		}
		x.Tables, x.ByName[t.Name] = append(x.Tables, t), t
	}
	for _, g := range tags {
		if g.Table != "" && x.ByName[g.Table] == nil || g.Table == "" && len(fields) > 0 && fields[0].Table != "" {
			if g.Table == "" {
				return nil, fmt.Errorf("there are several tables: write the tags of each in brackets, as in %s(%s)", QuoteName(fields[0].Table), FormatList([]Section{g}))
			}
			return nil, fmt.Errorf("the tags name table %q, which has no fields; give it fields, or leave it out", g.Table)
		}
	}
	for _, t := range x.Tables {
		t.Tags = t.Set.Tags
		t.TagAt, t.FieldAt = make(map[string]int, len(t.Tags)), make(map[string]int, len(t.Fields))
		for i := range t.Tags {
			t.TagAt[t.Tags[i].Key] = i
		}
		for i := range t.Fields {
			t.FieldAt[t.Fields[i].Name] = i
		}
	}
	return x, nil
}

// Freeze makes the series' tags readable by number, and ends adding.
func (x *Index) Freeze() {
	done := make(map[*TagSet]bool)
	for _, t := range x.Tables {
		s := t.Set
		if done[s] {
			continue
		}
		done[s] = true
		for i := range s.Tags {
			first, count := s.span()
			v := &tagValues{values: &s.Values[i], first: first, codes: make([]int32, count)}
			for n := range v.codes {
				v.codes[n] = lacks
			}
			for local, n := range s.Number {
				v.codes[n-first] = int32(binary.LittleEndian.Uint32(s.known.Text(int32(local))[4*i:]))
			}
			s.Tags[i].Values = v
		}
	}
	x.Frozen = true
}

// Bytes is the memory of the index.
func (x *Index) Bytes() int64 {
	n, done := int64(0), make(map[*TagSet]bool)
	for _, t := range x.Tables {
		if !done[t.Set] {
			done[t.Set] = true
			n += t.Set.bytes()
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

// Finder finds the series of rows, and adds new ones unless the index is frozen. It is used by one
// goroutine.
type Finder struct {
	Index *Index
	codes []int32 // per tag of the row at hand
	key   []byte
	// What the row before had, which the next one often has too.
	last  []lastValue
	set   *TagSet
	begun []byte // its key
	found uint32
}

type lastValue struct {
	text []byte
	code int32
}

// Begin begins a row of the table, without any tag.
func (f *Finder) Begin(t *Table) {
	if f.set != t.Set {
		f.set, f.begun = t.Set, f.begun[:0]
		n := len(t.Set.Tags)
		for len(f.codes) < n {
			f.codes, f.last = append(f.codes, lacks), append(f.last, lastValue{})
		}
		for i := range n {
			f.last[i].code = lacks
		}
	}
	for i := range f.set.Tags {
		f.codes[i] = lacks
	}
}

// Tag gives the row a tag, which belongs to the caller.
func (f *Finder) Tag(i int, text []byte) error {
	last := &f.last[i]
	if last.code != lacks && string(last.text) == string(text) {
		f.codes[i] = last.code
		return nil
	}
	before := f.set.Values[i].Len()
	code, err := f.code(f.set.of[i], &f.set.Values[i], text)
	if err != nil {
		return err
	}
	if f.set.Values[i].Len() > before && !utf8.Valid(text) {
		return invalidUTF8(f.set.Tags[i].Key, "tags", text)
	}
	last.text, last.code = append(last.text[:0], text...), code
	f.codes[i] = code
	return nil
}

func (f *Finder) code(in *texts.Lookup, list *texts.List, text []byte) (int32, error) {
	if !f.Index.Frozen {
		return in.Code(list, text)
	}
	code := in.Find(list, text)
	if code < 0 {
		return 0, errChanged
	}
	return code, nil
}

// Series returns the number of the row's series.
func (f *Finder) Series() (uint32, error) {
	f.key = f.key[:0]
	for _, code := range f.codes[:len(f.set.Tags)] {
		f.key = binary.LittleEndian.AppendUint32(f.key, uint32(code))
	}
	if len(f.begun) > 0 && string(f.key) == string(f.begun) {
		return f.found, nil
	}
	code, err := f.code(f.set.lookup, &f.set.known, f.key)
	if err != nil {
		return 0, err
	}
	if int(code) == len(f.set.Number) {
		if f.Index.Series == math.MaxUint32 {
			return 0, errors.New("there are more series than 32 bits can number; make a tag of many values a field")
		}
		f.set.Number = append(f.set.Number, f.Index.Series)
		f.Index.Series++
	}
	f.begun, f.found = append(f.begun[:0], f.key...), f.set.Number[code]
	return f.found, nil
}

// Role is the use of a column of a file.
type Role struct {
	What  RoleKind
	Place int  // of the tag or field in its table
	Free  bool // it is a free field: blanks are part of its texts
}

type RoleKind uint8

const (
	RoleIgnored RoleKind = iota // the column is left out
	RoleTime
	RoleTimeOfDay
	RoleTag
	RoleField
)

// Roles finds out what the columns of a file become, and which fields of the table it
// has not. Two roles of one column are an error, as is a missing time.
func (t *Table) Roles(columns []string, times ...string) (of []Role, missing []int, err error) {
	of = make([]Role, len(columns))
	places := make(map[string]int, len(columns))
	for i, name := range columns {
		places[name] = i
	}
	set := func(name string, r Role) (has bool, err error) {
		at, ok := places[name]
		if !ok {
			return false, nil
		}
		if of[at].What != RoleIgnored {
			return true, fmt.Errorf("column %s is both time, tag or field; leave one out of time, tags and fields", name)
		}
		of[at] = r
		return true, nil
	}
	for i, name := range times {
		what := []RoleKind{RoleTime, RoleTimeOfDay}[i]
		if has, err := set(name, Role{What: what}); err != nil {
			return nil, nil, err
		} else if !has {
			return nil, nil, fmt.Errorf("has no column %q for the time; it has %s", name, ListSome(columns))
		}
	}
	for i := range t.Tags {
		if _, err := set(t.Tags[i].Key, Role{What: RoleTag, Place: i}); err != nil {
			return nil, nil, err
		}
	}
	for i := range t.Fields {
		has, err := set(t.Fields[i].Name, Role{RoleField, i, t.Fields[i].Free()})
		if err != nil {
			return nil, nil, err
		}
		if !has {
			missing = append(missing, i)
		}
	}
	return of, missing, nil
}

// Lacks returns a column of the table that is missing from the lists; empty: none is missing.
func (t *Table) Lacks(names []string, times []string) string {
	has := make(map[string]bool, len(names))
	for _, name := range names {
		has[name] = true
	}
	for _, name := range t.Columns(times...) {
		if !has[name] {
			return name
		}
	}
	return ""
}

// Names are those of tables that have files.
func (x *Index) Names(of map[*Table][]string) []string {
	var names []string
	for _, t := range x.Tables {
		if _, ok := of[t]; ok {
			names = append(names, t.Name)
		}
	}
	return names
}
