package driver

import (
	"context"
	"crypto/tls"
)

// Endpoint is an address of a server that a run uses.
type Endpoint struct {
	Protocol string // as messages name it: HTTP
	Address  string // host:port
	Option   string // that sets the port: pg_port
	// Queries says that only queries go there: a load alone does not need it.
	Queries bool
	// Opened says that Open has spoken to it: it needs no further look before a load.
	Opened bool
	// Secret says that a password or a token goes there.
	Secret bool
	// Probe connects and returns the state of TLS; nil: the connection is not encrypted, or the driver
	// cannot find out. The error states the problem in one line, and wraps ErrUnreachable if nothing
	// answers.
	Probe func(context.Context) (*tls.ConnectionState, error)
}
