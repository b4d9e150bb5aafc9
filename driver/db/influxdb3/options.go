package influxdb3

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/series"
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

// endpoints implements driver.Driver's Endpoints: HTTP and gRPC share a port.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := newSettings(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	return []driver.Endpoint{s.wire.Endpoint(connection.Port)}, nil
}

// maxColumns is the largest number of columns in a table of InfluxDB 3, including its time. tsmark adds
// one of its own, influx.NullField.
const maxColumns = 500

// checkSchema implements the Schema of driver.Caps.
func checkSchema(s *series.Schema) error {
	if err := influx.CheckSchema(s); err != nil {
		return err
	}
	for _, t := range s.Tables {
		if n := 2 + len(t.ColumnNames()); n > maxColumns {
			return fmt.Errorf("table %s would have %d columns, and InfluxDB 3 takes %d; give it fewer tags and fields", t.Name, n, maxColumns)
		}
		for _, name := range append([]string{t.Name}, t.ColumnNames()...) {
			if err := newDialect().CheckText(name); err != nil {
				return err
			}
		}
	}
	return nil
}
