package connection_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/option"
)

// TestSplit checks that an option with a driver's own meaning is not a usual one, whatever its default.
func TestSplit(t *testing.T) {
	usual, own := connection.Split(connection.Options(
		option.Option{Name: connection.Port, Default: "9000", Help: "port of HTTP"},
		option.Option{Name: connection.User, Default: "root"},
		option.Option{Name: "token", Secret: true},
	))
	names := func(list []option.Option) (all []string) {
		for _, o := range list {
			all = append(all, o.Name)
		}
		return all
	}
	if !slices.Equal(names(usual), []string{"host", "user", "password", "tls", "timeout"}) || !slices.Equal(names(own), []string{"port", "token"}) {
		t.Errorf("usual: %q, own: %q", names(usual), names(own))
	}
}

// Own options change the usual ones, or stand behind those before them.
func TestOptions(t *testing.T) {
	list := connection.Options(
		option.Option{Name: connection.Host, Empty: "this machine"},
		option.Option{Name: connection.Port, Default: "9000", Help: "port of HTTP"},
		option.Option{Name: "pg_port", Default: "8812"},
		option.Option{Name: connection.Password},
		option.Option{Name: "token", Secret: true},
	)
	var names []string
	for _, o := range list {
		names = append(names, o.Name)
	}
	if want := []string{"host", "port", "pg_port", "user", "password", "token", "tls", "timeout"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if list[0].Default != "" || list[0].DefaultText() != "this machine" || list[1].Default != "9000" || list[1].Help != "port of HTTP" || list[1].Type.String() != "port" || !list[4].Secret {
		t.Errorf("%+v", list)
	}
}

func TestOf(t *testing.T) {
	v, err := option.Resolve("x", connection.Options(option.Option{Name: connection.Port, Default: "1"}), map[string]string{"user": "me", "timeout": "5s"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := connection.NewSettings(v), (connection.Settings{Host: "127.0.0.1", Port: "1", User: "me", Timeout: 5 * time.Second}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestFailed checks that an error names an address once, and also names one that differs from the
// requested address.
func TestFailed(t *testing.T) {
	const up = "cannot be reached: is it up, and are host and port right?"
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: errors.New("connect: connection refused")}
	for _, c := range []struct {
		doing string
		err   error
		want  string
	}{
		{"connecting to 127.0.0.1:1", refused, "connecting to 127.0.0.1:1: " + up + " (connect: connection refused)"},
		{"connecting to 127.0.0.1:1", fmt.Errorf("failed at 127.0.0.1:1: dial error: %w", refused), "connecting to 127.0.0.1:1: " + up + " (connect: connection refused)"},
		{"connecting to db1:1", refused, "connecting to db1:1: " + up + " (127.0.0.1:1: connect: connection refused)"},
		{"connecting to x", &net.OpError{Op: "dial", Net: "unix", Addr: &net.UnixAddr{Name: "/run/x", Net: "unix"}, Err: errors.New("no such file")}, "connecting to x: " + up + " (dial unix /run/x: no such file)"},
		{"connecting to x:1", &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("lookup x: no such host")}, "connecting to x:1: " + up + " (dial tcp: lookup x: no such host)"},
		{"connecting to x:1", errors.Join(refused, errors.New("EOF")), "connecting to x:1: " + up + " (127.0.0.1:1: connect: connection refused; EOF)"},
		{"connecting to 127.0.0.1:1", fmt.Errorf("failed to connect: %w", errors.Join(fmt.Errorf("127.0.0.1:1: dial error: %w", refused), fmt.Errorf("127.0.0.1:1 again: %w", refused))), "connecting to 127.0.0.1:1: " + up + " (connect: connection refused)"},
		{"connecting to x:1", fmt.Errorf("failed to connect to x: hostname resolving error: %w", &net.DNSError{Err: "no such host", Name: "x"}), "connecting to x:1: " + up + " (lookup x: no such host)"},
		{"connecting to x:1", errors.New("EOF"), "connecting to x:1: " + up + " (EOF)"},
	} {
		if err := connection.DescribeError(c.doing, "trust it", 0, c.err); err.Error() != c.want || !errors.Is(err, driver.ErrUnreachable) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}
