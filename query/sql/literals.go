package sql

import (
	"time"

	"github.com/tsmark/tsmark/query"
)

// Literals returns the literals of the dialect, for texts that users wrote. Confinement is
// that of query.Literals.
func (d *Dialect) Literals(confinement string) query.Literals {
	return query.Literals{
		Language:    "sql",
		Confinement: confinement,
		Text: func(value string) (string, error) {
			return d.Text(value), d.CheckText(value)
		},
		Time: func(t time.Time) (string, error) { return d.Time(d.roundUp(t)), nil },
	}
}
