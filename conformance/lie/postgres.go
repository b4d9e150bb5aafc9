package lie

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
)

// dialogue is a connection that speaks the PostgreSQL protocol.
type dialogue struct {
	*proxy
	client, server net.Conn
	fromClient     *pgproto3.Backend
	fromServer     *pgproto3.Frontend

	// Of the client's side alone.
	statements map[string]string // texts, by name
	bound      string            // text of the last portal
	executed   string            // text that this exchange runs
	copying    *copyStream       // rows that are being written; nil: none

	given atomic.Int64 // rows of the last COPY, as the client sent them

	mu        sync.Mutex
	exchanges []string // texts of those whose answers are not complete, in their order
}

// postgres passes the messages of a client and a server on until one of them ends.
func (p *proxy) postgres(client, server net.Conn) error {
	d := &dialogue{
		proxy: p, client: client, server: server,
		fromClient: pgproto3.NewBackend(client, client), fromServer: pgproto3.NewFrontend(server, server),
		statements: make(map[string]string),
	}
	if ok, err := d.greet(); err != nil || !ok {
		return err
	}
	answered := make(chan error, 1)
	go func() {
		answered <- d.answers()
		_ = client.Close()
		_ = server.Close()
	}()
	err := d.requests()
	_ = server.Close()
	return errors.Join(err, <-answered)
}

// greet passes the start of a session on, in which both sides speak in turn. It
// returns false where there is none.
func (d *dialogue) greet() (bool, error) {
	for {
		first, err := d.fromClient.ReceiveStartupMessage()
		if err != nil {
			return false, err
		}
		switch first.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := d.client.Write([]byte{'N'}); err != nil {
				return false, err
			}
			continue
		}
		if err := send(d.server, first); err != nil {
			return false, err
		}
		if _, cancels := first.(*pgproto3.CancelRequest); cancels {
			_, _ = io.Copy(io.Discard, d.server) // until the server has taken it
			return false, nil
		}
		break
	}
	for {
		m, err := d.fromServer.Receive()
		if err != nil {
			return false, err
		}
		if err := send(d.client, m); err != nil {
			return false, err
		}
		switch m := m.(type) {
		case *pgproto3.ReadyForQuery:
			return true, nil
		case *pgproto3.ErrorResponse:
			return false, fmt.Errorf("the server refuses: %s", m.Message)
		case pgproto3.AuthenticationResponseMessage:
			if err := d.authenticate(m); err != nil {
				return false, err
			}
		}
	}
}

// authenticate passes the client's reply to a request of the server's on, if it
// wants one.
func (d *dialogue) authenticate(m pgproto3.AuthenticationResponseMessage) error {
	var kind uint32
	switch m.(type) {
	case *pgproto3.AuthenticationCleartextPassword:
		kind = pgproto3.AuthTypeCleartextPassword
	case *pgproto3.AuthenticationMD5Password:
		kind = pgproto3.AuthTypeMD5Password
	case *pgproto3.AuthenticationSASL:
		kind = pgproto3.AuthTypeSASL
	case *pgproto3.AuthenticationSASLContinue:
		kind = pgproto3.AuthTypeSASLContinue
	default:
		return nil
	}
	if err := d.fromClient.SetAuthType(kind); err != nil {
		return err
	}
	reply, err := d.fromClient.Receive()
	if err != nil {
		return err
	}
	return send(d.server, reply)
}

// message is what both sides send.
type message interface {
	Encode([]byte) ([]byte, error)
}

func send(to net.Conn, messages ...message) error {
	var buffer []byte
	for _, m := range messages {
		var err error
		if buffer, err = m.Encode(buffer); err != nil {
			return err
		}
	}
	_, err := to.Write(buffer)
	return err
}

// requests passes on what the client says.
func (d *dialogue) requests() error {
	for {
		m, err := d.fromClient.Receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.Parse:
			d.statements[m.Name] = m.Query
		case *pgproto3.Bind:
			d.bound = d.statements[m.PreparedStatement]
		case *pgproto3.Execute:
			d.executed = d.bound
		case *pgproto3.Query:
			d.executed = m.String
			d.begin()
		case *pgproto3.Sync:
			d.begin()
		case *pgproto3.CopyData:
			if d.copying != nil {
				rows, err := d.copying.take(m.Data)
				if err == nil && len(rows) > 0 {
					err = send(d.server, &pgproto3.CopyData{Data: rows})
				}
				if err != nil {
					return err
				}
				continue
			}
		case *pgproto3.CopyDone, *pgproto3.CopyFail:
			d.copying = nil
		}
		if err := send(d.server, m); err != nil {
			return err
		}
	}
}

// begin notes what the next answer is about.
func (d *dialogue) begin() {
	if d.copies(d.executed) {
		d.copying = &copyStream{dialogue: d}
		d.given.Store(0)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.exchanges = append(d.exchanges, d.executed)
	d.executed = ""
}

// copies reports whether a statement copies rows that are lied about.
func (d *dialogue) copies(text string) bool {
	return d.lie.Store != nil && regexp.MustCompile(`(?i)^\s*COPY\s+"?`+regexp.QuoteMeta(d.table)+`"?[\s(]`).MatchString(text)
}

// current is the text whose answer the server gives.
func (d *dialogue) current() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.exchanges) == 0 {
		return ""
	}
	return d.exchanges[0]
}

