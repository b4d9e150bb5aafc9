package broker

import (
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/internal/listen"
)

// DefaultAddress is the default address of a server: for agents on this machine.
const DefaultAddress = "127.0.0.1:4222"

// Options are the options of a server.
type Options struct {
	Listen string // HOST:PORT; a port of 0 is a free one
	Access Access // credentials for clients; a server beyond loopback requires a token or a certificate
	Agents int    // number of agents expected to connect; 0: one
}

// Check reports why a server must not be started with the options, in a line that says how to fix
// it.
func (o Options) Check() error {
	a, err := listen.Parse(o.Listen, DefaultAddress)
	if err != nil {
		return err
	}
	if err := o.Access.pair(); err != nil {
		return err
	}
	switch {
	case o.Access.CA != "" && o.Access.Cert == "":
		return errors.New("a server that requires certificates needs one itself; pass its certificate and key")
	case o.Access.Credentials != "":
		return errors.New("credentials are for an existing NATS server; tsmark starts this one, with a token or certificates")
	case o.Access.Token != "":
		return listen.CheckToken(o.Access.Token)
	case !a.Loopback() && !o.Access.mutual():
		return fmt.Errorf("%s can be reached from other machines; use a token, or certificates (certificate, key and the CA of the agents), or listen on 127.0.0.1", a)
	}
	return nil
}
