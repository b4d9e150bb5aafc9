package stub

import (
	"net"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Welcome accepts a client of the PostgreSQL protocol, and returns the backend that
// answers it.
func Welcome(c net.Conn) *pgproto3.Backend {
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return b
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	b.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	_ = b.Flush()
	return b
}

// Refusing answers each connection of the PostgreSQL protocol with an error.
func Refusing(code, message string) func(net.Conn) {
	return func(c net.Conn) {
		b := pgproto3.NewBackend(c, c)
		_, _ = b.ReceiveStartupMessage()
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: message})
		_ = b.Flush()
	}
}

// Rows begins an answer of one column of 64 bits.
func Rows(b *pgproto3.Backend, n int) {
	b.Send(&pgproto3.ParseComplete{})
	b.Send(&pgproto3.BindComplete{})
	b.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("n"), DataTypeOID: 20, DataTypeSize: 8, Format: 1}}})
	for range n {
		b.Send(&pgproto3.DataRow{Values: [][]byte{make([]byte, 8)}})
	}
}

// UntilSync reads all messages up to the next Sync.
func UntilSync(b *pgproto3.Backend) {
	for {
		m, err := b.Receive()
		if err != nil {
			return
		}
		if _, ok := m.(*pgproto3.Sync); ok {
			return
		}
	}
}

// AnswerOne answers all messages up to the next Sync, or a simple query, with
// one row.
func AnswerOne(b *pgproto3.Backend) error {
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
