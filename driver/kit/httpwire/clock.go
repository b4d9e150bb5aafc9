package httpwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// ReadClock reads the clock of a server from the header Date of its response to a GET (RFC 9110,
// 6.6.1), whatever the status. Its precision is a second.
func (c *Client) ReadClock(ctx context.Context, path string) (driver.Reading, error) {
	ctx, cancel := c.WithTimeout(ctx)
	defer cancel()
	request, err := c.Request(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return driver.Reading{}, err
	}
	sent := time.Now()
	response, err := c.Do(request)
	if err != nil {
		return driver.Reading{}, err
	}
	answered := time.Now()
	_, _ = io.CopyN(io.Discard, response.Body, maxAcknowledgement) // lets the connection be reused
	_ = response.Body.Close()
	text := response.Header.Get("Date")
	if text == "" {
		return driver.Reading{}, errors.New("its answers have no header Date")
	}
	server, err := http.ParseTime(text)
	if err != nil {
		return driver.Reading{}, fmt.Errorf("its header Date is malformed: %w", err)
	}
	return driver.Reading{Sent: sent, Received: answered, Server: server, Unit: time.Second}, nil
}
