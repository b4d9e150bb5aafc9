package tdengine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
)

// poster sends statements to taosAdapter's REST interface, used by one goroutine at a time. It
// implements carrier. There, a statement is the body of a request, and not text within JSON, which
// taosAdapter scans several times before it has the statement.
type poster struct {
	client *httpwire.Client
	said   bytes.Buffer
}

// post returns a connection that the first statement opens. A WebSocket connection first checks that
// the server answers and accepts the credentials.
func (c *config) post(ctx context.Context) (*poster, error) {
	wire, err := httpwire.NewConfig(c.Settings, "")
	if err != nil {
		return nil, err
	}
	first, err := c.connect(ctx, "")
	if err != nil {
		return nil, err
	}
	return &poster{client: httpwire.New(&wire)}, first.Close()
}

// Carry implements carrier.
func (p *poster) Carry(ctx context.Context, text []byte) (time.Time, error) {
	bounded, cancel := p.client.WithTimeout(ctx)
	defer cancel()
	response, sent, err := p.client.Post(bounded, "/rest/sql", nil, nil, [][]byte{text})
	if err != nil {
		return sent, err
	}
	defer response.Body.Close()
	p.said.Reset()
	if err := p.client.DrainTo(bounded, response, &p.said); err != nil {
		return sent, err
	}
	err = responseError(response.StatusCode, p.said.Bytes())
	if err != nil && code(err) == 0 && response.StatusCode != http.StatusOK {
		return sent, httpwire.WriteError(response, err)
	}
	return sent, explainFailure(err)
}

// responseError returns the error in a complete REST response; nil: none. Errors may also have the status
// 200.
func responseError(status int, body []byte) error {
	var said struct {
		Code    *int   `json:"code"`
		Message string `json:"desc"`
	}
	switch err := json.Unmarshal(body, &said); {
	case err == nil && said.Code != nil && *said.Code != 0:
		return &failure{code: *said.Code, message: said.Message}
	case status != http.StatusOK:
		return errors.New(httpwire.OneLine(string(body)))
	case err != nil || said.Code == nil:
		return errors.New("the response does not come from taosAdapter, whose port is 6041 by default")
	}
	return nil
}

// Close implements carrier.
func (p *poster) Close() error {
	p.client.Close()
	return nil
}

// reader returns a querier over REST, whose results are JSON.
func (d *database) reader(ctx context.Context) (driver.Querier, error) {
	p, err := d.config.post(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a connection for reading: %w", err)
	}
	q := &jsonrows.Querier{
		Reader:  jsonrows.Reader{System: "TDengine"},
		Client:  p.client,
		Explain: func(status int, body []byte) error { return explainFailure(responseError(status, body)) },
	}
	q.Request = func(ctx context.Context, statement string) (*http.Request, error) {
		return q.Client.Request(ctx, http.MethodPost, "/rest/sql/"+d.name, nil, strings.NewReader(statement))
	}
	q.Answer = answer(&q.Reader)
	return q, nil
}

// answer returns the function that decodes a result. A result whose number of rows differs from the
// stated one is an error.
func answer(r *jsonrows.Reader) func() error {
	var said failure
	var counted int64
	column := func() error {
		at, kind := 0, jsonrows.Number
		err := r.Array(func() error {
			at++
			if at != 2 {
				return r.Skip()
			}
			name, err := r.Text()
			switch name {
			case "DOUBLE":
				kind = jsonrows.Float
			case "FLOAT":
				kind = jsonrows.Float32
			case "TIMESTAMP":
				kind = jsonrows.Time
			case "VARCHAR", "NCHAR":
				kind = jsonrows.Text
			case "VARBINARY":
				kind = jsonrows.Hex
			}
			return err
		})
		r.Columns = append(r.Columns, kind)
		return err
	}
	document := r.ObjectReader(jsonrows.Members{
		"code":        func() error { n, err := r.Int(); said.code = int(n); return err },
		"desc":        func() (err error) { said.message, err = r.Text(); return err },
		"column_meta": r.ArrayReader(column),
		"data":        r.ArrayReader(r.Row),
		"rows":        func() (err error) { counted, err = r.Int(); return err },
	})
	return func() error {
		said, counted = failure{}, -1
		switch err := document(); {
		case err != nil:
			return err
		case said.code != 0:
			reported := said
			return explainFailure(&reported)
		case counted != r.Rows:
			return fmt.Errorf("the answer has %d rows, and says that it has %d: is this TDengine?", r.Rows, counted)
		}
		return nil
	}
}
