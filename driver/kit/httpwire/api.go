package httpwire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
)

// API runs requests of an HTTP API that uses JSON, one after the other. Patient limits the time of
// each.
type API struct {
	Client *Client
	System string // in errors
	// Explain converts a response with an unsuccessful status to an error.
	Explain func(status int, body []byte) error

	mu sync.Mutex
}

// maxAPIAnswer limits the bytes read from an API response.
const maxAPIAnswer = 32 << 20

// ErrNotFound means that the server does not have the requested object.
var ErrNotFound = errors.New("not found")

// Call sends in as JSON, unless it is nil, and decodes the response into out, unless that is nil.
func (a *API) Call(ctx context.Context, method, path string, parameters url.Values, in, out any) error {
	text, err := a.Text(ctx, method, path, parameters, in)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s: the answer is not what %s says: %w", method, path, a.System, err)
	}
	return nil
}

// Text is Call without decoding: it returns the response. Its error wraps ErrNotFound if the status
// says so.
func (a *API) Text(ctx context.Context, method, path string, parameters url.Values, in any) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, cancel := a.Client.Patient(ctx)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := a.Client.Request(ctx, method, path, parameters, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := a.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%w: %w", ErrNotFound, ResponseError(response, a.Explain))
	case response.StatusCode/100 != 2:
		return nil, ResponseError(response, a.Explain)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAPIAnswer+1))
	switch {
	case err != nil:
		return nil, a.Client.RequestError(ctx, err)
	case len(text) > maxAPIAnswer:
		return nil, fmt.Errorf("the answer is longer than %d MiB, and was read no further", maxAPIAnswer>>20)
	}
	return text, nil
}
