package client

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"
)

// DefaultWindow is the number of statements of a pipeline in flight on a connection.
const DefaultWindow = 64

// maxPage is the size that an answer has which is not divided.
const maxPage = math.MaxInt64

// Pipeline is a sequence of statements that are sent together. The server responds to statements of
// different partitions in any order.
type Pipeline struct {
	// Window is how many statements are under way at once on a connection.
	Window int

	session *Session
	calls   []call
	nodes   []*nodeQueue // one for each node
	err     error        // why a statement could not be added
	ctx     context.Context
	current *nodeQueue // of the request that is being made

	rowsAt, countAt int // where the size of rows, and the number of containers stand
}

// nodeQueue is the statements for one node.
type nodeQueue struct {
	conn   *conn
	calls  []int // in the order of their ids
	ends   []int // of their messages
	first  uint64
	answer Answer
}

// call is one statement.
type call struct {
	statement statement
	partition int
	container *Container
	name      string
	page      int64
}

// Answer is a server's response to a statement.
type Answer struct {
	Err       error      // the server's, of this statement alone
	Container *Container // of Pipeline.Container; nil: no container has the name
	Rows      *Rows      // of a query for rows: all, or the next page of them
	Value     *Value     // of a query for an aggregate; nil: it has none
	Bytes     int        // of the message

	names []string
	rows  Rows
	value Value
}

// Value is what an aggregate comes to.
type Value struct {
	Type  Type
	Int   int64   // of Long and timestamps
	Float float64 // of Double
}

// Pipeline returns an empty pipeline in the memory of the session's connections: only one can be in
// use.
func (s *Session) Pipeline() *Pipeline {
	p := &Pipeline{session: s, Window: DefaultWindow}
	return p
}

// CountRows returns how many rows containers have, by a statement for each; window as in
// Pipeline.
func (s *Session) CountRows(ctx context.Context, of []Container, window int) (n int64, err error) {
	p := s.Pipeline()
	p.Window = window
	for i := range of {
		p.Query(&of[i], "SELECT COUNT(*)", 0)
	}
	err = p.Run(ctx, func(_ int, a *Answer) error {
		if a.Err == nil && a.Value != nil {
			n += a.Value.Int
		}
		return a.Err
	})
	return n, err
}

// Reset empties the pipeline and keeps its memory.
func (p *Pipeline) Reset() {
	for _, l := range p.nodes {
		l.calls, l.ends = l.calls[:0], l.ends[:0]
		l.conn.out = l.conn.out[:0]
	}
	p.calls, p.err, p.current = p.calls[:0], nil, nil
}

// Len returns how many statements there are.
func (p *Pipeline) Len() int { return len(p.calls) }

// begin begins a statement, unless its partition has no owner that answers.
func (p *Pipeline) begin(of call) bool {
	if p.err != nil {
		return false
	}
	ctx := p.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	c, _, err := p.session.connTo(ctx, of.partition)
	if err != nil {
		p.err = err
		return false
	}
	p.current = nil
	for _, l := range p.nodes {
		if l.conn == c {
			p.current = l
		}
	}
	if p.current == nil {
		p.current = &nodeQueue{conn: c}
		p.nodes = append(p.nodes, p.current)
	}
	l := p.current
	if len(l.calls) == 0 {
		l.first = c.next + 1
		c.out = c.out[:0]
	}
	c.begin(of.statement, of.partition)
	p.calls = append(p.calls, of)
	l.calls = append(l.calls, len(p.calls)-1)
	return true
}

// end ends the statement.
func (p *Pipeline) end() {
	l := p.current
	l.conn.end()
	l.ends = append(l.ends, len(l.conn.out))
}

// WithContext says within what connections are opened that statements need.
func (p *Pipeline) WithContext(ctx context.Context) *Pipeline {
	p.ctx = ctx
	return p
}

func (p *Pipeline) database() int64 {
	p.session.client.mu.Lock()
	defer p.session.client.mu.Unlock()
	return p.session.client.database
}

// Create adds a statement that creates a container; see Session.PutContainer.
func (p *Pipeline) Create(of *Container) {
	of.Partition = Partition(of.Name, p.session.client.Partitions())
	p.session.ids++
	if p.begin(call{statement: stmtPutContainer, partition: of.Partition, container: of}) {
		c := p.current.conn
		c.out = p.session.definition(c.out, p.database(), of)
		p.end()
	}
}

// Drop adds a statement that drops a container. A missing container is not an error.
func (p *Pipeline) Drop(name string) {
	if p.begin(call{statement: stmtDropContainer, partition: Partition(name, p.session.client.Partitions())}) {
		c := p.current.conn
		c.out = append(c.out, 0, 0, 0, 0)
		c.out = append(appendKey(c.out, p.database(), name), 0xff) // of any type
		p.end()
	}
}

// The properties of containers that are read.
const (
	propertyID     = 0
	propertySchema = 1
)

