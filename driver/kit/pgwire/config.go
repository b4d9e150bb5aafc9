// Package pgwire implements PostgreSQL's wire protocol for the targets that understand it. It finds the
// server as psql would, passes rows directly to sinks, and says in one line what failed and how to fix
// it.
package pgwire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/printable"
)

// Options returns the options that NewConfig reads. For an empty option, the environment decides, as
// for psql: PGHOST, PGPORT, PGDATABASE, PGUSER, PGPASSWORD, PGSSLMODE, PGSSLROOTCERT, PGSERVICE with
// its file, and ~/.pgpass.
func Options() []driver.Option {
	return connection.Options(
		driver.Option{Name: connection.Host, Empty: "PGHOST, or this machine", Help: "host of the server, or the directory of its socket"},
		driver.Option{Name: connection.Port, Empty: "PGPORT, or 5432"},
		driver.Option{Name: connection.Database, Empty: "PGDATABASE, or the user's name"},
		driver.Option{Name: connection.User, Empty: "PGUSER, or the login name"},
		driver.Option{Name: connection.Password, Empty: "PGPASSWORD, or ~/.pgpass"},
		driver.Option{Name: connection.TLS, Empty: "PGSSLMODE; otherwise off if the server runs on this machine, else on"},
	)
}

// sslModes maps the values of connection.TLS to PostgreSQL's.
var sslModes = map[string]string{connection.Off: "disable", connection.On: "verify-full", connection.Insecure: "require"}

// Config is the address of a server and the user to connect as.
type Config struct {
	pg *pgconn.Config
	// Timeout is the value of connection.Timeout.
	Timeout time.Duration
}

// NewConfig determines the server from the settings, and from the environment for empty settings. Its
// error names the wrong one, without the password.
func NewConfig(server connection.Settings) (*Config, error) {
	var settings []string
	set := func(key, value string) {
		if value != "" {
			settings = append(settings, key+"='"+strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value)+"'")
		}
	}
	set("host", server.Host)
	set("port", server.Port)
	set("dbname", server.Database)
	set("user", server.User)
	set("password", server.Password)
	set("sslmode", sslModes[server.TLS])
	pg, err := pgconn.ParseConfig(strings.Join(settings, " "))
	if err == nil && undecided(pg) {
		mode := "verify-full"
		if connection.Local(pg.Host) {
			mode = "disable"
		}
		set("sslmode", mode)
		pg, err = pgconn.ParseConfig(strings.Join(settings, " "))
	}
	if err != nil {
		return nil, fmt.Errorf("finding the server: %s", printable.OneLine(err.Error()))
	}
	pg.ConnectTimeout = server.Timeout
	pg.MaxProtocolMessageBodyLen, pg.DialFunc = maxMessage, limitReads(pg.DialFunc)
	pg.RuntimeParams["application_name"] = "tsmark"
	// Only this text format of times can be decoded.
	pg.RuntimeParams["timezone"], pg.RuntimeParams["datestyle"] = "UTC", "ISO"
	pg.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		// Cancel the query on the server: a query that nobody waits for would slow down the next
		// measurements. If the server does not cancel it, close the connection.
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
	}
	return &Config{pg: pg, Timeout: server.Timeout}, nil
}

// Begin makes each connection begin with statements.
func (c *Config) Begin(statements []string) {
	if len(statements) == 0 {
		return
	}
	c.pg.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		_, err := conn.Exec(ctx, strings.Join(statements, "; ")).ReadAll()
		return err
	}
}

// undecided reports whether neither options nor the environment say if the connection is to be
// encrypted: pgx would try both.
func undecided(pg *pgconn.Config) bool {
	if os.Getenv("PGSSLMODE") != "" {
		return false
	}
	plain := pg.TLSConfig == nil
	for _, f := range pg.Fallbacks {
		if f.Host == pg.Host && f.Port == pg.Port && (f.TLSConfig == nil) != plain {
			return true
		}
	}
	return strings.HasPrefix(pg.Host, "/")
}

// Endpoint returns the server for driver.Driver's Endpoints; the option sets its port. The probe
// connects to the database as the user.
func (c *Config) Endpoint(option string) driver.Endpoint {
	return driver.Endpoint{
		Protocol: "PostgreSQL protocol", Address: c.Address(), Option: option, Secret: c.pg.Password != "",
		Probe: func(ctx context.Context) (*tls.ConnectionState, error) {
			conn, err := Connect(ctx, c)
			if err != nil {
				return nil, err
			}
			defer conn.Close() // no data can be lost
			if encrypted, ok := conn.pg.Conn().(*tls.Conn); ok {
				state := encrypted.ConnectionState()
				return &state, nil
			}
			return nil, nil
		},
	}
}

// Address is host:port. For a socket in a folder it is the port on this machine.
func (c *Config) Address() string {
	host := c.pg.Host
	if strings.HasPrefix(host, "/") {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(int(c.pg.Port)))
}

// Location describes where the data is, without secrets.
func (c *Config) Location() string {
	return fmt.Sprintf("database %s at %s", c.pg.Database, c.Address())
}

// Place returns the database for driver.Driver's Place.
func (c *Config) Place() string {
	host := c.pg.Host
	if strings.HasPrefix(host, "/") {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("database %s at %s", c.pg.Database, driver.AddressPlace(host, strconv.Itoa(int(c.pg.Port))))
}

// Set sets a server setting on every connection.
func (c *Config) Set(name, value string) { c.pg.RuntimeParams[name] = value }
