//go:build light

package broker

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
)

// Server is never started by this build; Start returns the reason.
type Server struct{}

// Start returns an error.
func Start(context.Context, Options) (*Server, error) {
	return nil, errors.New("this tsmark was built with -tags light, without a NATS server; name an existing one as nats://HOST:PORT, or build it again without that tag")
}

// URL is empty.
func (s *Server) URL() string { return "" }

// Private returns false.
func (s *Server) Private() bool { return false }

// Connect returns an error.
func (s *Server) Connect(context.Context, string, string) (*nats.Conn, error) {
	return nil, ErrUnreachable
}

// IsConnected knows no connections.
func (s *Server) IsConnected(string) (exists, known bool) { return false, false }

// Close does nothing.
func (s *Server) Close() error { return nil }
