//go:build !light

package influxdb3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
)

// refusal is the server's error for a request, or for lines.
type refusal struct {
	Error string          `json:"error"`
	Data  json.RawMessage `json:"data"` // a badLine, or a list of them
}

// badLine is a line that the server refuses.
type badLine struct {
	Number  int    `json:"line_number"` // from 1
	Message string `json:"error_message"`
}

// responseError turns a response with an unsuccessful status into a one-line error that says how to fix it.
func responseError(code int, body []byte) error {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return errToken(string(body))
	case http.StatusRequestEntityTooLarge:
		return errors.New("a batch is larger than the server takes; lower --batch-size, or raise the server's --max-http-request-size")
	}
	var r refusal
	if json.Unmarshal(body, &r) == nil && r.Error != "" {
		return messageError(r.Error)
	}
	return messageError(string(body))
}

func errToken(message string) error {
	why := ""
	if strings.TrimSpace(message) != "" {
		why = " (it said: " + httpwire.OneLine(message) + ")"
	}
	return fmt.Errorf("not authorized by this token; give the option %s, or %s in the environment%s", optionToken, tokenVariable, why)
}

// writeError is responseError for a write, whose lines the server names.
func writeError(code int, body []byte) error {
	var r refusal
	if json.Unmarshal(body, &r) != nil || len(r.Data) == 0 {
		return responseError(code, body)
	}
	var lines []badLine
	if json.Unmarshal(r.Data, &lines) != nil {
		var one badLine
		if json.Unmarshal(r.Data, &one) == nil {
			lines = []badLine{one}
		}
	}
	if len(lines) == 0 || lines[0].Number < 1 {
		return responseError(code, body)
	}
	return &lineproto.BadLine{Number: lines[0].Number, Err: messageError(lines[0].Message)}
}

// messageError turns a message of the server into a one-line error that says how to fix it.
func messageError(message string) error {
	line := httpwire.OneLine(message)
	for _, a := range []struct{ words, how string }{
		{"number of databases", "InfluxDB 3 Core takes five; delete one, or give another " + connection.Database},
		{"exceed limit of", "InfluxDB 3 Core takes five; delete one, or give another " + connection.Database},
		{"number of tables", "delete tables of other databases"},
		{"number of columns", "give the table fewer tags and fields"},
		{"atabase not found", "load it first, or give another " + connection.Database},
		{"invalid column type", "a field was written with another type before; load into an empty database"},
	} {
		if strings.Contains(line, a.words) {
			return fmt.Errorf("%s; %s", line, a.how)
		}
	}
	return errors.New(line)
}

// explain explains the error of a gRPC call after the given number of rows.
func (c *flightConn) explain(ctx context.Context, rows int64, err error) error {
	s, ok := status.FromError(err)
	if at, limited := ctx.Deadline(); limited && s.Code() == codes.DeadlineExceeded && time.Until(at) < time.Second {
		<-ctx.Done() // the server has the same deadline, and its timer may end first
	}
	if ctx.Err() != nil {
		return c.wire().TransportError(ctx, c.wire().Address(), err)
	}
	if !ok {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("the answer was cut off after %d rows: %w", rows, err)
		}
		return err
	}
	switch s.Code() {
	case codes.Unauthenticated, codes.PermissionDenied:
		return errToken(s.Message())
	case codes.Unavailable:
		if rows > 0 {
			return fmt.Errorf("the answer was cut off after %d rows: %s %w: %s", rows, c.wire().Address(), driver.ErrUnreachable, httpwire.OneLine(s.Message()))
		}
		return c.wire().TransportError(ctx, c.wire().Address(), errors.New(httpwire.OneLine(s.Message())))
	case codes.Internal, codes.Unknown:
		if strings.Contains(s.Message(), "RST_STREAM") || strings.Contains(s.Message(), "EOF") {
			return fmt.Errorf("the answer was cut off after %d rows: %s %w: %s", rows, c.wire().Address(), driver.ErrUnreachable, httpwire.OneLine(s.Message()))
		}
	case codes.Unimplemented:
		return fmt.Errorf("%s does not speak Arrow Flight; is this InfluxDB 3, and does a proxy before it speak HTTP/2? (%s)", c.wire().Address(), httpwire.OneLine(s.Message()))
	case codes.NotFound:
		return fmt.Errorf("%s; load it first, or give another %s", httpwire.OneLine(s.Message()), connection.Database)
	}
	return messageError(s.Message())
}