func (d *dialogue) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.exchanges) > 0 {
		d.exchanges = d.exchanges[1:]
	}
}

// answers passes on what the server says.
func (d *dialogue) answers() error {
	var before, after []byte // messages of an answer that are not its rows
	var rows [][]byte
	for {
		m, err := d.fromServer.Receive()
		if err != nil {
			return err
		}
		_, last := m.(*pgproto3.ReadyForQuery)
		kindOf, deceives := d.deceives(d.current())
		if last {
			d.end()
		}
		if done, ok := m.(*pgproto3.CommandComplete); ok && d.copies(d.current()) {
			done.CommandTag = fmt.Appendf(nil, "COPY %d", d.given.Load()) // as if all were stored
		}
		if !deceives {
			if err := send(d.client, m); err != nil {
				return err
			}
			continue
		}
		encoded, err := m.Encode(nil)
		if err != nil {
			return err
		}
		switch m.(type) {
		case *pgproto3.DataRow:
			rows = append(rows, encoded)
			continue
		case *pgproto3.CommandComplete: // the lie says how many rows there are
		case *pgproto3.ReadyForQuery:
			after = encoded
			if err := d.tell(kindOf, before, rows, after); err != nil {
				return err
			}
			before, rows = nil, nil
		default:
			before = append(before, encoded...)
		}
	}
}

// tell sends an answer as the lie has it.
func (d *dialogue) tell(kindOf string, before []byte, rows [][]byte, after []byte) error {
	told := d.read(kindOf, len(rows))
	var body []byte
	for _, i := range told.rows {
		body = append(body, rows[i]...)
	}
	complete := &pgproto3.CommandComplete{CommandTag: fmt.Appendf(nil, "SELECT %d", len(told.rows))}
	body, err := complete.Encode(body)
	if err != nil {
		return err
	}
	if told.old != nil {
		body = told.old
	}
	if told.keep {
		d.remember(kindOf, body)
	}
	d.wait(context.Background(), told.delay)
	for _, part := range [][]byte{before, body, after} {
		if _, err := d.client.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// copyStream is rows on their way in COPY's binary form.
type copyStream struct {
	*dialogue
	begun  bool
	buffer []byte
}

// copyHeader is the length of the signature, the flags and an empty extension.
const copyHeader = 11 + 4 + 4

// tuple is the columns of a row; nil: NULL.
type tuple [][]byte

// take returns what is passed on of the stream, of which more has come. Rows
// that are cut by the end of a message wait for the next one.
func (s *copyStream) take(more []byte) ([]byte, error) {
	s.buffer = append(s.buffer, more...)
	var out []byte
	if !s.begun {
		if len(s.buffer) < copyHeader {
			return nil, nil
		}
		if extension := binary.BigEndian.Uint32(s.buffer[copyHeader-4:]); extension != 0 {
			return nil, fmt.Errorf("COPY has an extension of %d bytes", extension)
		}
		out, s.buffer, s.begun = append(out, s.buffer[:copyHeader]...), s.buffer[copyHeader:], true
	}
	var rows []tuple
	trailer := false
	for len(s.buffer) > 0 && !trailer {
		row, rest, ended, ok := nextTuple(s.buffer)
		if !ok {
			break
		}
		if s.buffer = rest; ended {
			trailer = true
		} else {
			rows = append(rows, row)
		}
	}
	s.given.Add(int64(len(rows)))
	fates := s.fates(len(rows))
	for i, fate := range fates {
		for c := range rows[i].values() {
			switch {
			case fate == Zero:
				clear(rows[i][c])
			case fate == Swap && i > 0:
				rows[i-1][c], rows[i][c] = rows[i][c], rows[i-1][c]
			}
		}
	}
	for i, fate := range fates {
		for range fate.copies() {
			out = rows[i].append(out)
		}
	}
	if trailer {
		out = append(out, 0xff, 0xff)
	}
	return out, nil
}

// nextTuple reads a row; ended says that it was the trailer, !ok that the rest of
// the row has not come yet.
func nextTuple(from []byte) (row tuple, rest []byte, ended, ok bool) {
	if len(from) < 2 {
		return nil, from, false, false
	}
	columns := int16(binary.BigEndian.Uint16(from))
	if from = from[2:]; columns < 0 {
		return nil, from, true, true
	}
	row = make(tuple, columns)
	for i := range row {
		if len(from) < 4 {
			return nil, from, false, false
		}
		size := int32(binary.BigEndian.Uint32(from))
		if from = from[4:]; size < 0 {
			continue
		}
		if len(from) < int(size) {
			return nil, from, false, false
		}
		row[i], from = append([]byte{}, from[:size]...), from[size:]
	}
	return row, from, false, true
}

// values are the columns that hold numbers of eight bytes, but for the time,
// which is the first.
func (t tuple) values() func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 1; i < len(t); i++ {
			if len(t[i]) == 8 && !yield(i) {
				return
			}
		}
	}
}

func (t tuple) append(to []byte) []byte {
	to = binary.BigEndian.AppendUint16(to, uint16(len(t)))
	for _, column := range t {
		if column == nil {
			to = binary.BigEndian.AppendUint32(to, 0xffffffff)
			continue
		}
		to = binary.BigEndian.AppendUint32(to, uint32(len(column)))
		to = append(to, column...)
	}
	return to
}
