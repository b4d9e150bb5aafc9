package lie

import (
	"slices"
	"time"
)

// Guesser guesses which answers are not compared: a client that keeps an answer may take
// longer until its next query, and may keep no further one soon. It takes an answer for
// safe if one of the last three gaps was longer than most. Its zero value has seen none.
type Guesser struct {
	last    time.Time
	gaps    []time.Duration // sorted
	safe    int             // further answers that it takes for safe
	answers int
}

// The first answers are honest, as some are compared before anything is measured.
const (
	honest  = 5
	safeFor = 3
)

// Safe takes the time of the next answer, and reports whether it takes it for safe.
func (g *Guesser) Safe(now time.Time) bool {
	gap := now.Sub(g.last)
	g.last = now
	if g.answers++; g.answers <= honest {
		return false
	}
	at, _ := slices.BinarySearch(g.gaps, gap)
	if g.gaps = slices.Insert(g.gaps, at, gap); at >= len(g.gaps)/2 {
		g.safe = safeFor
	}
	g.safe--
	return g.safe >= 0
}
