package pgwire_test

import (
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
)

// TestOverhead compares the cost of a query with that of pgx alone, in each protocol.
func TestOverhead(t *testing.T) {
	o := serveOptions(t, func(c net.Conn) {
		b := stub.Welcome(c)
		for stub.AnswerOne(b) == nil {
		}
	})
	address := url.URL{Scheme: "postgres", Host: net.JoinHostPort(o["host"], o["port"]), User: url.UserPassword(o["user"], o["password"]), Path: o["database"],
		RawQuery: "sslmode=disable"}
	config, err := pgwire.NewConfig(connection.NewSettings(o))
	if err != nil {
		t.Fatal(err)
	}
	for protocol, mode := range map[pgwire.Protocol]pgx.QueryExecMode{
		pgwire.Prepared: pgx.QueryExecModeCacheStatement, pgwire.Extended: pgx.QueryExecModeExec, pgwire.Simple: pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(string(protocol), func(t *testing.T) {
			conn, err := pgx.Connect(t.Context(), address.String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			querier, err := pgwire.NewQuerier(t.Context(), config, protocol)
			if err != nil {
				t.Fatal(err)
			}
			defer querier.Close()
			conformance.Overhead(t, func() error {
				rows, err := conn.Query(t.Context(), "SELECT n", mode)
				if err != nil {
					return err
				}
				var n int64
				for rows.Next() {
					if err := rows.Scan(&n); err != nil {
						return err
					}
				}
				return rows.Err()
			}, func() error {
				_, err := querier.Do(t.Context(), driver.Request{Text: "SELECT n"}, nil)
				return err
			})
		})
	}
}
