package questdb

import (
	"net/http"
	"time"

	"github.com/tsmark/tsmark/driver/httpwire"
)

// keepIdle is how long a connection may lie idle. The server closes it after
// five seconds, and a batch that is sent meanwhile would be lost.
const keepIdle = 3 * time.Second

// wire says where HTTP is spoken.
func (s *settings) wire() *httpwire.Config {
	c := &httpwire.Config{Host: s.host, Port: s.port, TLS: s.tls, Timeout: s.timeout, Idle: keepIdle}
	switch {
	case s.token != "":
		c.Authorize = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s.token) }
	case s.user != "":
		c.Authorize = func(r *http.Request) { r.SetBasicAuth(s.user, s.password) }
	}
	return c
}
