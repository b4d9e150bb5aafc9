package series

import "time"

// Values is what is known of a dataset's values without reading them.
type Values struct {
	First, Last time.Time     // no row's time is before First, and none after Last
	Step        time.Duration // every row's time is a multiple of it since 1970
	Has         []Trait       // what may be among the values
}

// Trait is something about the values of a dataset that not every system can
// hold.
type Trait uint8

// The traits.
const (
	NaN            Trait = iota + 1 // floats that are no numbers
	Infinities                      // infinite floats
	LargeInts                       // integers of 64 bits beyond ±2^53, up to where a double holds each of them
	SmallestInt                     // the smallest integer of its type
	FineTimestamps                  // fields of times that are no multiples of 1 µs
	EmptyTags                       // tags whose value is the empty text
	EscapedTags                     // tags with a line break, or a backslash that line protocol cannot tell from one that escapes
	UnplainTags                     // tags with other characters than those of ASCII that are seen, or with an equals sign
	RepeatedTimes                   // several rows of one series and time
)

// String names values of the trait for people.
func (t Trait) String() string {
	return [...]string{"?", "NaN", "infinite floats", "integers beyond 2^53", "the smallest integer of a type",
		"fields with times that are no multiples of 1 µs", "empty tags", "tags with a line break, or a backslash before a character that is escaped",
		"tags with blanks, equals signs, or characters beyond ASCII",
		"several rows of one series and time"}[t]
}
