package tdengine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/tsmark/tsmark/driver/httpwire"
)

// poster takes statements to taosAdapter's REST, used by one goroutine at a time. It
// implements carrier. A statement there is the body of a request, and not text within
// JSON, which taosAdapter goes through several times before it has the statement.
type poster struct {
	of     *config
	client *httpwire.Client
	said   bytes.Buffer
}

// post opens a connection, and sees that the server answers.
func (c *config) post(ctx context.Context) (*poster, error) {
	wire, err := httpwire.NewConfig(c.Settings, "")
	if err != nil {
		return nil, err
	}
	p := &poster{of: c, client: httpwire.New(&wire)}
	if _, err := p.Carry(ctx, []byte("SELECT server_status()")); err != nil {
		_ = p.Close()
		if code(err) != 0 {
			err = c.connecting(ctx, ctx, true, err)
		}
		return nil, err
	}
	return p, nil
}

// Carry implements carrier.
func (p *poster) Carry(ctx context.Context, text []byte) (time.Time, error) {
	bounded, cancel := p.client.Bounded(ctx)
	defer cancel()
	response, sent, err := p.client.Post(bounded, "/rest/sql", nil, nil, [][]byte{text})
	if err != nil {
		return sent, err
	}
	defer response.Body.Close()
	p.said.Reset()
	if err := p.client.Said(bounded, response, &p.said); err != nil {
		return sent, err
	}
	return sent, explained(refused(response, p.said.Bytes()))
}

// refused is what a whole answer of REST's says against a request; nil: nothing. It
// tells of errors beside the status 200, too.
func refused(response *http.Response, body []byte) error {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"desc"`
	}
	switch err := json.Unmarshal(body, &said); {
	case err == nil && said.Code != nil && *said.Code != 0:
		return &failure{code: *said.Code, message: said.Message}
	case response.StatusCode != http.StatusOK:
		return httpwire.Refused(response, errors.New(httpwire.OneLine(string(body))))
	case err != nil || said.Code == nil:
		return errors.New("the answer is none of taosAdapter's, whose port is 6041 by default")
	}
	return nil
}

// Close implements carrier.
func (p *poster) Close() error {
	p.client.Close()
	return nil
}
