package sql

import (
	"time"

	"github.com/tsmark/tsmark/query"
)

// Literals returns the literals of the dialect, for texts that somebody else wrote.
func (d *Dialect) Literals() query.Literals {
	return query.Literals{
		Language: "sql",
		Text: func(value string) (string, error) {
			return d.Text(value), d.CheckText(value)
		},
		Time: func(t time.Time) string { return d.Time(d.roundUp(t)) },
	}
}
