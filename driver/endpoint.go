package driver

import (
	"context"
	"crypto/tls"
)

// Endpoint is an address of a server that a run uses.
type Endpoint struct {
	Protocol string // as messages name it: HTTP
	Address  string // host:port
	Option   string // the option that sets the port: pg_port
	// Queries means that only queries use the address: a load alone does not need it.
	Queries bool
	// Opened means that Open has used the address: it needs no further check before a load.
	Opened bool
	// Secret means that a password or a token is sent there.
	Secret bool
	// Probe connects and returns the state of TLS; nil: the connection is not encrypted, or the driver
	// cannot find out. The error states the problem in one line, and wraps ErrUnreachable if nothing
	// answers.
	Probe func(context.Context) (*tls.ConnectionState, error)
}
