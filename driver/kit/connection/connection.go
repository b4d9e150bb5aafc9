// Package connection defines the options for connecting to servers, with the same names and texts for
// every driver that has a server.
package connection

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
)

// The names of the options.
const (
	Host     = "host"
	Port     = "port"
	Database = "database"
	User     = "user"
	Password = "password"
	TLS      = "tls"
	Timeout  = "timeout"
)

// The values of TLS; if it is empty, the driver decides.
const (
	On       = "on"
	Off      = "off"
	Insecure = "insecure" // any certificate is accepted
)

// Usual returns the connection options as most servers have them.
func Usual() []option.Option {
	return []option.Option{
		{Name: Host, Default: "127.0.0.1", Help: "name or address of the server"},
		{Name: Port, Type: option.Port(), Help: "port of the server"},
		{Name: Database, Help: "database, which must exist"},
		{Name: User, Help: "user to connect as"},
		{Name: Password, Secret: true, Help: "password of the user"},
		{Name: TLS, Type: option.Choice(On, Off, Insecure), Empty: "off if the server runs on this machine, else on",
			Help: "encrypt the connection: on (verify the certificate), off, or insecure (do not verify it)"},
		{Name: Timeout, Type: option.Duration(), Default: "60s", Help: "longest wait for a connection and for the acknowledgement of a batch"},
	}
}

// Split separates the connection options of a driver that mean what Usual says from its own options.
// Defaults may differ.
func Split(options []option.Option) (usual, own []option.Option) {
	known := Usual()
	for _, o := range options {
		if slices.ContainsFunc(known, func(k option.Option) bool { return k.Name == o.Name && k.Help == o.Help }) {
			usual = append(usual, o)
		} else {
			own = append(own, o)
		}
	}
	return usual, own
}

// Options lists the connection options of a driver: the usual ones, Database only if own has it. An
// option in own replaces the non-empty parts of the usual option with the same name; an own Empty also
// replaces a default. Any other own option follows the own option before it.
func Options(own ...option.Option) []option.Option {
	list := Usual()
	if !slices.ContainsFunc(own, func(o option.Option) bool { return o.Name == Database }) {
		list = slices.DeleteFunc(list, func(o option.Option) bool { return o.Name == Database })
	}
	at := -1
	for _, o := range own {
		named := slices.IndexFunc(list, func(usual option.Option) bool { return usual.Name == o.Name })
		if named < 0 {
			at++
			list = slices.Insert(list, at, o)
			continue
		}
		at = named
		usual := &list[at]
		if o.Empty != "" {
			usual.Default = ""
		}
		usual.Default, usual.Empty, usual.Help = cmp.Or(o.Default, usual.Default), cmp.Or(o.Empty, usual.Empty), cmp.Or(o.Help, usual.Help)
	}
	return list
}

// Settings are the values of the options.
type Settings struct {
	Host, Port, Database, User, Password, TLS string
	Timeout                                   time.Duration
}

// NewSettings reads the options.
func NewSettings(v option.Values) Settings {
	return Settings{
		Host: v[Host], Port: v[Port], Database: v[Database], User: v[User], Password: v[Password],
		TLS: v[TLS], Timeout: v.Duration(Timeout),
	}
}

// Address is host:port.
func (s Settings) Address() string { return net.JoinHostPort(s.Host, s.Port) }

// Encryption returns the TLS configuration of the connection; nil: it is not encrypted. Without the
// option, connections to this machine are not encrypted.
func (s Settings) Encryption() *tls.Config {
	switch {
	case s.TLS == On, s.TLS == "" && !Local(s.Host):
		return &tls.Config{ServerName: s.Host}
	case s.TLS == Insecure:
		return &tls.Config{ServerName: s.Host, InsecureSkipVerify: true}
	}
	return nil
}

// Endpoint describes a server that is known from the options alone. Its probe opens a connection and
// closes it.
func (s Settings) Endpoint() driver.Endpoint {
	return driver.Endpoint{
		Protocol: "TCP", Address: s.Address(), Option: Port, Opened: true, Secret: s.Password != "",
		Probe: func(ctx context.Context) (*tls.ConnectionState, error) {
			return Handshake(ctx, s.Address(), nil, s.Timeout)
		},
	}
}