// Container adds a statement that looks a container up.
func (p *Pipeline) Container(name string) {
	partition := Partition(name, p.session.client.Partitions())
	if p.begin(call{statement: stmtContainerInfo, partition: partition, name: name}) {
		c := p.current.conn
		c.out = appendKey(acceptable(c.out, featureLatest), p.database(), name)
		c.out = append(c.out, 2, 0, 0, 0, propertyID, propertySchema)
		p.end()
	}
}

// names adds a statement that lists the containers of a partition.
func (p *Pipeline) names(partition int) {
	if p.begin(call{statement: stmtContainerNames, partition: partition}) {
		c := p.current.conn
		c.out = acceptable(c.out, 2)
		c.out = binary.LittleEndian.AppendUint64(c.out, 0)
		c.out = binary.LittleEndian.AppendUint64(c.out, math.MaxInt64)
		c.out = append(c.out, 2, 0, 0, 0, 0x10, 0, 0, 0, 0x20, 0, 0, 0) // containers, and tables that are divided
		p.end()
	}
}

// Query adds a statement of TQL on a container. Rows come in pages of the given size; 0: in one page.
func (p *Pipeline) Query(of *Container, tql string, page int64) {
	if page <= 0 {
		page = maxPage
	}
	if p.begin(call{statement: stmtQueryTQL, partition: of.Partition, container: of, page: page}) {
		c := p.current.conn
		c.out = p.transaction(c.out, of)
		c.out = binary.LittleEndian.AppendUint64(c.out, math.MaxInt64) // rows at most
		c.out = binary.LittleEndian.AppendUint64(c.out, uint64(page))
		c.out = append(c.out, 0, 0, 0, 0, 0) // the whole query at once
		c.out = appendString(c.out, tql)
		p.end()
	}
}

// transaction appends the container that a statement is about, which commits by itself.
func (p *Pipeline) transaction(dst []byte, of *Container) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(of.ID))
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = p.session.identify(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(of.Version))
	return append(dst, 0, 0, 0, 0, 0, 0)
}

// Schema is the columns of containers of one type, as rows that are put name them.
type Schema struct {
	*Layout
	text    []byte
	precise bool
}

// NewSchema returns the information on containers that is needed to put rows into them.
func NewSchema(of *Container) *Schema {
	return &Schema{NewLayout(of.Columns), appendSchema([]byte{byte(of.Type)}, of.Columns, of.Keys), precise(of.Columns)}
}

// BeginPut begins a statement that puts rows into containers of one partition. Of each
// container rows stand between BeginRows and EndRows, at least one.
func (p *Pipeline) BeginPut(partition int, schemas ...*Schema) bool {
	if !p.begin(call{statement: stmtPutRows, partition: partition}) {
		return false
	}
	c := p.current.conn
	c.out = p.session.identify(c.out)
	new := false
	for _, s := range schemas {
		new = new || s.precise
	}
	c.out = definition(c.out, new, 0, nil)
	c.out = binary.LittleEndian.AppendUint32(c.out, uint32(len(schemas)))
	for _, s := range schemas {
		c.out = append(c.out, s.text...)
	}
	p.countAt = len(c.out)
	c.out = append(c.out, 0, 0, 0, 0)
	return true
}

// BeginRows begins rows of the container with the given number. The schema is an index into the schemas
// of BeginPut.
func (p *Pipeline) BeginRows(container int64, schema, rows int) {
	c := p.current.conn
	dst := c.out
	dst = binary.LittleEndian.AppendUint64(dst, 1)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(container))
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = append(dst, 0, 0, 0, 0, 0, 0) // each row commits; no options
	dst = binary.LittleEndian.AppendUint32(dst, uint32(schema))
	p.rowsAt = len(dst)
	dst = append(dst, 0, 0, 0, 0)
	c.out = binary.LittleEndian.AppendUint64(dst, uint64(rows))
	binary.LittleEndian.PutUint32(c.out[p.countAt:], binary.LittleEndian.Uint32(c.out[p.countAt:])+1)
}

// Buffer returns the message under construction, for rows to be appended to.
func (p *Pipeline) Buffer() []byte { return p.current.conn.out }

// SetBuffer replaces the buffer after the caller has appended to it.
func (p *Pipeline) SetBuffer(b []byte) { p.current.conn.out = b }

// EndRows ends the rows of a container.
func (p *Pipeline) EndRows() {
	c := p.current.conn
	binary.LittleEndian.PutUint32(c.out[p.rowsAt:], uint32(len(c.out)-p.rowsAt-4))
}

// EndPut ends the statement.
func (p *Pipeline) EndPut() { p.end() }

// Bytes returns how many bytes the statements have.
func (p *Pipeline) Bytes() (n int64) {
	for _, l := range p.nodes {
		n += int64(len(l.conn.out))
	}
	return n
}

