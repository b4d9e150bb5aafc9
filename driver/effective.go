package driver

import (
	"context"
	"fmt"
)

// Configured is a DB that sets options at its server and can read back what came of them: a
// pooler between may drop them, or the server may not have them.
type Configured interface {
	// Effective returns what the server has now for each option that was given and set
	// there, as far as it tells. Settings of tables are left out where there are no tables.
	Effective(context.Context) ([]Effective, error)
}

// Effective is an option and what the server has for it.
type Effective struct {
	Option, Wanted string // as given; an empty option is a setting that tsmark itself needs
	Setting, Found string // as the server names it and tells it; a value of equal meaning is told as Wanted
	Remedy         string // what to do where the two differ: "connect to the server itself"
}

// Contradiction returns an error that names the first option that is not in effect at a target's
// server; nil: all are, or the server does not tell.
func Contradiction(ctx context.Context, db DB) error {
	c, ok := As[Configured](db)
	if !ok {
		return nil
	}
	all, err := c.Effective(ctx)
	if err != nil {
		return fmt.Errorf("reading back which options are in effect: %w", err)
	}
	for _, e := range all {
		switch {
		case e.Found == e.Wanted:
		case e.Option == "":
			return fmt.Errorf("tsmark needs %s=%s, and the server has %s; %s", e.Setting, e.Wanted, e.Found, e.Remedy)
		default:
			return fmt.Errorf("option %s=%s is not in effect: the server says %s is %s; %s", e.Option, e.Wanted, e.Setting, e.Found, e.Remedy)
		}
	}
	return nil
}