// Endpoints returns the addresses that a run with the options uses. It returns none if there is no
// server, or if only the server knows them.
func Endpoints(d *driver.Driver, o driver.Options) ([]driver.Endpoint, error) {
	if d.Endpoints != nil {
		return d.Endpoints(o)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(d.Options, func(o driver.Option) bool { return o.Name == name })
	}
	if !has(Host) || !has(Port) || o[Host] == "" {
		return nil, nil
	}
	return []driver.Endpoint{NewSettings(o).Endpoint()}, nil
}

// Addresses returns every address that a driver may connect to according to its options, as HOST:PORT
// or a URL. It includes hosts as they are written: a list of several hosts is one value, and an
// endpoint is only the first host.
func Addresses(d *driver.Driver, o driver.Options) ([]string, error) {
	endpoints, err := Endpoints(d, o)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range endpoints {
		list = append(list, e.Address)
	}
	for _, each := range d.Options {
		if value := o[each.Name]; !each.Secret && strings.Contains(value, "://") {
			list = append(list, value)
		}
	}
	host, address := o[Host], o[Host]
	if o[Port] != "" {
		address = net.JoinHostPort(host, o[Port])
	}
	written := slices.ContainsFunc(list, func(address string) bool {
		named, _, err := net.SplitHostPort(address)
		return err == nil && named == host
	})
	switch {
	case host == "" || written:
	case strings.HasPrefix(host, "/"): // a socket
		list = []string{address}
	case len(endpoints) > 0 || len(list) == 0:
		list = append(list, address)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// Handshake connects to an address, negotiates encryption unless that is nil, closes the connection,
// and returns how it was encrypted. Its error wraps driver.ErrUnreachable.
func Handshake(ctx context.Context, address string, encryption *tls.Config, timeout time.Duration) (*tls.ConnectionState, error) {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, _, err := Dial(bounded, "tcp", address, encryption)
	if err == nil {
		defer conn.Close()
		if encrypted, ok := conn.(*tls.Conn); ok {
			state := encrypted.ConnectionState()
			return &state, nil
		}
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var waited time.Duration
	if bounded.Err() != nil {
		waited = timeout
	}
	return nil, DescribeError("connecting to "+address, "have this machine trust it, or give tls=insecure", waited, err)
}

// Local reports whether a host is this machine judging by its name alone, or is the path of a socket.
func Local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasPrefix(host, "/") || ip != nil && ip.IsLoopback()
}

// DescribeError explains in one line why a connection failed, for errors that do not come from the server. The
// text doing describes the attempt, and trust says how to trust the server's certificate. If the
// attempt timed out, waited is the time-out; otherwise it is 0.
func DescribeError(doing, trust string, waited time.Duration, err error) error {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var certificate *tls.CertificateVerificationError
	text := strings.Join(strings.Fields(Cause(doing, err).Error()), " ")
	switch {
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &certificate):
		return fmt.Errorf("%s: %w: the server's certificate cannot be trusted (%s); %s", doing, driver.ErrUnreachable, text, trust)
	case waited > 0:
		return fmt.Errorf("%s: %w: it did not answer within %v; is host and port right, and the server up?", doing, driver.ErrUnreachable, waited)
	}
	return fmt.Errorf("%s: %w: is it up, and are host and port right? (%s)", doing, driver.ErrUnreachable, text)
}

// Cause is the error of a connection attempt. Its text leaves out the address that doing names already
// from errors of TCP connections. It removes duplicates from the errors of several attempts, as pgx
// makes them with and without TLS.
func Cause(doing string, err error) error {
	var said []string
	for _, attempt := range attempts(err) {
		if text := attemptText(doing, attempt); !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	if text := strings.Join(said, "; "); text != err.Error() {
		return &short{text, err}
	}
	return err
}

// attempts returns the errors joined by errors.Join, if each is one line; any other error is
// returned as it is.
func attempts(err error) []error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if joined, several := e.(interface{ Unwrap() []error }); several && strings.Contains(e.Error(), "\n") {
			return joined.Unwrap()
		}
	}
	return []error{err}
}

// attemptText describes the failure of one attempt.
func attemptText(doing string, err error) string {
	var name *net.DNSError
	if errors.As(err, &name) {
		return name.Error()
	}
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "dial" || op.Addr == nil || !strings.HasPrefix(op.Net, "tcp") {
		return err.Error()
	}
	if address := op.Addr.String(); !strings.Contains(doing, address) {
		return address + ": " + op.Err.Error()
	}
	return op.Err.Error()
}

// short is an error with a different text.
type short struct {
	text string
	err  error
}

func (s *short) Error() string { return s.text }
func (s *short) Unwrap() error { return s.err }