// Run sends the statements, and passes each response to take as it arrives, with the index of its
// statement in the pipeline. A query with pages has several responses. The bytes of a response are
// valid until take returns. An error from take ends the pipeline: Run sends no further statements, and
// returns the error after the outstanding responses have arrived. The pipeline is then empty.
func (p *Pipeline) Run(ctx context.Context, take func(i int, a *Answer) error) error {
	defer p.Reset()
	if p.err != nil {
		return p.err
	}
	if len(p.calls) == 0 {
		return nil
	}
	busy := p.nodes[:0:0]
	for _, l := range p.nodes {
		if len(l.calls) > 0 {
			busy = append(busy, l)
		}
	}
	if len(busy) == 1 {
		return p.run(ctx, busy[0], take)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var first error
	var group sync.WaitGroup
	for _, l := range busy {
		group.Go(func() {
			err := p.run(ctx, l, func(i int, a *Answer) error {
				mu.Lock()
				defer mu.Unlock()
				if first != nil {
					return first
				}
				return take(i, a)
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = err
			}
		})
	}
	group.Wait()
	return first
}

// SentAt returns the time at which the last bytes of a pipeline of the session had been handed over.
func (s *Session) SentAt() time.Time { return s.last }

// nextPage is a page of a result that must still be requested.
type nextPage struct {
	call         int
	rowSet, from int64
	total        int64
}

// run sends the statements for a node.
func (p *Pipeline) run(ctx context.Context, l *nodeQueue, take func(i int, a *Answer) error) error {
	c := l.conn
	defer c.bindContext(ctx)()
	out := c.out
	c.out = nil
	defer func() { c.out = out[:0] }()
	pages := map[uint64]nextPage{} // by the ids of their requests
	sent, under, received := 0, 0, 0
	var failed error
	window := max(1, p.Window)
	for failed == nil && sent < len(l.calls) || under > 0 {
		if failed == nil && sent < len(l.calls) && under <= window/2 {
			n := min(len(l.calls)-sent, window-under)
			begin := 0
			if sent > 0 {
				begin = l.ends[sent-1]
			}
			if err := c.send(ctx, out[begin:l.ends[sent+n-1]]); err != nil {
				return err
			}
			sent, under = sent+n, under+n
			if sent == len(l.calls) {
				p.session.setSentAt(time.Now())
			}
		}
		s, id, r, reported, err := c.receive(ctx, false)
		if err != nil {
			return err
		}
		if received++; received%window == 0 && ctx.Err() == nil { // responses show that the server is alive
			c.wait()
		}
		under--
		page, following := pages[id]
		i := 0
		switch {
		case following:
			delete(pages, id)
			i = page.call
		case id >= l.first && id < l.first+uint64(sent):
			i = l.calls[id-l.first]
		default:
			return c.explain(ctx, fmt.Errorf("%w: request %d is answered, which nobody has sent", ErrProtocol, id))
		}
		if want := p.calls[i].statement; s != want && !(following && s == stmtFetchRowSet) {
			return c.explain(ctx, fmt.Errorf("%w: a statement %d is answered as %d", ErrProtocol, want, s))
		}
		if failed != nil {
			continue
		}
		a := &l.answer
		a.Err, a.Container, a.Rows, a.Value, a.names = reported, nil, nil, nil, a.names[:0]
		a.Bytes = headerSize + len(c.body)
		more := nextPage{call: i, from: page.from, rowSet: page.rowSet, total: page.total}
		if reported == nil {
			if err := p.read(&r, &p.calls[i], a, following, &more); err != nil {
				return c.explain(ctx, err)
			}
		}
		if failed = take(i, a); failed != nil {
			continue
		}
		if reported == nil && more.rowSet != 0 && more.from < more.total {
			of := &p.calls[i]
			next := c.begin(stmtFetchRowSet, of.partition)
			c.out = p.transaction(c.out, of.container)
			for _, v := range []int64{more.rowSet, more.from, of.page} {
				c.out = binary.LittleEndian.AppendUint64(c.out, uint64(v))
			}
			c.end()
			if err := c.send(ctx, c.out); err != nil {
				return err
			}
			c.out = c.out[:0]
			pages[next] = more
			under++
		}
	}
	return failed
}

// setSentAt says when bytes had been sent.
func (s *Session) setSentAt(at time.Time) {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	s.last = at
}

// Put adds a statement that puts rows into a container. Each value is nil, or a bool, int64, float64,
// string, []byte or time.Time, matching its column.
func (p *Pipeline) Put(of *Container, rows ...[]any) {
	schema := NewSchema(of)
	if len(rows) == 0 || !p.BeginPut(of.Partition, schema) {
		return
	}
	p.BeginRows(of.ID, 0, len(rows))
	dst, at := schema.Extend(p.Buffer(), len(rows))
	for i, row := range rows {
		var err error
		if dst, err = schema.appendRow(dst, at, i, len(rows), row); err != nil && p.err == nil {
			p.err = fmt.Errorf("a row of container %s: %w", of.Name, err)
		}
	}
	p.SetBuffer(dst)
	p.EndRows()
	p.EndPut()
}
