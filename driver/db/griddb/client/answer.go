package client

import "fmt"

// read reads what a statement is answered.
func (p *Pipeline) read(r *reader, of *call, a *Answer, following bool, more *nextPage) error {
	switch of.statement {
	case stmtPutContainer:
		of.container.Version, of.container.ID = r.int(), r.long()
		of.container.rows = newLayout(of.container.Columns, of.container.Type == Collection)
	case stmtContainerInfo:
		a.Container = r.container(of.name, of.partition)
	case stmtContainerNames:
		r.long()
		for range r.count(2) {
			if name := r.key(); r.err == nil {
				a.names = append(a.names, name)
			}
		}
	case stmtQueryTQL:
		if following {
			closed := r.bool()
			r.long() // where the page's texts begin, which its rows say as well
			if err := p.page(r, of, a); err != nil {
				return err
			}
			more.from += int64(a.Rows.Remaining())
			if closed || a.Rows.Remaining() == 0 {
				more.rowSet = 0
			}
			return r.err
		}
		return p.answer(r, of, a, more)
	}
	return r.err
}

// container reads the description of a container.
func (r *reader) container(name string, partition int) *Container {
	if !r.bool() {
		return nil
	}
	c := &Container{Name: name, Partition: partition}
	for range r.count(5) {
		key := r.byte()
		part := reader{b: r.take(int(r.int()))}
		switch key {
		case propertyID:
			c.Version, c.ID = part.int(), part.long()
			if name := part.key(); part.err == nil {
				c.Name = name
			}
		case propertySchema:
			c.Type = Kind(part.byte())
			c.Columns, c.Keys = part.schema()
			c.rows = newLayout(c.Columns, c.Type == Collection)
		}
		if r.err == nil {
			r.err = part.err
		}
	}
	return c
}

// The kinds of sections in the responses to queries.
const (
	resultRows      = 0
	resultAggregate = 1
	resultPage      = 3
)

// answer decodes the response to a query.
func (p *Pipeline) answer(r *reader, of *call, a *Answer, more *nextPage) error {
	for range r.count(5) {
		kind := r.byte()
		part := reader{b: r.take(int(r.int()))}
		switch kind {
		case resultRows:
			if err := p.page(&part, of, a); err != nil {
				return err
			}
			more.from = int64(a.Rows.Remaining())
		case resultAggregate:
			if part.long() > 0 {
				if err := a.value.read(&part); err != nil {
					return err
				}
				a.Value = &a.value
			}
		case resultPage:
			more.total, more.rowSet = part.long(), part.long()
		default:
			if r.err == nil {
				return fmt.Errorf("%w: a response of the unexpected type %d", ErrProtocol, kind)
			}
		}
		if part.err != nil {
			return part.err
		}
	}
	return r.err
}

// page reads rows.
func (p *Pipeline) page(r *reader, of *call, a *Answer) error {
	n := r.long()
	if r.err != nil {
		return r.err
	}
	a.Rows = &a.rows
	layout := of.container.rows
	if layout == nil { // the container was not looked up
		layout = newLayout(of.container.Columns, of.container.Type == Collection)
	}
	return a.rows.init(layout, n, r.b)
}

// read reads what an aggregate comes to.
func (v *Value) read(r *reader) error {
	v.Type = Type(r.byte())
	v.Int, v.Float = 0, 0
	switch v.Type {
	case Float, Double:
		if b := r.take(v.Type.width()); b != nil {
			v.Float = v.Type.float(b)
		}
	case Bool, Byte, Short, Integer, Long, Timestamp, MicroTimestamp, NanoTimestamp:
		if b := r.take(v.Type.width()); b != nil {
			v.Int = v.Type.int(b)
		}
	default:
		if r.err == nil {
			return fmt.Errorf("%w: an aggregate of the type %v", ErrProtocol, v.Type)
		}
	}
	return r.err
}
