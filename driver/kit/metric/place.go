package metric

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// Place returns a function that names the place of a target's data: a server, and the value of the
// prefix option; an empty prefix means that there is no such option. A server with a prefix is one
// place: its metrics are named after the dataset's tables and fields.
func Place(system, prefix string) func(driver.Options) string {
	return func(o driver.Options) string {
		place := system + " at " + driver.AddressPlace(o[connection.Host], o[connection.Port])
		if o[prefix] != "" {
			place += " below " + o[prefix]
		}
		return place
	}
}

// Open returns a database after greet has found, within the connection time-out, that its server
// answers.
func Open(ctx context.Context, system string, wire *httpwire.Config, db driver.DB, greet func(context.Context) error) (driver.DB, error) {
	bounded, cancel := wire.WithTimeout(ctx)
	defer cancel()
	if err := greet(bounded); err != nil {
		db.Close()
		return driver.DB{}, fmt.Errorf("opening %s: %w", system, err)
	}
	return db, nil
}
