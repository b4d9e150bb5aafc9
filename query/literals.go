package query

import "time"

// Literals writes values in a database's language, to fill in query texts that users wrote in it.
type Literals struct {
	// Unsupported is why texts cannot be run with the options at hand; empty: they can.
	Unsupported string
	Language    string // in lower case: sql, influxql
	// Confinement describes what prevents a user's text from changing anything, and what such a
	// text could still do. Users read it before a text from another source runs.
	Confinement string
	// Text returns a text literal in quotes, or an error if the text has no literal.
	Text func(string) (string, error)
	// Time returns a time, rounded up to the first one that the database can name.
	Time func(time.Time) (string, error)
	// Regexp returns a regular expression; nil: it is a text.
	Regexp func(string) (string, error)
}
