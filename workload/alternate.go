package workload

import (
	"errors"
	"io"
	"math"
	"slices"

	"github.com/tsmark/tsmark/series"
)

// Alternate returns the rows of several clients, some rows of a client at a time. The next ones come
// from the client that is furthest behind in time, and among several from the one that has sent
// nothing for longest. So no client gets ahead of the others by more than a block of its rows and
// these rows, even if it has fewer series.
func Alternate(clients []Reader, rows int) Reader {
	t := &alternating{rows: rows}
	for _, r := range clients {
		t.clients = append(t.clients, client{reader: r, newest: math.MinInt64})
	}
	return t
}

// Together is implemented by a Reader with rows that a batch should hold together.
type Together interface {
	// Fits reports whether a batch with this number of rows would hold the next rows that belong together.
	Fits(rows int) bool
}

type alternating struct {
	clients []client
	rows    int // that a client sends at a time
	at      int // the client that sends
	left    int // rows it still sends; 0: it has sent all
	begun   int // times that a client began to send
}

type client struct {
	reader Reader
	newest int64 // time that it has sent
	last   int   // when it began to send, counted
	ended  bool
}

// Next implements Reader.
func (t *alternating) Next(b *series.Batch, most int) error {
	for {
		if t.left == 0 && !t.begin() {
			b.Reset()
			return io.EOF
		}
		c := &t.clients[t.at]
		if err := c.reader.Next(b, min(most, t.left)); errors.Is(err, io.EOF) {
			c.ended, t.left = true, 0
			continue
		} else if err != nil {
			return err
		}
		for i := range b.Runs {
			if times := b.Runs[i].Times; len(times) > 0 {
				c.newest = max(c.newest, slices.Max(times))
			}
		}
		t.left -= b.Rows()
		if r, ok := c.reader.(Together); ok && t.left > 0 && t.left < t.rows && !r.Fits(t.left) {
			t.left = 0 // rather than a small batch, and a cut
		}
		return nil
	}
}

// begin begins the next turn; false: no client has any rows left.
func (t *alternating) begin() bool {
	t.at = -1
	for i := range t.clients {
		c := &t.clients[i]
		if c.ended {
			continue
		}
		if t.at < 0 || c.newest < t.clients[t.at].newest || c.newest == t.clients[t.at].newest && c.last < t.clients[t.at].last {
			t.at = i
		}
	}
	if t.at < 0 {
		return false
	}
	t.begun++
	t.clients[t.at].last, t.left = t.begun, t.rows
	return true
}
