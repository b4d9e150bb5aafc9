package httpwire

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// retryAfter parses the header Retry-After (RFC 9110, 10.2.3): seconds, or a date. It returns 0 for a
// malformed header and for a time in the past.
func retryAfter(header string, now time.Time) time.Duration {
	const longest = 1 << 32 // seconds; more would not fit a Duration
	if seconds, err := strconv.ParseUint(header, 10, 64); err == nil {
		return time.Duration(min(seconds, longest)) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}

// WriteError returns the error of a write whose status is not a success. It is a driver.Temporary for 429
// and 503, with which servers request a delay and have stored nothing, and for 502 and 504, after which
// the state of the server behind the proxy is unknown. The cause contains the server's message.
func WriteError(response *http.Response, cause error) error {
	err := fmt.Errorf("the server answered %d %s: %w", response.StatusCode, http.StatusText(response.StatusCode), cause)
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return &driver.Temporary{Err: err, After: retryAfter(response.Header.Get("Retry-After"), time.Now()), Refused: true}
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return &driver.Temporary{Err: err}
	}
	return err
}

// Cut converts a connection error to a driver.Temporary. If the connection could not be opened, nothing
// was stored.
func Cut(err error) *driver.Temporary {
	var op *net.OpError
	return &driver.Temporary{Err: err, Refused: errors.As(err, &op) && op.Op == "dial"}
}
