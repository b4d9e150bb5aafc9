package owndata

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/columnar"
	"github.com/tsmark/tsmark/workload/file/input"
)

// maxDistinct is the maximum number of different values remembered per column, and maxDistinctBytes
// their maximum total size in bytes.
const (
	maxDistinct      = 10_000
	maxDistinctBytes = 16 << 20
)

// profile describes the columns of a table or of a file.
type profile struct {
	name    string
	file    string // the first that it is of
	rows    int64
	columns []*columnProfile
	byName  map[string]*columnProfile
	// Line protocol has its tags and the time of its lines apart, since a field may have the
	// name of either.
	tags map[string]*columnProfile
	time *columnProfile // nil: the time is a column
}

func newProfile(name, file string) *profile {
	return &profile{name: name, file: file, byName: make(map[string]*columnProfile), tags: make(map[string]*columnProfile)}
}

// column returns the named column, a new one if need be.
func (p *profile) column(name string) *columnProfile {
	c := p.byName[name]
	if c == nil {
		c = newColumn(name)
		p.columns, p.byName[name] = append(p.columns, c), c
	}
	return c
}

// tag is column of a tag of line protocol.
func (p *profile) tag(name string) *columnProfile {
	c := p.tags[name]
	if c == nil {
		c = newColumn(name)
		c.tag = true
		p.columns, p.tags[name] = append(p.columns, c), c
	}
	return c
}

// timeColumn returns the time column of the given name; nil: not found.
func (p *profile) timeColumn(name string) *columnProfile {
	if p.time != nil {
		return p.time
	}
	return p.byName[name]
}

func newColumn(name string) *columnProfile {
	c := &columnProfile{
		name: name, lookup: texts.NewLookup(), least: math.MaxInt64, most: math.MinInt64, lowest: math.Inf(1), highest: math.Inf(-1), shortest: math.MaxInt,
	}
	c.distinct.Reset()
	return c
}

// columnProfile describes the values of a column.
type columnProfile struct {
	name   string
	tag    bool        // line protocol says so
	values int64       // without empty texts
	empty  int64       // empty texts that are not missing
	blanks bool        // a text begins or ends with a blank
	quoted int64       // of the values, in quotes of JSON
	typed  series.Type // declared by the format; 0: values are text
	bare   series.Type // type of the values that are not texts in a column of texts; 0: all values are texts, or the format does not say
	unit   int64       // unit of typed times
	digits int32       // of decimals, as their type says
	left   string      // why the column cannot be loaded, whatever its values are; empty: it can

	// Values that rule out a type. Values typed by the format are not examined.
	notInt, notFloat, notBool, notTime, notUTF8 others

	notDate, notText bool
	notLayout        bool // a value does not match the layout of times in the settings
	layouts          layoutCount
	badZone          error // error of the first value whose zone the layout cannot parse
	timesOfDay       int64 // values such as 15:04:05
	oddTimesOfDay    int64 // values such as 3:04 PM, which need a layout
	code             bool  // a value such as 0123, which a number would change
	commas           int64
	dressed          int64 // numbers such as 5 % and 1'000
	firstDressed     *large
	types            []typePlace // types declared by the format, if they differ, in order of appearance
	rounded          *large      // a whole number that a float changes

	least, most       int64   // of integers; none: least > most
	lowest, highest   float64 // of all numbers; none: lowest > highest
	shortest, longest int
	zoneless          int64 // times without a zone

	distinct texts.List
	lookup   *texts.Lookup
	many     bool // more than are remembered

	row int64 // in JSON and in fields of line protocol: the last row that has the column
}

// typePlace is a type declared by the format, and the place of the first value that has it.
type typePlace struct {
	kind series.Type
	at   string
}

// addType stores the place of a type unless the type is known.
func (c *columnProfile) addType(kind series.Type, at string) {
	if !c.hasType(kind) {
		c.types = append(c.types, typePlace{kind, at})
	}
}

