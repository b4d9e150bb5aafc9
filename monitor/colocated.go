package monitor

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// CoLocated reports whether a server runs on this machine: its address (a URL,
// host:port, a host, or the path of a Unix socket) leads to a loopback address
// or to one of the machine's own. A container's address on a bridge of this
// host is not recognised; its published port on localhost is. An error means
// that the name could not be resolved.
func CoLocated(ctx context.Context, address string) (bool, error) {
	host := hostOf(address)
	if host == "" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") {
		return true, nil // a Unix socket, or the client libraries' default
	}
	var addresses []netip.Addr
	if a, err := netip.ParseAddr(host); err == nil {
		addresses = []netip.Addr{a}
	} else if addresses, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
		return false, fmt.Errorf("cannot tell whether %s is this machine: %w", host, err)
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false, fmt.Errorf("cannot read this machine's addresses: %w", err)
	}
	return isOwn(addresses, own), nil
}

// isOwn reports whether one of the addresses is a loopback one or the
// machine's. The unspecified address, 0.0.0.0, connects to the machine itself.
func isOwn(addresses []netip.Addr, own []net.Addr) bool {
	return slices.ContainsFunc(addresses, func(a netip.Addr) bool {
		a = a.Unmap().WithZone("")
		return a.IsLoopback() || a.IsUnspecified() || slices.ContainsFunc(own, func(o net.Addr) bool {
			prefix, err := netip.ParsePrefix(o.String())
			return err == nil && prefix.Addr().Unmap() == a
		})
	})
}

// hostOf cuts the host out of an address.
func hostOf(address string) string {
	if strings.HasPrefix(address, "/") || strings.HasPrefix(address, "@") {
		return address
	}
	if strings.Contains(address, "://") {
		if u, err := url.Parse(address); err == nil {
			return u.Hostname()
		}
	}
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}
