package live

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// address is where somebody listens.
type address struct{ host, port string }

// parseAddress reads HOST:PORT; a port of 0 is a free one.
func parseAddress(text string) (address, error) {
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return address{}, fmt.Errorf("%q is no address; give HOST:PORT, such as 127.0.0.1:8080", text)
	}
	return address{host, port}, nil
}

// loopback reports whether only this machine reaches it. A name, which may lead
// anywhere, counts as one that others reach.
func (a address) loopback() bool {
	ip, err := netip.ParseAddr(a.host)
	return a.host == "localhost" || err == nil && ip.IsLoopback()
}

func (a address) String() string { return net.JoinHostPort(a.host, a.port) }

// leastToken is how many characters a token has at least.
const leastToken = 16

// Check reports why what is asked for is not possible: an error of one line that says
// how to fix it.
func (o *Options) Check() error {
	if o.Page == "" && o.Metrics == "" {
		switch {
		case o.Token != "":
			return errors.New("there is nothing that a token is for; give an address for the page or the metrics too")
		case o.Certificate != nil:
			return errors.New("there is nothing that a certificate is for; give an address for the page or the metrics too")
		}
		return nil
	}
	for _, text := range []string{o.Page, o.Metrics} {
		if text == "" {
			continue
		}
		a, err := parseAddress(text)
		if err != nil {
			return err
		}
		if !a.loopback() && o.Token == "" {
			return fmt.Errorf("%s can be reached from other machines; give readers a token (--token), or listen on 127.0.0.1", a)
		}
	}
	if o.Token != "" && len(o.Token) < leastToken {
		return fmt.Errorf("the token is too short; take %d characters or more, as openssl rand -hex 16 prints", leastToken)
	}
	return nil
}

// Bare reports whether what others can reach is served without TLS, so that whoever is
// on the way reads it, with the token.
func (o *Options) Bare() bool {
	return o.Certificate == nil && slices.ContainsFunc([]string{o.Page, o.Metrics}, func(text string) bool {
		a, err := parseAddress(text)
		return text != "" && err == nil && !a.loopback()
	})
}
