package series

import (
	"bytes"
	"slices"
	"time"
)

// Values describes a dataset's values without reading them.
type Values struct {
	First, Last time.Time     // no row's time is before First, and none after Last
	Step        time.Duration // every row's time is a multiple of it since 1970
	StepBy      string        // the setting that determines Step, such as ticks.precision; empty: the interval
	Has         []Trait       // traits that values may have
}

// Trait is a property of a dataset's values that not every system supports.
type Trait uint8

// The traits.
const (
	NaN            Trait = iota + 1 // floats that are not numbers
	Infinities                      // infinite floats
	LargeInts                       // 64-bit integers beyond ±2^53, which not every double represents exactly
	SmallestInt                     // the smallest integer of its type
	FineTimestamps                  // fields of times that are not multiples of 1 µs
	EmptyTags                       // tags whose value is the empty text
	EscapedTags                     // tags with a line break, or a backslash that line protocol cannot tell from one that escapes
	UnplainTags                     // tags with characters other than visible ASCII, or with an equals sign
	RepeatedTimes                   // several rows of one series and time
	FreeTexts                       // fields that are free: see Field.Free
	NULTexts                        // texts in free fields with the character NUL
)

// String names values of the trait for people.
func (t Trait) String() string {
	return [...]string{"?", "NaN", "infinite floats", "integers beyond 2^53", "the smallest integer of a type",
		"fields with times that are not multiples of 1 µs", "empty tags", "tags with a line break, or a backslash before a character that is escaped",
		"tags with blanks, equals signs, or characters beyond ASCII",
		"several rows of one series and time", "text fields of any length and content", "text fields with the character NUL"}[t]
}

// TagTraits returns the traits of a tag's value.
func TagTraits(value []byte) []Trait {
	var has []Trait
	for _, t := range []struct {
		trait Trait
		is    bool
	}{{EmptyTags, len(value) == 0}, {EscapedTags, Escaped(value)}, {UnplainTags, !Plain(value)}} {
		if t.is {
			has = append(has, t.trait)
		}
	}
	return has
}

// Plain reports whether a text consists of visible ASCII characters without an equals sign. Formats
// that split lines at blanks and equals signs, such as OpenTSDB's put, can contain it.
func Plain(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c >= 0x7f || c == '=' {
			return false
		}
	}
	return true
}

// Escaped reports whether line protocol cannot represent a text: it has a line break, or is
// Ambiguous.
func Escaped(text []byte) bool {
	return bytes.IndexByte(text, '\n') >= 0 || Ambiguous(text)
}

// Ambiguous reports whether line protocol cannot distinguish a backslash of a text from an escaping
// one: a backslash at the end, or before a comma, a space or an equals sign.
func Ambiguous(text []byte) bool {
	for i, b := range text {
		if b == '\\' && (i+1 == len(text) || slices.Contains([]byte(", ="), text[i+1])) {
			return true
		}
	}
	return false
}
