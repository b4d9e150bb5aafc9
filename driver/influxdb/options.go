package influxdb

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/httpwire"
)

// settings is what the options amount to.
type settings struct {
	wire        httpwire.Config
	database    string
	retention   string // policy; empty: the default one
	shard       string // duration; empty: the server's
	gzip        int    // level; 0: off
	precision   string
	unit        time.Duration // of the precision
	consistency string
	chunk       int // rows; 0: answers are not cut into chunks
}

// newSettings reads the options, which Resolve has checked one by one. The
// environment has the credentials that the options do not.
func newSettings(o driver.Options, getenv func(string) string) (*settings, error) {
	c := connection.Of(o)
	s := &settings{
		wire:     httpwire.Config{Host: c.Host, Port: c.Port, TLS: httpwire.TLSMode(c.TLS, c.Host), Timeout: c.Timeout},
		database: c.Database, retention: o[optionRetention], shard: o[optionShard],
		gzip: o.Int(optionGzip), precision: o[optionPrecision], consistency: o[optionConsistency], chunk: o.Int(optionChunked),
	}
	if s.database == "" {
		return nil, fmt.Errorf("give a name of a database by the option %s", connection.Database)
	}
	s.unit = units[s.precision]
	user := cmp.Or(c.User, getenv(userVariable))
	password := cmp.Or(c.Password, getenv(passwordVariable))
	switch {
	case password != "" && user == "":
		return nil, errors.New("a password was given without a user: give the option user as well")
	case user != "":
		s.wire.Authorize = func(r *http.Request) { r.SetBasicAuth(user, password) }
	}
	return s, nil
}
