package influxdb

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
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
	s := &settings{
		wire:     httpwire.Config{Host: o[optionHost], Port: o[optionPort], TLS: httpwire.TLSMode(o[optionTLS], o[optionHost])},
		database: o[optionDatabase], retention: o[optionRetention], shard: o[optionShard],
		precision: o[optionPrecision], consistency: o[optionConsistency],
	}
	if s.database == "" {
		return nil, fmt.Errorf("give a name of a database by the option %s", optionDatabase)
	}
	var err error
	if s.wire.Timeout, err = time.ParseDuration(o[optionTimeout]); err != nil {
		return nil, fmt.Errorf("option %s: %w", optionTimeout, err)
	}
	if s.gzip, err = strconv.Atoi(o[optionGzip]); err != nil {
		return nil, fmt.Errorf("option %s: %w", optionGzip, err)
	}
	if c := o[optionChunked]; c != off {
		if s.chunk, err = strconv.Atoi(c); err != nil {
			return nil, fmt.Errorf("option %s: %w", optionChunked, err)
		}
	}
	s.unit = units[s.precision]
	user := cmp.Or(o[optionUser], getenv(userVariable))
	password := cmp.Or(o[optionPassword], getenv(passwordVariable))
	switch {
	case password != "" && user == "":
		return nil, errors.New("a password was given without a user: give the option user as well")
	case user != "":
		s.wire.Authorize = func(r *http.Request) { r.SetBasicAuth(user, password) }
	}
	return s, nil
}
