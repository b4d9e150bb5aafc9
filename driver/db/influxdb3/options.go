package influxdb3

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
)

// settings are the parsed options.
type settings struct {
	wire      httpwire.Config
	token     string
	database  string
	read      string
	noSync    bool
	gzip      int // level; 0: off
	precision string
	unit      time.Duration // of times
}

// newSettings reads the options, which Resolve has checked one by one. The
// environment has the token that the options do not.
func newSettings(o driver.Options, getenv func(string) string) (*settings, error) {
	c := connection.Of(o)
	s := &settings{
		token: cmp.Or(o[optionToken], getenv(tokenVariable)), database: c.Database, read: o[optionRead], noSync: o[optionNoSync] == on,
		gzip: o.Int(optionGzip), precision: o[optionPrecision], unit: influx.Units()[o[optionPrecision]],
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

// precisions are the server's names for the units of times.
var precisions = map[string]string{"ns": "nanosecond", "u": "microsecond", "ms": "millisecond", "s": "second"}

// writes returns the endpoint for lines.
func (s *settings) writes(noSync bool) lineproto.Endpoint {
	return lineproto.Endpoint{
		Wire: &s.wire, Path: "/api/v3/write_lp",
		Parameters: url.Values{
			"db": {s.database}, "precision": {precisions[s.precision]}, "accept_partial": {"false"}, "no_sync": {strconv.FormatBool(noSync)},
		},
		Compress: lineproto.Gzip(s.gzip), Explain: refused,
	}
}
