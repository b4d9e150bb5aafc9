package clickhouse

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// config is the address of a server and the parameters of connections to it.
type config struct {
	connection.Settings
	http     bool
	tls      *tls.Config // nil: not encrypted
	settings []setting
	wire     httpwire.Config // for HTTP
}

func newConfig(o driver.Options) *config {
	c := &config{Settings: connection.NewSettings(o), http: o[optionProtocol] == protocolHTTP, settings: settings()}
	if c.http {
		c.Port = o[optionHTTPPort]
	}
	if o.Bool(optionAsync) {
		c.settings = append(c.settings, setting{"async_insert", "1"}, setting{"wait_for_async_insert", "1"})
	}
	c.tls = c.Encryption()
	c.wire = c.wireConfig()
	return c
}

func (c *config) location() string { return fmt.Sprintf("database %s at %s", c.Database, c.Address()) }

func (c *config) place() string {
	return fmt.Sprintf("database %s at %s", c.Database, driver.AddressPlace(c.Host, c.Port))
}

// addSettings returns the configuration with further settings.
func (c *config) addSettings(more ...setting) *config {
	own := *c
	own.settings = append(slices.Clone(c.settings), more...)
	return &own
}

// conn is one connection, used by one goroutine at a time.
type conn interface {
	sqlkit.Remote
	// Insert sends the columns as one block, and returns their uncompressed size and the time at which
	// their last byte was handed over.
	Insert(ctx context.Context, statement string, columns proto.Input) (bytes int64, sent time.Time, err error)
}

// connect opens a connection; over HTTP, the first request opens it. Its error wraps
// driver.ErrUnreachable if no server answers, and ctx's error if ctx ended the attempt.
func (c *config) connect(ctx context.Context) (conn, error) {
	if c.http {
		return c.newHTTP(), nil
	}
	return c.native(ctx)
}
