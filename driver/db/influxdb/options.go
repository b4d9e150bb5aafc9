package influxdb

import (
	"cmp"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/encode"
)

// settings is what the options amount to.
type settings struct {
	wire        httpwire.Config
	product     influx.Product // the server that answers
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
	c.User, c.Password = cmp.Or(c.User, getenv(userVariable)), cmp.Or(c.Password, getenv(passwordVariable))
	wire, err := httpwire.NewConfig(c, "")
	if err != nil {
		return nil, err
	}
	if c.Database == "" {
		return nil, fmt.Errorf("give a name of a database by the option %s", connection.Database)
	}
	return &settings{
		wire: wire, product: productOf(o[optionServer]), database: c.Database, retention: o[optionRetention], shard: o[optionShard],
		gzip: o.Int(optionGzip), precision: o[optionPrecision], unit: influx.Units()[o[optionPrecision]], consistency: o[optionConsistency], chunk: o.Int(optionChunked),
	}, nil
}

// gemini reports whether the server is openGemini.
func (s *settings) gemini() bool { return s.product == influx.OpenGemini }

// lines is how rows are written. openGemini takes f for a float.
func (s *settings) lines() encode.LineProtocol {
	lines := influx.Lines(s.unit)
	lines.Capitals = s.gemini()
	return lines
}

// endpoint is where queries are run.
func (s *settings) endpoint() influx.Endpoint {
	return influx.Endpoint{Product: s.product, Wire: &s.wire, Database: s.database, Retention: s.retention, Chunk: s.chunk, Explain: explained}
}
