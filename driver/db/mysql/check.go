package mysql

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// endpoints implements driver.Driver's Endpoints. Encryption begins within the protocol; its parameters
// are read when the certificate is verified.
func (v variant) endpoints(o driver.Options) ([]driver.Endpoint, error) {
	c := v.config(o)
	return []driver.Endpoint{{
		Protocol: "MySQL protocol", Address: net.JoinHostPort(c.host, c.port), Option: connection.Port, Opened: true, Secret: c.Passwd != "",
		Probe: func(ctx context.Context) (state *tls.ConnectionState, err error) {
			own := v.config(o)
			if own.TLS != nil {
				own.TLS.VerifyConnection = func(agreed tls.ConnectionState) error { state = &agreed; return nil }
			}
			conn, err := own.connect(ctx)
			if err != nil {
				return nil, err
			}
			return state, conn.Close()
		},
	}}, nil
}

// ReadClock implements driver.DB.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return sqlkit.ReadClockBy(ctx, d.admin, time.Microsecond, "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)")
}

// FreeSpace implements driver.DB.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT @@GLOBAL.datadir")
	if err != nil {
		return "", -1, err
	}
	return row[0].String(), -1, nil
}

// concerns are the settings that distort measurements of MySQL and MariaDB.
var concerns = []driver.Concern{
	{Setting: "innodb_flush_log_at_trx_commit", Wrong: driver.IsNot("1"), Effect: "commits are not forced to disk before they are acknowledged", Fix: "set it to 1, or compare only with targets of the same durability (durability=" + driver.Relaxed + ")"},
	{Setting: "innodb_doublewrite", Wrong: driver.Is("OFF", "0"), Effect: "a crash of the machine may destroy pages, and each page is written once in place of twice", Fix: "set innodb_doublewrite to ON"},
	{Setting: "innodb_buffer_pool_size", Wrong: driver.Is("134217728"), Effect: "the cache has the size as shipped, 128 MiB, which fits a small machine", Fix: "set innodb_buffer_pool_size to about half of the server's memory, or report that it was run as shipped"},
	{Setting: "general_log", Wrong: driver.Is("ON", "1"), Effect: "each statement is written to the log", Fix: "set general_log to OFF"},
	{Setting: "long_query_time", Wrong: driver.Is("0", "0.000000"), Effect: "with slow_query_log each statement is written to the log", Fix: "set long_query_time to 10"},
	{Setting: "max_execution_time", Wrong: driver.IsNot("0"), Effect: "the server ends long queries", Fix: "set max_execution_time to 0"},
	{Setting: "max_statement_time", Wrong: driver.IsNot("0", "0.000000"), Effect: "the server ends long queries", Fix: "set max_statement_time to 0"},
	{Setting: "max_allowed_packet", Wrong: func(v string) bool { n, err := strconv.Atoi(v); return err == nil && n < 2*insertBytes }, Effect: "statements of a load have up to about 1 MiB, and the server refuses longer ones than that", Fix: morePacket},
	{Setting: "version", Wrong: func(v string) bool { return strings.Contains(strings.ToLower(v), "debug") }, Effect: "the server is a debug build, which is several times slower", Fix: "use a release build"},
}

// morePacket says how to make a server accept the statements of a load.
const morePacket = "run SET GLOBAL max_allowed_packet = 16777216 there, or set it in the server's configuration"

// leastPacket is the smallest max_allowed_packet with which LOAD DATA is attempted: the library sends
// files in packets of 16 KiB, and the server cuts the connection without an error if a packet is too
// long.
const leastPacket = 64 << 10

// checkPacket returns an error if LOAD DATA cannot work with a max_allowed_packet.
func checkPacket(value string) error {
	if n, err := strconv.Atoi(value); err == nil && n < leastPacket {
		return fmt.Errorf("max_allowed_packet is %d bytes on the server, and LOAD DATA needs at least %d; %s", n, leastPacket, morePacket)
	}
	return nil
}

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	names := make([]string, len(concerns))
	for i, c := range concerns {
		names[i] = literal(c.Setting)
	}
	values, err := d.readPairs(ctx, d.admin, fmt.Sprintf("SHOW GLOBAL VARIABLES WHERE Variable_name IN (%s)", strings.Join(names, ", ")))
	if err != nil {
		return nil, err
	}
	return driver.AdviseOn(concerns, values), nil
}
