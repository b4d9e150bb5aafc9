package target

import "github.com/tsmark/tsmark/series"

// Held is how a system holds the values of a type.
type Held struct {
	As string // the system's own type, as its users write it: BIGINT
	// Mapped is what a value becomes where the system has no such type, in
	// words: 0 or 1. Empty: the type is the system's own.
	Mapped string
}

// String is the type, and what the values become in it.
func (h Held) String() string {
	if h.Mapped == "" {
		return h.As
	}
	return h.As + ", " + h.Mapped
}

// Holds returns how a kind with options holds the values of a type, and false
// where that is not known.
func (k *Kind) Holds(t series.Type, o Options) (Held, bool) {
	if k.Types == nil {
		return Held{}, false
	}
	h, ok := k.Types(o)[t]
	return h, ok
}
