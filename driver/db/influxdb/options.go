package influxdb

import (
	"cmp"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/encode"
)

// settings are the parsed options.
type settings struct {
	wire        httpwire.Config
	product     influx.Product // the server that answers
	database    string
	retention   string // policy; empty: the default one
	shard       string // duration; empty: the server's default
	compress    lineproto.Compression
	consistency string
	chunk       int // rows; 0: results are not chunked
}

// newSettings reads the options, each checked by Resolve already. Credentials that the options lack
// come from the environment.
func newSettings(o driver.Options, getenv func(string) string) (*settings, error) {
	c := connection.NewSettings(o)
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
		compress: lineproto.CompressionOf(o), consistency: o[optionConsistency], chunk: o.Int(optionChunked),
	}, nil
}

// gemini reports whether the server is openGemini.
func (s *settings) gemini() bool { return s.product == influx.OpenGemini }

// lines returns the format of rows. openGemini parses f as a float.
func (s *settings) lines() encode.LineProtocol {
	lines := influx.Lines()
	lines.Capitals = s.gemini()
	return lines
}

// endpoint returns the endpoint for queries.
func (s *settings) endpoint() influx.Endpoint {
	return influx.Endpoint{Product: s.product, Wire: &s.wire, Database: s.database, Retention: s.retention, Chunk: s.chunk, Explain: responseError}
}
