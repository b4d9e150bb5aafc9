//go:build !light

// Package serve runs a driver as a program of its own, which tsmark uses by its driver external.
//
// The main function of such a program is
//
//	func main() { serve.Main(mydriver.Driver()) }
//
// The program knows the tags of a series once a row of it has arrived. It therefore cannot render
// queries whose texts list all series, as in some dialects of systems without GROUP BY for tags.
package serve

import (
	"context"
	"crypto/subtle"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/driver"
)

// Main serves the driver as the flags of the process say, and does not return.
func Main(d driver.Driver) {
	listen := flag.String("listen", "", "`address`: unix:///PATH or grpc://HOST:PORT")
	tokenFile := flag.String("token-file", "", "`file` with the token that clients must send, for grpc://")
	flag.Parse()
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer end()
	if err := Serve(ctx, d, *listen, *tokenFile, os.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", d.Name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// farewell is how long calls may go on when the program is to end.
const farewell = 2 * time.Second

// Serve serves the driver at an address until ctx ends. At a Unix socket, tsmark has started the
// program, and it also ends with the end of its input. The error describes a wrong address or
// token.
func Serve(ctx context.Context, d driver.Driver, address, tokenFile string, input io.Reader) error {
	listener, err := listen(address)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	if listener.Addr().Network() == "unix" {
		go func() {
			_, _ = io.Copy(io.Discard, input) // until tsmark closes it
			end()
		}()
	}
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.InitialWindowSize(8 << 20), grpc.InitialConnWindowSize(16 << 20), grpc.ReadBufferSize(128 << 10), grpc.WriteBufferSize(128 << 10),
		grpc.StreamInterceptor(catchPanic),
	}
	if tokenFile != "" {
		token, err := os.ReadFile(tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		options = append(options, grpc.ChainStreamInterceptor(requireToken("Bearer "+strings.TrimSpace(string(token)))))
	}
	s := grpc.NewServer(options...)
	of := newServer(d)
	flight.RegisterFlightServiceServer(s, of)
	go func() {
		<-ctx.Done()
		time.AfterFunc(farewell, s.Stop)
		s.GracefulStop()
	}()
	err = s.Serve(listener)
	of.closeAll()
	return err
}

// listen listens on an address.
func listen(address string) (net.Listener, error) {
	switch scheme, at, _ := strings.Cut(address, "://"); scheme {
	case "unix":
		listener, err := net.Listen("unix", at)
		if err != nil {
			return nil, fmt.Errorf("--listen: %w", err)
		}
		return listener, os.Chmod(at, 0o600)
	case "grpc":
		listener, err := net.Listen("tcp", at)
		if err != nil {
			return nil, fmt.Errorf("--listen: %w", err)
		}
		return listener, nil
	}
	return nil, errors.New("--listen is unix:///PATH or grpc://HOST:PORT; tsmark adds it to the command of --target external,command=…")
}

// catchPanic turns a panic into an error, so that it ends a call and not the program.
func catchPanic(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case needsSeries:
			err = status.Error(codes.Unimplemented, string(p))
		default:
			err = status.Errorf(codes.Internal, "panic: %v", p)
		}
	}()
	return handle(srv, stream)
}

// requireToken refuses calls without the authorization.
func requireToken(want string) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		sent := metadata.ValueFromIncomingContext(stream.Context(), "authorization")
		if len(sent) != 1 || subtle.ConstantTimeCompare([]byte(sent[0]), []byte(want)) != 1 {
			return status.Error(codes.Unauthenticated, "the token is missing or wrong")
		}
		return handle(srv, stream)
	}
}
