// Package listen has the rules for addresses at which tsmark can be reached.
package listen

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Address is where somebody listens.
type Address struct {
	Host string
	Port int // 0: a free one
}

// Parse parses HOST:PORT; the error contains the example.
func Parse(text, example string) (Address, error) {
	host, port, err := net.SplitHostPort(text)
	number, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil {
		return Address{}, fmt.Errorf("%q is not an address; write HOST:PORT, such as %s", text, example)
	}
	return Address{host, int(number)}, nil
}

// Loopback reports whether only this machine reaches it. A name, which may lead
// anywhere, counts as one that others reach.
func (a Address) Loopback() bool {
	ip, err := netip.ParseAddr(a.Host)
	return a.Host == "localhost" || err == nil && ip.IsLoopback()
}

func (a Address) String() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// leastToken is how many characters a token has at least.
const leastToken = 16

// CheckToken refuses a token that can be guessed.
func CheckToken(token string) error {
	if len(token) < leastToken {
		return fmt.Errorf("the token is too short; take %d characters or more, as openssl rand -hex 16 prints", leastToken)
	}
	return nil
}
