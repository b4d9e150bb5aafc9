package influxdb3

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
)

// settings are the parsed options.
type settings struct {
	wire     httpwire.Config
	token    string
	database string
	noSync   bool
	compress lineproto.Compression
}

// newSettings reads the options, which Resolve has checked one by one. The
// environment has the token that the options do not.
func newSettings(o driver.Options, getenv func(string) string) (*settings, error) {
	c := connection.NewSettings(o)
	s := &settings{
		token: cmp.Or(o[optionToken], getenv(tokenVariable)), database: c.Database, noSync: o[optionNoSync] == on,
		compress: lineproto.CompressionOf(o),
	}
	if err := checkDatabase(s.database); err != nil {
		return nil, err
	}
	var err error
	s.wire, err = httpwire.NewConfig(c, s.token)
	return s, err
}

// checkDatabase returns an error for names of databases that InfluxDB 3 does not allow.
func checkDatabase(name string) error {
	if name == "" {
		return fmt.Errorf("give a name of a database by the option %s", connection.Database)
	}
	for i, c := range []byte(name) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !plain && (i == 0 || c != '_' && c != '-' && c != '/') {
			return errors.New("the name of a database begins with a letter or a digit and has letters, digits, _ and - alone; give another by the option " + connection.Database)
		}
	}
	return nil
}

// writes returns the endpoint for lines.
func (s *settings) writes(noSync bool) lineproto.Endpoint {
	return lineproto.Endpoint{
		Wire: &s.wire, Path: "/api/v3/write_lp",
		Parameters: url.Values{
			"db": {s.database}, "precision": {"nanosecond"}, "accept_partial": {"false"}, "no_sync": {strconv.FormatBool(noSync)},
		},
		Compress: s.compress, Explain: writeError,
	}
}
