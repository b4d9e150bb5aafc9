package series

// Trait is something about the values of a dataset that not every system can
// hold.
type Trait uint8

// The traits.
const (
	NaN            Trait = iota + 1 // floats that are no numbers
	Infinities                      // infinite floats
	LargeFloats                     // floats beyond ±1e150, whose squares no double holds
	LargeInts                       // integers of 64 bits beyond ±2^53, up to where a double holds each of them
	SmallestInt                     // the smallest integer of its type
	FineTimestamps                  // fields of times that are no multiples of 1 µs
	EmptyTags                       // tags whose value is the empty text
	EscapedTags                     // tags with a line break, or a backslash that line protocol cannot tell from one that escapes
	RepeatedTimes                   // several rows of one series and time
)
