package influxdb2

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
)

// settings are the parsed options.
type settings struct {
	wire           httpwire.Config
	token          string
	org, bucket    string
	setup          bool
	user, password string // for a set-up
	language       string
	compress       lineproto.Compression
	retention      time.Duration // 0: data does not expire
	shard          time.Duration // 0: the server's default
}

// newSettings reads the options, each checked by Resolve already. Credentials that the options lack
// come from the environment.
func newSettings(o driver.Options, getenv func(string) string) (*settings, error) {
	c := connection.NewSettings(o)
	s := &settings{
		token: cmp.Or(o[optionToken], getenv(tokenVariable)), org: cmp.Or(o[optionOrg], getenv(orgVariable)), bucket: o[optionBucket],
		setup: o[optionSetup] == on, user: c.User, password: c.Password,
		language: o[optionLanguage], compress: lineproto.CompressionOf(o),
		retention: o.Duration(optionRetention), shard: o.Duration(optionShard),
	}
	switch {
	case s.bucket == "":
		return nil, fmt.Errorf("give a name of a bucket by the option %s", optionBucket)
	case s.setup && (s.user == "" || s.password == "" || s.org == "" || s.token == ""):
		return nil, fmt.Errorf("give the options %s, %s, %s and %s, with which the server is to be set up", connection.User, connection.Password, optionOrg, optionToken)
	case !s.setup && (s.user != "" || s.password != ""):
		return nil, errors.New("give a token: InfluxDB 2 takes a user and a password for a set-up alone")
	}
	c.User, c.Password = "", ""
	var err error
	if s.wire, err = httpwire.NewConfig(c, ""); err != nil {
		return nil, err
	}
	if s.token != "" {
		s.wire.Authorize = func(r *http.Request) { r.Header.Set("Authorization", "Token "+s.token) }
	}
	return s, nil
}

// writes returns the endpoint for lines.
func (s *settings) writes() lineproto.Endpoint {
	return lineproto.Endpoint{
		Wire: &s.wire, Path: "/api/v2/write", Parameters: url.Values{"org": {s.org}, "bucket": {s.bucket}, "precision": {"ns"}},
		Compress: s.compress, Explain: writeError,
	}
}

// endpoint returns the endpoint for queries in InfluxQL.
func (s *settings) endpoint() influx.Endpoint {
	return influx.Endpoint{Wire: &s.wire, Database: s.bucket, Chunk: 10_000, Explain: responseError}
}