func (c *columnProfile) hasType(kind series.Type) bool {
	for i := range c.types {
		if c.types[i].kind == kind {
			return true
		}
	}
	return false
}

// add examines a value at the profiler's current place.
func (c *columnProfile) add(text []byte, p *profiler) {
	c.values++
	if !c.notInt.gaveUp {
		n, ok := number.Int(text)
		leading := ok && len(text) > 1 && text[0] == '0'
		if ok && !leading {
			c.integer(n)
		} else {
			// A number such as a station's 0123 would lose its zero.
			c.notInt.add(text, &p.at, c.values)
			c.code = c.code || leading
		}
	}
	if !c.notFloat.gaveUp {
		v, ok := number.Float(text)
		if !ok {
			v, ok = number.NotFinite(text)
		}
		switch {
		case !ok:
			c.notFloat.add(text, &p.at, c.values)
			if withCommas(text) {
				c.commas++
			} else if dressed(text) {
				if c.dressed++; c.firstDressed == nil {
					c.firstDressed = &large{string(text), p.at}
				}
			}
		default:
			c.float(v)
			c.round(text, v, &p.at)
		}
	}
	if !c.notBool.gaveUp {
		if _, ok := number.Bool(text); !ok {
			c.notBool.add(text, &p.at, c.values)
		}
	}
	isTime := false
	if !c.notTime.gaveUp {
		before := p.times.Zoneless
		_, err := p.times.Text(text)
		if isTime = err == nil; err != nil {
			c.notTime.addTime(text, &p.at, c.values, err)
			c.ofDay(text, p)
		}
		c.notDate = c.notDate || (err == nil || errors.Is(err, input.ErrYear)) && len(text) != len("2006-01-02")
		c.zoneless += p.times.Zoneless - before
	}
	if !isTime {
		c.layouts.add(text)
	}
	if p.layoutOf != nil && !c.notLayout {
		_, err := p.layoutOf.Read(text)
		if c.notLayout = err != nil; c.notLayout && errors.As(err, new(input.ZoneError)) {
			at := p.at
			at.Err = fmt.Errorf("column %s: %q %w", c.name, text, err)
			c.badZone = &at
		}
	}
	c.shortest, c.longest = min(c.shortest, len(text)), max(c.longest, len(text))
	if !c.notText {
		_, ok := series.ParseText(text)
		c.notText = !ok
	}
	if c.notText && c.notUTF8.none() && !utf8.Valid(text) {
		c.notUTF8.add(text, &p.at, c.values)
	}
	c.remember(text)
}

// round remembers the first number that a float does not hold.
func (c *columnProfile) round(text []byte, v float64, at *input.Error) {
	if c.rounded == nil && (v >= input.MaxExact || v <= -input.MaxExact || len(text) > columnar.DigitsOfFloats+2) && rounds(text, v) {
		c.rounded = &large{string(text[:min(len(text), input.MaxShown)]), *at}
	}
}

// addEmpty looks at an empty text that is not missing, which only texts hold.
func (c *columnProfile) addEmpty() { c.empty++ }

// ofDay looks at a text that may be the time of a day.
func (c *columnProfile) ofDay(text []byte, p *profiler) {
	if len(text) < 4 || text[1] != ':' && text[2] != ':' {
		return
	}
	if _, _, err := p.times.TimeOfDay(text); err == nil {
		c.timesOfDay++
	} else if input.OddTimeOfDay(text) {
		c.oddTimesOfDay++
	}
}

// integer and float remember the bounds of a column's numbers.
func (c *columnProfile) integer(n int64) { c.least, c.most = min(c.least, n), max(c.most, n) }

func (c *columnProfile) float(v float64) {
	if v < c.lowest { // which NaN is not
		c.lowest = v
	}
	if v > c.highest {
		c.highest = v
	}
}

func (c *columnProfile) remember(text []byte) {
	if c.many {
		return
	}
	if _, err := c.lookup.Code(&c.distinct, text); err != nil || c.distinct.Len() > maxDistinct || len(c.distinct.Bytes) > maxDistinctBytes {
		c.many = true
		c.distinct, c.lookup = texts.List{}, nil
	}
}

