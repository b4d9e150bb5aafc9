// Package protocol finds out what a server speaks, to say why a driver cannot connect to it, and which
// driver an HTTP server needs.
package protocol

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"
)

// Protocols. Those that drivers use have the names of driver.Endpoint.Protocol.
const (
	HTTP       = "HTTP"
	TLS        = "TLS" // with any protocol inside
	PostgreSQL = "PostgreSQL protocol"
	MySQL      = "MySQL protocol"
	ClickHouse = "native protocol"
	CQL        = "CQL protocol"
)

// drivers are the drivers of protocols that only one system has, or that are named after one.
var drivers = map[string]string{PostgreSQL: "postgres", MySQL: "mysql", ClickHouse: "clickhouse", CQL: "cassandra"}

// detect returns the protocol of the server at an address, as it answers within a time. It is empty if
// nothing listens there, or if no answer reveals the protocol. No request changes anything, and none has
// credentials.
func detect(ctx context.Context, address string, within time.Duration) string {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	probes := []func(context.Context, net.Conn) string{probeHTTP, probePostgreSQL, probeTLS}
	found := make(chan string, len(probes))
	for _, probe := range probes {
		go func() {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err != nil {
				found <- ""
				return
			}
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			protocol := probe(ctx, conn)
			if stop() {
				_ = conn.Close() // nothing else is expected
			}
			found <- protocol
		}()
	}
	last := ""
	for range probes {
		switch protocol := <-found; protocol {
		case "":
		case TLS:
			last = TLS // PostgreSQL may take it too, where its own request for encryption tells more
		default:
			return protocol
		}
	}
	return last
}

// probeHTTP waits for a greeting, and then sends a request of HTTP, to which servers of many protocols
// answer that they do not speak it.
func probeHTTP(_ context.Context, conn net.Conn) string {
	if protocol := classify(hear(conn, 2*pause)); protocol != "" {
		return protocol
	}
	if _, err := conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
		return ""
	}
	return classify(hear(conn, 0))
}

// probePostgreSQL requests encryption, to which PostgreSQL replies with one letter.
func probePostgreSQL(_ context.Context, conn net.Conn) string {
	if _, err := conn.Write([]byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}); err != nil {
		return ""
	}
	answer := hear(conn, 0)
	if answer == "S" || answer == "N" {
		return PostgreSQL
	}
	return classify(answer)
}

// probeTLS tries to negotiate encryption. It sends no data, so it trusts every certificate.
func probeTLS(ctx context.Context, conn net.Conn) string {
	err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
	if alert := tls.AlertError(0); err == nil || errors.As(err, &alert) {
		return TLS
	}
	return ""
}

// pause is how long a server is silent at the end of a greeting or an answer.
const pause = 100 * time.Millisecond

// hear returns what a server says, until it has been silent for a moment. It waits for the beginning
// within a time; 0: until the connection is closed.
func hear(conn net.Conn, within time.Duration) string {
	const most = 4 << 10
	var heard []byte
	part := make([]byte, most)
	for len(heard) < most {
		if within > 0 {
			_ = conn.SetReadDeadline(time.Now().Add(within)) // else the read fails
		} else {
			_ = conn.SetReadDeadline(time.Time{})
		}
		n, err := conn.Read(part)
		heard = append(heard, part[:n]...)
		if err != nil {
			break
		}
		within = pause
	}
	return string(heard)
}

// beginnings are the protocols of servers whose greeting or answer begins with a text.
var beginnings = []struct{ text, protocol string }{
	{"HTTP/", HTTP},
	{"-ERR ", "Redis protocol"}, {"-NOAUTH ", "Redis protocol"}, {"-DENIED ", "Redis protocol"},
	{"SSH-", "SSH protocol"}, {"INFO {", "NATS protocol"}, {"AMQP", "AMQP protocol"},
	{"220 ", "SMTP or FTP protocol"}, {"220-", "SMTP or FTP protocol"}, {"ERROR\r\n", "memcached protocol"},
	{"\x15\x03", TLS}, // an alert
}

// classify returns the protocol of a greeting, or of an answer to a request of another protocol.
func classify(said string) string {
	switch {
	case strings.Contains(said, "clickhouse-client program"):
		return ClickHouse
	case strings.HasPrefix(said, "HTTP/") && strings.Contains(said, "MongoDB"):
		return "MongoDB protocol"
	case strings.HasPrefix(said, "HTTP/") && strings.Contains(said, "HTTPS"): // the request should have been encrypted
		return TLS
	case isMySQL(said):
		return MySQL
	case len(said) > 9 && said[0]&0x80 != 0 && said[4] == 0 && strings.Contains(said, "protocol version"):
		return CQL
	}
	for _, b := range beginnings {
		if strings.HasPrefix(said, b.text) {
			return b.protocol
		}
	}
	return ""
}

// isMySQL reports whether a greeting is MySQL's: the first packet of a connection, with the version of
// the protocol or an error.
func isMySQL(said string) bool {
	if len(said) < 5 || said[3] != 0 || said[4] != 9 && said[4] != 10 && said[4] != 0xff {
		return false
	}
	return len(said) == 4+int(said[0])+int(said[1])<<8+int(said[2])<<16
}
