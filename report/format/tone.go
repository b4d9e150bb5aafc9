package format

// Tone is the role of a text, for writers that can show it.
type Tone string

const (
	TonePlain  Tone = ""
	ToneBest   Tone = "best"   // the best of the compared ones
	ToneBad    Tone = "bad"    // withheld, wrong, failed
	ToneStrong Tone = "strong" // the answer, if no target is shown to be the best
	ToneDim    Tone = "dim"    // not a result: empty, not verified, not available
)
