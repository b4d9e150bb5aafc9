package protocol

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/internal/option"
)

// serve returns the address of a server that does this with each connection, and closes it then.
func serve(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				do(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// greets sends a greeting, and closes the connection when the client answers.
func greets(greeting string) func(net.Conn) {
	return func(c net.Conn) {
		fmt.Fprint(c, greeting)
		_, _ = c.Read(make([]byte, 1<<10))
	}
}

// replies sends an answer to each request that begins with a text, and closes the connection for others.
func replies(request, answer string) func(net.Conn) {
	return func(c net.Conn) {
		said := make([]byte, 1<<10)
		if n, _ := c.Read(said); strings.HasPrefix(string(said[:n]), request) {
			fmt.Fprint(c, answer)
		}
	}
}

// mysqlGreeting is the first packet of MySQL 8.
const mysqlGreeting = "\x4a\x00\x00\x00\x0a8.0.36\x00\x0b\x00\x00\x00abcdefgh\x00\xff\xff\xff\x02\x00\xff\xdf\x15\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00abcdefghijkl\x00mysql_native_password\x00"

// sslRequest is PostgreSQL's request for encryption.
const sslRequest = "\x00\x00\x00\x08\x04\xd2\x16\x2f"

// secure returns the address of a server that speaks TLS and nothing in the clear.
func secure(t *testing.T) string {
	certificate, key := stub.Certificate(t)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, func(c net.Conn) {
		_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake() // an error is the client's to see
	})
}

// Each protocol is known by what its servers say first, or answer.
func TestDetect(t *testing.T) {
	webHost, webPort := stub.HTTP(t, stub.Saying(http.StatusNotFound, "", "nothing here"))
	for name, c := range map[string]struct{ address, want string }{
		"HTTP":              {net.JoinHostPort(webHost, webPort), HTTP},
		"TLS":               {secure(t), TLS},
		"HTTP over TLS":     {serve(t, replies("GET ", "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")), TLS},
		"PostgreSQL":        {serve(t, replies(sslRequest, "N")), PostgreSQL},
		"PostgreSQL, TLS":   {serve(t, replies(sslRequest, "S")), PostgreSQL},
		"MySQL":             {serve(t, greets(mysqlGreeting)), MySQL},
		"MySQL, full":       {serve(t, greets("\x17\x00\x00\x00\xff\x10\x04Too many connections")), MySQL},
		"ClickHouse":        {serve(t, replies("GET ", "HTTP/1.0 400 Bad Request\r\n\r\nPort 9000 is for clickhouse-client program\r\nYou must use port 8123 for HTTP.\r\n")), ClickHouse},
		"Cassandra":         {serve(t, replies("GET ", "\x84\x00\x00\x00\x00\x00\x00\x00\x2e\x00\x00\x00\x0a\x00\x28Invalid or unsupported protocol version")), CQL},
		"Redis":             {serve(t, replies("GET ", "-ERR wrong number of arguments for 'get' command\r\n")), "Redis protocol"},
		"MongoDB":           {serve(t, replies("GET ", "HTTP/1.0 200 OK\r\n\r\nIt looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n")), "MongoDB protocol"},
		"SSH":               {serve(t, greets("SSH-2.0-OpenSSH_9.6\r\n")), "SSH protocol"},
		"unknown":           {serve(t, greets("hello\n")), ""},
		"one that hangs up": {serve(t, func(net.Conn) {}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := detect(t.Context(), c.address, time.Minute); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	silent := serve(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); <-t.Context().Done() })
	if got := detect(t.Context(), silent, 50*time.Millisecond); got != "" {
		t.Errorf("a silent server speaks %q", got)
	}
	host, port := stub.Nobody(t)
	if got := detect(t.Context(), net.JoinHostPort(host, port), time.Minute); got != "" {
		t.Errorf("where nobody listens: %q", got)
	}
}

// endless is a driver whose Open waits for a server that never answers as it should.
func endless(name, protocol, defaultPort string) driver.Driver {
	k := driver.Driver{Name: name, Options: connection.Options(option.Option{Name: connection.Port, Default: defaultPort})}
	k.Endpoints = func(o driver.Options) ([]driver.Endpoint, error) {
		e := connection.NewSettings(o).Endpoint()
		e.Protocol = protocol
		return []driver.Endpoint{e}, nil
	}
	k.Open = func(ctx context.Context, _ driver.Env, _ driver.Options) (driver.DB, error) {
		<-ctx.Done()
		return driver.DB{}, fmt.Errorf("connecting: %w", context.Cause(ctx))
	}
	return k
}

// openAt opens the driver at an address, without patience.
func openAt(t *testing.T, k driver.Driver, address string, more ...string) error {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	options := map[string]string{"host": host, "port": port}
	for _, o := range more {
		name, value, _ := strings.Cut(o, "=")
		options[name] = value
	}
	o, err := k.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	_, err = timing{patience: time.Millisecond, look: time.Minute}.driver(k).Open(t.Context(), driver.Env{}, o)
	return err
}

// A server of another protocol ends the wait for it, and the error says what to do.
func TestMismatch(t *testing.T) {
	host, port := stub.HTTP(t, stub.Paths(map[string]string{"/": "Ok.\n"}))
	chHTTP := net.JoinHostPort(host, port)
	host, port = stub.HTTP(t, stub.Paths(map[string]string{"/api/v1/version": `{"version":"KairosDB 1.3"}`}))
	kairos := net.JoinHostPort(host, port)
	my := serve(t, greets(mysqlGreeting))
	_, myPort, _ := net.SplitHostPort(my)
	encrypted := secure(t)
	for name, c := range map[string]struct {
		driver  driver.Driver
		address string
		options []string
		want    string
	}{
		"HTTP of ClickHouse": {endless("clickhouse", ClickHouse, "9000"), chHTTP, nil,
			" speaks HTTP (it is ClickHouse), and the driver clickhouse needs ClickHouse's native protocol there; give the right port by the option port (default 9000)"},
		"HTTP of another": {endless("iotdb", "TCP", "6667"), kairos, nil,
			" speaks HTTP (it is KairosDB), and the driver iotdb needs the protocol of its own system there; use the driver kairosdb, or give the right port by the option port (default 6667)"},
		"MySQL": {endless("postgres", PostgreSQL, "5432"), my, nil,
			" speaks the MySQL protocol, and the driver postgres needs the PostgreSQL protocol there; use the driver mysql, or give the right port by the option port (default 5432)"},
		"at the default port": {endless("griddb", "NoSQL protocol", myPort), my, nil,
			" speaks the MySQL protocol, and the driver griddb needs the NoSQL protocol there; use the driver mysql, or give the right port by the option port"},
		"TLS":              {endless("influxdb", HTTP, "8086"), encrypted, nil, " speaks TLS, and the connection is not encrypted; give tls=on, or tls=insecure where the network between can be trusted"},
		"TLS at once":      {endless("mysql", MySQL, "3306"), encrypted, []string{"tls=on"}, " speaks TLS, and the driver mysql needs the MySQL protocol there; give the right port by the option port (default 3306)"},
		"the driver's CQL": {timely("cassandra", "TCP"), serve(t, replies("GET ", "\x84\x00\x00\x00\x00\x00\x00\x00\x2e\x00\x00\x00\x0a\x00\x28Invalid or unsupported protocol version")), nil, ""},
		"the driver's TLS": {timely("influxdb", HTTP), encrypted, []string{"tls=insecure"}, ""},
		"the driver's own": {timely("mysql", MySQL), my, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.want
			if want == "" {
				want = errUnanswered.Error()
			} else {
				want = c.address + want
			}
			err := openAt(t, c.driver, c.address, c.options...)
			if err == nil || err.Error() != want || !errors.Is(err, driver.ErrUnreachable) {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

var errUnanswered = fmt.Errorf("x: %w", driver.ErrUnreachable)

// timely is a driver whose Open fails, as when a server of the right protocol is too busy.
func timely(name, protocol string) driver.Driver {
	k := endless(name, protocol, "1")
	k.Open = func(context.Context, driver.Env, driver.Options) (driver.DB, error) {
		return driver.DB{}, errUnanswered
	}
	return k
}

// Errors of a server that was reached stay as they are: it is not looked at.
func TestOtherErrors(t *testing.T) {
	refused := errors.New("the server refuses the password")
	k := endless("mysql", MySQL, "3306")
	k.Open = func(context.Context, driver.Env, driver.Options) (driver.DB, error) { return driver.DB{}, refused }
	k.Endpoints = func(driver.Options) ([]driver.Endpoint, error) { t.Error("it was looked at"); return nil, nil }
	o, err := k.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (timing{patience: time.Hour}).driver(k).Open(t.Context(), driver.Env{}, o); !errors.Is(err, refused) {
		t.Error(err)
	}
}

// An HTTP server is known by what only its system answers.
func TestIdentify(t *testing.T) {
	ping := func(name, value string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/ping" {
				w.Header().Set(name, value)
				w.WriteHeader(http.StatusNoContent)
				return
			}
			http.NotFound(w, r)
		}
	}
	for want, answer := range map[string]http.HandlerFunc{
		"questdb": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Server", "questDB/1.0")
			if r.URL.Path == "/" { // it says what follows, and then nothing
				w.Header().Set("Content-Length", "1")
				w.WriteHeader(http.StatusMovedPermanently)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
		},
		"clickhouse":      stub.Paths(map[string]string{"/": "Ok.\n"}),
		"victoriametrics": stub.Paths(map[string]string{"/api/v1/query": `{"status":"success","data":{"resultType":"vector","result":[]}}`, "/ping": `{"version":"1.8.0"}`}),
		"influxdb":        ping("X-Influxdb-Version", "1.8.10"),
		"influxdb2":       ping("X-Influxdb-Version", "v2.7.12"),
		"influxdb3":       stub.Paths(map[string]string{"/ping": `{"version":"3.5.0","revision":"x","process_id":"y"}`}),
		"prometheus":      stub.Paths(map[string]string{"/api/v1/status/buildinfo": `{"status":"success","data":{"version":"3.5.0","goVersion":"go1.24"}}`}),
		"kairosdb":        stub.Paths(map[string]string{"/api/v1/version": `{"version": "KairosDB 1.3.0"}`}),
		"opentsdb":        stub.Paths(map[string]string{"/api/version": `{"short_revision":"14ab3ef","version":"2.4.1"}`}),
		"":                stub.Saying(http.StatusOK, "", "It works!"),
	} {
		host, port := stub.HTTP(t, answer)
		got, err := Identify(t.Context(), &httpwire.Config{Host: host, Port: port, Timeout: time.Minute})
		if err != nil || got.Driver != want {
			t.Errorf("%+v, %v, want %q", got, err, want)
		}
	}
	host, port := stub.Nobody(t)
	if _, err := Identify(t.Context(), &httpwire.Config{Host: host, Port: port, Timeout: time.Minute}); !errors.Is(err, driver.ErrUnreachable) {
		t.Errorf("where nobody listens: %v", err)
	}
}
