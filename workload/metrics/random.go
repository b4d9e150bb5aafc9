package metrics

// Odd constants that separate streams of random numbers.
const (
	perEpoch = 0xD6E8FEB86659FD93
	perStep  = 0xA0761D6478BD642F
)
