package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
)

// sqlVersion is the version of the SQL interface's protocol, supported by servers since 4.0.1.
const sqlVersion = -9

const stmtSQL statement = 400

// The kinds of requests of the SQL interface.
const (
	sqlQuery = 2 // reads
	sqlFetch = 5 // the next rows
)

// Whether a request of the SQL interface is about a statement that the server knows.
const (
	sqlCreate = 1
	sqlGet    = 2
)

// SQL is a connection to the SQL interface of a node, which has a port of its own, 20001 by default.
// Any node of a cluster answers for all. One goroutine uses it at a time.
type SQL struct {
	conn     *conn
	database string
	uuid     [16]byte
	last     int64 // number of the query
	open     int64 // that of one whose answer was not read to its end; 0: none is
	answer   Answer
}

// OpenSQL connects to the first reachable one of the members, which are addresses of nodes' SQL
// interfaces. It begins with the member at the index number, so that workers are spread.
func OpenSQL(ctx context.Context, c Config, number int) (*SQL, error) {
	c.MaxMessage = cmp.Or(c.MaxMessage, 1<<30)
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	c.version = sqlVersion
	members, err := membersOf(ctx, c, serviceSQL)
	if err != nil {
		return nil, err
	}
	var failures []error
	for i := range members {
		at, _, err := dial(ctx, c, members[(number+i)%len(members)])
		if err == nil {
			s := &SQL{conn: at, database: cmp.Or(c.Database, PublicDatabase)}
			rand.Read(s.uuid[:])
			return s, nil
		}
		failures = append(failures, err)
		var said *Error
		if ctx.Err() != nil || errors.As(err, &said) && !said.Denied {
			break
		}
	}
	if len(failures) == 1 {
		return nil, failures[0]
	}
	return nil, errors.Join(failures...)
}

// Err returns why the connection cannot be used any more; nil: it can.
func (s *SQL) Err() error { return s.conn.broken }

// Close closes the connection.
func (s *SQL) Close() error {
	s.conn.close()
	return nil
}

// Query runs a statement that reads, and passes its rows to take as they arrive. The server chooses how
// many rows it sends at a time: 5.9 sends a megabyte, regardless of the client. The Answer passed to
// take has Rows and Bytes, and is valid until take returns. Columns have the names in the statement. An
// error from take ends the query: the server drops the rest of it before the next query.
func (s *SQL) Query(ctx context.Context, statement string, take func(a *Answer) error) error {
	s.last++
	more, err := s.roundTrip(ctx, sqlQuery, statement, take)
	for err == nil && more {
		more, err = s.roundTrip(ctx, sqlFetch, "", take)
	}
	return err
}

// roundTrip sends a request and reads its response.
func (s *SQL) roundTrip(ctx context.Context, kind uint32, statement string, take func(a *Answer) error) (more bool, err error) {
	c := s.conn
	if c.broken != nil {
		return false, c.broken
	}
	id := c.begin(stmtSQL, 0)
	c.out = append(c.out, s.uuid[:]...)
	closed := int64(0)
	if kind == sqlFetch {
		c.out = append(c.out, sqlGet)
	} else {
		c.out = append(c.out, sqlCreate)
		closed = s.open
	}
	c.out = binary.LittleEndian.AppendUint32(c.out, kind)
	c.out = binary.LittleEndian.AppendUint64(c.out, uint64(s.last))
	c.out = binary.LittleEndian.AppendUint64(c.out, uint64(closed))
	c.out = append(c.out, 0, 0, 0) // no transaction is open; not a retry; no parameters
	var o options
	c.out, o = beginOptions(c.out)
	c.out = o.string(c.out, optDatabase, s.database)
	c.out = o.end(c.out)
	if kind == sqlFetch {
		c.out = append(c.out, 0, 0, 0, 0)
	} else {
		c.out = appendString(append(c.out, 1, 0, 0, 0), statement)
	}
	s.open = s.last
	r, err := c.call(ctx, stmtSQL, id)
	if err != nil {
		if reported := AsError(err); reported != nil { // the server repeats the statement and who sent it
			reported.Message, _, _ = strings.Cut(reported.Message, " on executing query (sql=")
			if reported.Broken {
				return false, c.explain(ctx, reported)
			}
		}
		return false, err
	}
	more, err = s.read(&r)
	if err != nil {
		return false, c.explain(ctx, err)
	}
	if !more {
		s.open = 0
	}
	s.answer.Bytes = headerSize + len(c.body)
	return more, take(&s.answer)
}

// read reads what a request is answered.
func (s *SQL) read(r *reader) (more bool, err error) {
	r.bool() // whether a transaction was begun
	r.bool() // whether each statement commits
	results := r.int()
	r.int() // rows that were changed
	r.int() // parameters
	if found := r.bool(); r.err == nil && (results != 1 || !found) {
		return false, fmt.Errorf("%w: a query is answered with %d results, and rows: %v", ErrProtocol, results, found)
	}
	more = r.bool()
	rows := int64(r.int())
	schema := reader{b: r.take(int(r.int()))}
	columns, _ := schema.schema()
	for i := range columns {
		columns[i].Name = schema.string()
	}
	if r.err == nil {
		r.err = schema.err
	}
	set := reader{b: r.take(int(r.int()))}
	if r.err == nil {
		r.err = set.err
	}
	set.long() // what places of texts count from, which rows say as well
	if r.err == nil {
		r.err = set.err
	}
	if r.err != nil {
		return false, r.err
	}
	s.answer.Rows = &s.answer.rows
	layout := newLayout(columns, false)
	layout.uncounted = true
	return more && rows > 0, s.answer.rows.init(layout, rows, set.b)
}
