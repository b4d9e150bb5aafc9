package write

// Evidence is what decided a claim.
type Evidence struct {
	Short string
	// Parts are its comparisons, a sentence each, where they are too many for Short, which
	// counts them then.
	Parts []string
}
