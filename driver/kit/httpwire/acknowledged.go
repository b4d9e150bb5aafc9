package httpwire

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/tsmark/tsmark/driver"
)

// maxAcknowledgement limits the bytes read from a response to a write, or from one whose content does
// not matter.
const maxAcknowledgement = 1 << 20

// Drain reads the rest of the response to a successful write. Only its end acknowledges the
// write and frees the connection for the next one. If the response is truncated or stalls, it is
// unknown which rows were stored, and the error wraps driver.Temporary.
func (c *Client) Drain(ctx context.Context, response *http.Response) error {
	return c.DrainTo(ctx, response, io.Discard)
}

// DrainTo is Drain for a response with content, which it writes to content.
func (c *Client) DrainTo(ctx context.Context, response *http.Response, content io.Writer) error {
	n, err := io.CopyN(content, response.Body, maxAcknowledgement)
	switch {
	case n == maxAcknowledgement:
		return fmt.Errorf("the answer to a batch is longer than %d bytes: no server's acknowledgement", maxAcknowledgement)
	case err == io.EOF:
		return nil
	case ctx.Err() != nil && !silent(ctx):
		return context.Cause(ctx)
	}
	return &driver.Temporary{Err: fmt.Errorf("%s acknowledged a batch and did not end its answer: %w", c.Address(), c.RequestError(ctx, err))}
}

// silent reports whether a context of WithTimeout ended by its time-out.
func silent(ctx context.Context) bool { return context.Cause(ctx) == errSilent }
