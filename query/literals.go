package query

import "time"

// Literals writes values as a database's language has them, for texts that somebody
// wrote in that language.
type Literals struct {
	// Unsupported is why texts cannot be run with the options at hand; empty: they can.
	Unsupported string
	Language    string // in lower case: sql, influxql
	// Text returns a text between quotes; an error: there is no such literal.
	Text func(string) (string, error)
	// Time returns a time, rounded up to the first one that the database can name.
	Time func(time.Time) string
	// Regexp returns a regular expression; nil: it is a text.
	Regexp func(string) (string, error)
}