// merge adds the profile of the same column of another file.
func (c *columnProfile) merge(other *columnProfile, file, otherFile string) {
	c.tag = c.tag || other.tag
	if c.left == "" {
		c.left = other.left
	}
	c.empty, c.blanks = c.empty+other.empty, c.blanks || other.blanks
	if other.values == 0 && other.typed == 0 && !other.tag {
		return
	}
	if c.typed != 0 || other.typed != 0 {
		both := input.MergeTypes(c.typed, other.typed)
		if both == series.Text && c.typed != other.typed && c.typed != 0 && other.typed != 0 && c.values > 0 && other.values > 0 && len(c.types) == 0 && len(other.types) == 0 {
			c.addType(c.typed, file)
			c.addType(other.typed, otherFile)
		}
		for _, one := range []*columnProfile{c, other} {
			if both == series.Text && one.typed != series.Text && one.values > 0 {
				c.bare = input.MergeTypes(c.bare, one.typed)
			}
		}
		c.typed = both
	}
	c.bare = input.MergeTypes(c.bare, other.bare)
	for _, t := range other.types {
		c.addType(t.kind, t.at)
	}
	c.values += other.values
	c.quoted += other.quoted
	c.zoneless += other.zoneless
	c.timesOfDay, c.oddTimesOfDay = c.timesOfDay+other.timesOfDay, c.oddTimesOfDay+other.oddTimesOfDay
	if c.badZone == nil {
		c.badZone = other.badZone
	}
	c.commas, c.dressed = c.commas+other.commas, c.dressed+other.dressed
	if c.firstDressed == nil {
		c.firstDressed = other.firstDressed
	}
	c.notInt.merge(&other.notInt)
	c.notFloat.merge(&other.notFloat)
	c.notBool.merge(&other.notBool)
	c.notTime.merge(&other.notTime)
	c.notUTF8.merge(&other.notUTF8)
	c.layouts.merge(&other.layouts)
	c.notDate, c.notText, c.notLayout, c.code = c.notDate || other.notDate, c.notText || other.notText, c.notLayout || other.notLayout, c.code || other.code
	if c.rounded == nil {
		c.rounded = other.rounded
	}
	c.least, c.most = min(c.least, other.least), max(c.most, other.most)
	c.lowest, c.highest = min(c.lowest, other.lowest), max(c.highest, other.highest)
	c.shortest, c.longest = min(c.shortest, other.shortest), max(c.longest, other.longest)
	if other.many {
		c.many = true
		return
	}
	for i := range int32(other.distinct.Len()) {
		c.remember(other.distinct.Text(i))
	}
}

// names reports whether the format declares the values as texts, so that digits are names rather
// than amounts. If only a few values of a column are quoted, the others decide.
func (c *columnProfile) names() bool {
	return c.typed == series.Text || valuesPerOther*c.quoted > c.values
}

// kind is the type that the column's values have as a field. Texts of digits that the
// format says are texts stay such.
func (c *columnProfile) kind() (series.Type, int) {
	switch {
	case c.typed != 0 && c.typed != series.Text:
		return c.typed, 0
	case c.values == 0 && c.empty > 0:
		return series.Text, 0
	case c.values == 0:
		return 0, 0
	case c.bare != 0:
		return series.Text, 0
	case c.notInt.none() && !c.names():
		return series.Int, 0
	case c.notFloat.none() && !c.code && !c.notInt.none():
		return series.Float, 0
	case c.notBool.none() && !c.names():
		return series.Bool, 0
	case c.notTime.none() && !c.notDate:
		return series.Date, 0
	case c.notTime.none():
		return series.Timestamp, 0
	case !c.notText && c.empty == 0 && !c.blanks && c.shortest == c.longest && c.longest <= series.MaxText:
		return series.Text, c.longest
	}
	return series.Text, 0
}
