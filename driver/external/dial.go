//go:build !light

package external

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// maxMessage limits each message of a driver. A record batch is one message.
const maxMessage = limit.MaxRow

// dialing says how connections to a program are opened.
type dialing struct {
	address string // as gRPC names it
	tls     bool
	token   string
}

// connect returns a new connection.
func (d *dialing) connect() (*grpc.ClientConn, error) {
	secured := insecure.NewCredentials()
	if d.tls {
		secured = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	return grpc.NewClient(d.address,
		grpc.WithTransportCredentials(secured), grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.5, MaxDelay: 200 * time.Millisecond}, MinConnectTimeout: 5 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(1<<31-1)),
		// Without retries, and without a window that grows by pings, each measurement is of one call.
		grpc.WithDisableRetry(), grpc.WithInitialWindowSize(8<<20), grpc.WithInitialConnWindowSize(16<<20),
		grpc.WithReadBufferSize(128<<10), grpc.WithWriteBufferSize(128<<10),
	)
}

// authorize adds the token to a call.
func (d *dialing) authorize(ctx context.Context) context.Context {
	if d.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+d.token)
}

// act runs an action, whose only result it returns.
func (d *dialing) act(ctx context.Context, conn *grpc.ClientConn, action string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithCancel(d.authorize(ctx))
	defer cancel()
	stream, err := flight.NewFlightServiceClient(conn).DoAction(ctx, &flight.Action{Type: action, Body: body})
	if err != nil {
		return nil, err
	}
	result, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("action %s has no result", action)
	} else if err != nil {
		return nil, err
	}
	switch _, err := stream.Recv(); {
	case errors.Is(err, io.EOF):
		return result.Body, nil
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("action %s has several results", action)
}

// readStatus returns the code and the message of a driver's error; ok is false if the error is tsmark's.
// pyarrow appends details to messages, and cannot send two of the codes, which then precede the message
// in brackets.
func readStatus(err error) (code codes.Code, text string, ok bool) {
	s, ok := status.FromError(err)
	if !ok {
		return 0, "", false
	}
	code = s.Code()
	text, _, _ = strings.Cut(s.Message(), ". Detail: ")
	for name, meant := range map[string]codes.Code{"[RESOURCE_EXHAUSTED] ": codes.ResourceExhausted, "[ALREADY_EXISTS] ": codes.AlreadyExists} {
		if rest, found := strings.CutPrefix(text, name); found {
			code, text = meant, rest
		}
	}
	return code, oneLine(text), true
}

// answer is the error of a driver: its message, and the meaning of its status.
type answer struct {
	text    string
	meaning error // query.ErrUnsupported, driver.ErrUnreachable or driver.ErrExisting; nil: none of them
}

func (a *answer) Error() string { return a.text }
func (a *answer) Unwrap() error { return a.meaning }

// explain turns the error of a call into an error of one line that names the driver. A call that ended
// with its context has the context's error.
func (p *program) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	code, text, ok := readStatus(err)
	if err := p.overdue(ctx); err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s: %w", p.title(), err)
	}
	out := &answer{text: p.title() + ": " + text}
	switch code {
	case codes.Unimplemented:
		reason := strings.TrimPrefix(text, query.ErrUnsupported.Error()+": ")
		return fmt.Errorf("%w: %s", query.ErrUnsupported, reason)
	case codes.AlreadyExists:
		out.meaning = driver.ErrExisting
	case codes.PermissionDenied:
		return driver.NewDeniedError(out, "")
	case codes.Unauthenticated:
		return &driver.DeniedError{Err: out, Fix: "give a user, or a token_file, with this right"}
	case codes.ResourceExhausted:
		if strings.Contains(text, "larger than max") {
			out.text = fmt.Sprintf("%s sent a message of more than %d MiB; it must send smaller record batches", p.title(), maxMessage>>20)
		}
	case codes.Unavailable, codes.Canceled, codes.Internal, codes.Unknown:
		if why := p.hasDied(code == codes.Unavailable); why != "" {
			return &answer{p.title() + ": " + why, driver.ErrUnreachable}
		}
		if code == codes.Unavailable {
			out.meaning = driver.ErrUnreachable
		}
	}
	return out
}

// overdue returns the error of a context that has ended. The program has the deadline too, and may end a
// call a moment before the context ends.
func (p *program) overdue(ctx context.Context) error {
	if deadline, set := ctx.Deadline(); set && time.Until(deadline) < 50*time.Millisecond {
		<-ctx.Done()
	}
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", p.title(), context.Cause(ctx))
}

// hasDied says how the program ended; empty: it is running. If its connection broke, it may be about to
// end.
func (p *program) hasDied(broken bool) string {
	within := time.Duration(0)
	if broken {
		within = 300 * time.Millisecond
	}
	if process := p.running(); process != nil && process.hasEnded(within) {
		return process.exit() + "; all its output is in " + logName + " in the target's folder"
	}
	return ""
}

// running returns the process; nil: tsmark has not started it.
func (p *program) running() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

// temporary turns an error of writing into a driver.Temporary if a retry may help: never after the
// program has ended, because its databases are closed.
func (p *program) temporary(raw, explained error) error {
	code, _, ok := readStatus(raw)
	if !ok || p.hasDied(false) != "" {
		return explained
	}
	switch code {
	case codes.Unavailable:
		return &driver.Temporary{Err: explained}
	case codes.ResourceExhausted:
		return &driver.Temporary{Err: explained, Refused: true}
	}
	return explained
}
