package certify

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
)

// echoing is a database whose answers pass through a server that echoes a line for each row.
type echoing struct {
	driver.Required
	address string
	honest  bool // the end of the connection is not taken for the end of the answer
}

func (e echoing) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := e.Required.NewQuerier(ctx, worker)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", e.address)
	return &echoingQuerier{q, e, conn}, err
}

type echoingQuerier struct {
	driver.Querier
	database echoing
	conn     net.Conn
}

func (q *echoingQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	var whole query.Answer
	if _, err := q.Querier.Do(ctx, r, &whole); err != nil {
		return driver.Cost{}, err
	}
	lines := bufio.NewReader(q.conn)
	for i, row := range whole.Rows {
		_, err := fmt.Fprintln(q.conn, i)
		if err == nil {
			_, err = lines.ReadString('\n')
		}
		if err != nil && q.database.honest {
			return driver.Cost{}, fmt.Errorf("the server %w: %w", driver.ErrUnreachable, err)
		}
		if err != nil {
			return driver.Cost{Rows: int64(i)}, nil
		}
		if sink != nil {
			if err := sink.Row(row); err != nil {
				return driver.Cost{}, err
			}
		}
	}
	return driver.Cost{Rows: int64(len(whole.Rows))}, nil
}

func (q *echoingQuerier) Close() error { return q.conn.Close() }

// A driver that takes the end of a connection for the end of an answer is found.
func TestFindsCutAnswers(t *testing.T) {
	host, port := stub.TCP(t, func(conn net.Conn) { _, _ = io.Copy(conn, conn) })
	for _, honest := range []bool{true, false} {
		d := memory.ChangeCaps(memory.Driver("memory"), func(c *driver.Caps) { c.Embedded = false })
		d.Options = []driver.Option{{Name: connection.Host, Default: host}, {Name: connection.Port, Default: port, Type: option.Port()}}
		open := d.Open
		d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
			db, err := open(ctx, env, o)
			db.Required = echoing{db.Required, net.JoinHostPort(o[connection.Host], o[connection.Port]), honest}
			return db, err
		}
		report := run(t, d, "cut connection")
		if report.OK() != honest || !honest && !strings.Contains(problems(report), "of them were taken for all") {
			t.Errorf("honest %v: %s\n%s", honest, report.Answer(), problems(report))
		}
	}
}
