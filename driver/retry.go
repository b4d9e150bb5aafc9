package driver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Temporary is an error after which the same rows may be sent again: the
// connection was cut, the server restarts, or it asked to be given time. A
// Writer wraps in it whatever a second try may fix, and nothing else: a row
// that the server finds wrong stays wrong.
type Temporary struct {
	Err error // what happened, and in which operation
	// After is how long the server asked to wait; 0: it did not say.
	After time.Duration
	// Refused says that the server stored none of the rows, as with a 429.
	// Else some or all of them may be stored, as where the connection was cut
	// before the acknowledgement came.
	Refused bool
}

// Cut makes a Temporary of the error of a connection: one that could not even
// be made has stored nothing.
func Cut(err error) *Temporary {
	var op *net.OpError
	return &Temporary{Err: err, Refused: errors.As(err, &op) && op.Op == "dial"}
}

// Error implements error.
func (t *Temporary) Error() string { return t.Err.Error() }

// Unwrap returns what happened.
func (t *Temporary) Unwrap() error { return t.Err }

// AsTemporary returns the Temporary that an error wraps; nil: it wraps none.
func AsTemporary(err error) *Temporary {
	var t *Temporary
	if errors.As(err, &t) {
		return t
	}
	return nil
}

// RetryAfter reads the value of the header Retry-After (RFC 9110, 10.2.3):
// seconds, or a date. What it cannot read, or what lies in the past, is 0.
func RetryAfter(header string, now time.Time) time.Duration {
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

// HTTPStatus returns the error of an answer to a write whose status is none of
// success: a Temporary for 429 and 503, by which servers ask for time and have
// stored nothing, and for 502 and 504, of which nobody knows what the server
// behind them did. The cause says what the server said.
func HTTPStatus(response *http.Response, cause error) error {
	err := fmt.Errorf("the server answered %d %s: %w", response.StatusCode, http.StatusText(response.StatusCode), cause)
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return &Temporary{Err: err, After: RetryAfter(response.Header.Get("Retry-After"), time.Now()), Refused: true}
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return &Temporary{Err: err}
	}
	return err
}
