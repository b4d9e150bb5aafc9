package pgwire_test

import (
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/pgwire"
)

// A question costs what pgx takes to ask it by itself, in each protocol.
func TestOverhead(t *testing.T) {
	o := stub(t, func(c net.Conn) {
		b := welcome(c)
		for answerOne(b) == nil {
		}
	})
	address := url.URL{Scheme: "postgres", Host: net.JoinHostPort(o["host"], o["port"]), User: url.UserPassword(o["user"], o["password"]), Path: o["database"],
		RawQuery: "sslmode=disable"}
	config, err := pgwire.NewConfig(connection.Of(o))
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

// answerOne answers what comes before the next Sync, or a simple query, with
// one row.
func answerOne(b *pgproto3.Backend) error {
	fields := []pgproto3.FieldDescription{{Name: []byte("n"), DataTypeOID: 20, DataTypeSize: 8}}
	for {
		message, err := b.Receive()
		if err != nil {
			return err
		}
		switch m := message.(type) {
		case *pgproto3.Parse:
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Describe:
			if m.ObjectType == 'S' {
				b.Send(&pgproto3.ParameterDescription{})
			}
			fields[0].Format = 0
			if m.ObjectType == 'P' {
				fields[0].Format = 1
			}
			b.Send(&pgproto3.RowDescription{Fields: fields})
		case *pgproto3.Bind:
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Execute:
			b.Send(&pgproto3.DataRow{Values: [][]byte{make([]byte, 8)}})
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
		case *pgproto3.Query:
			fields[0].Format = 0
			b.Send(&pgproto3.RowDescription{Fields: fields})
			b.Send(&pgproto3.DataRow{Values: [][]byte{[]byte("12345678")}})
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			return b.Flush()
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			return b.Flush()
		}
	}
}
