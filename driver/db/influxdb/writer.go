package influxdb

import (
	"net/url"

	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/series"
)

// TakesLines implements driver.DB.
func (d *database) TakesLines(format string, s *series.Schema) bool {
	return format == "influx" && !(d.settings.gemini() && hasBooleans(s))
}

// writes returns the endpoint for lines, with a retention policy; empty: the default one.
func (s *settings) writes(retention string) lineproto.Endpoint {
	e := lineproto.Endpoint{
		Wire: &s.wire, Path: "/write", Parameters: url.Values{"db": {s.database}, "precision": {"ns"}},
		Compress: s.compress, Explain: writeError,
	}
	if retention != "" {
		e.Parameters.Set("rp", retention)
	}
	if s.consistency != "" {
		e.Parameters.Set("consistency", s.consistency)
	}
	return e
}
