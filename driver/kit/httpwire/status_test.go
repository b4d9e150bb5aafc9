package httpwire

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"":                              0,
		"120":                           2 * time.Minute,
		"0":                             0,
		"-3":                            0,
		"soon":                          0,
		"18446744073709551615":          1 << 32 * time.Second,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for op, want := range map[string]bool{"dial": true, "read": false, "write": false} {
		cause := &net.OpError{Op: op, Err: errors.New("reset")}
		if got := Cut(fmt.Errorf("sending: %w", cause)); got.Refused != want || !errors.Is(got, cause) {
			t.Errorf("%s: %+v", op, got)
		}
	}
}

func TestRefused(t *testing.T) {
	cause := errors.New("too many writes")
	for status, want := range map[int]*driver.Temporary{
		429: {After: 7 * time.Second, Refused: true},
		503: {After: 7 * time.Second, Refused: true},
		502: {},
		504: {},
		400: nil,
		401: nil,
		500: nil,
	} {
		err := WriteError(&http.Response{StatusCode: status, Header: http.Header{"Retry-After": {"7"}}}, cause)
		got := driver.AsTemporary(fmt.Errorf("writing: %w", err))
		if !errors.Is(err, cause) || (got == nil) != (want == nil) {
			t.Errorf("%d: %v", status, err)
		}
		if got != nil && want != nil && (got.After != want.After || got.Refused != want.Refused) {
			t.Errorf("%d: %+v, want %+v", status, got, want)
		}
	}
}
