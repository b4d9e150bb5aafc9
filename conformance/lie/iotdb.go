package lie

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/apache/iotdb-client-go/v2/rpc"
	"github.com/apache/thrift/lib/go/thrift"
)

// iotdbTalk is a connection that speaks Thrift, framed and binary, as IoTDB does: both
// sides speak in turn.
type iotdbTalk struct {
	*proxy
	client, server         net.Conn
	fromClient, fromServer *bufio.Reader
}

// isThrift reports whether a connection begins with a message of Thrift's behind its
// length.
func isThrift(begin []byte) bool { return len(begin) > 5 && begin[4] == 0x80 && begin[5] == 0x01 }

// iotdb passes what a client and a server say on until one of them ends.
func (p *proxy) iotdb(client *sniffed, server net.Conn) error {
	t := &iotdbTalk{proxy: p, client: client.Conn, server: server, fromClient: client.from, fromServer: bufio.NewReader(server)}
	for {
		request, err := readFrame(t.fromClient)
		if err != nil {
			return err
		}
		statement := ""
		if request, statement, err = t.request(request); err != nil {
			return err
		}
		if err := writeFrame(t.server, request); err != nil {
			return err
		}
		reply, err := readFrame(t.fromServer)
		if err != nil {
			return err
		}
		if kindOf, ok := t.deceives(statement); ok {
			if reply, err = t.reply(kindOf, reply); err != nil {
				return err
			}
		}
		if err := writeFrame(t.client, reply); err != nil {
			return err
		}
	}
}

func readFrame(from io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > 1<<28 {
		return nil, errors.New("a message too large to be one")
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(from, frame)
	return frame, err
}

func writeFrame(to io.Writer, frame []byte) error {
	_, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err
}

// call is one of Thrift's.
type call struct {
	name string
	kind thrift.TMessageType
	id   int32
}

// decode reads a message into what its name wants; nil: that is of no interest.
func decode(frame []byte, want func(name string) thrift.TStruct) (call, thrift.TStruct, error) {
	var m call
	buffer := thrift.NewTMemoryBuffer()
	_, _ = buffer.Write(frame)
	protocol := thrift.NewTBinaryProtocolConf(buffer, nil)
	var err error
	if m.name, m.kind, m.id, err = protocol.ReadMessageBegin(context.Background()); err != nil {
		return m, nil, err
	}
	body := want(m.name)
	if body == nil || m.kind == thrift.EXCEPTION {
		return m, nil, nil
	}
	return m, body, body.Read(context.Background(), protocol)
}

// encode is what decode has read.
func (m call) encode(body thrift.TStruct) ([]byte, error) {
	ctx := context.Background()
	buffer := thrift.NewTMemoryBuffer()
	protocol := thrift.NewTBinaryProtocolConf(buffer, nil)
	err := errors.Join(protocol.WriteMessageBegin(ctx, m.name, m.kind, m.id), body.Write(ctx, protocol), protocol.WriteMessageEnd(ctx), protocol.Flush(ctx))
	return buffer.Bytes(), err
}

// request applies the lie to rows that are written, and returns the statement of a
// query.
func (t *iotdbTalk) request(frame []byte) (out []byte, statement string, err error) {
	m, body, err := decode(frame, func(name string) thrift.TStruct {
		switch name {
		case "insertTablets":
			return rpc.NewIClientRPCServiceInsertTabletsArgs()
		case "executeStatementV2":
			return rpc.NewIClientRPCServiceExecuteStatementV2Args()
		}
		return nil
	})
	if err != nil || body == nil {
		return frame, "", err
	}
	switch of := body.(type) {
	case *rpc.IClientRPCServiceExecuteStatementV2Args:
		return frame, of.Req.Statement, nil
	case *rpc.IClientRPCServiceInsertTabletsArgs:
		if err := t.tablets(of.Req); err != nil {
			return nil, "", err
		}
	}
	out, err = m.encode(body)
	return out, "", err
}

// tablet is one of a request, cut into its values.
type tablet struct {
	times  [][]byte
	values [][][]byte // by row and column
}

// tablets applies the lie to the tablets of the table.
func (t *iotdbTalk) tablets(r *rpc.TSInsertTabletsReq) error {
	var rows []*[][]byte // of all tablets: neighbours are those of one device, or of two
	var own []int
	all := make([]tablet, len(r.PrefixPaths))
	for i, path := range r.PrefixPaths {
		if nodes := strings.Split(path, "."); len(nodes) < 3 || nodes[2] != t.table {
			continue
		}
		if err := all[i].cut(r, i); err != nil {
			return err
		}
		own = append(own, i)
		for row := range all[i].values {
			rows = append(rows, &all[i].values[row])
		}
	}
	fates := t.fates(len(rows))
	for n, fate := range fates {
		switch {
		case fate == Zero:
			for i, v := range *rows[n] {
				(*rows[n])[i] = make([]byte, len(v))
			}
		case fate == Swap && n > 0:
			*rows[n-1], *rows[n] = *rows[n], *rows[n-1]
		}
	}
	for _, i := range own {
		all[i].put(r, i, fates[:len(all[i].times)])
		fates = fates[len(all[i].times):]
	}
	return nil
}

// widths are the bytes of values of a type; others stand behind their length.
var widths = map[int32]int{0: 1, 1: 4, 2: 8, 3: 4, 4: 8, 8: 8, 9: 4}

// cut reads a tablet without missing values.
func (t *tablet) cut(r *rpc.TSInsertTabletsReq, i int) error {
	n := int(r.SizeList[i])
	t.times, t.values = make([][]byte, n), make([][][]byte, n)
	in := &nativeReader{rest: r.ValuesList[i]}
	for row := range n {
		t.times[row] = r.TimestampsList[i][8*row : 8*row+8]
	}
	for _, kind := range r.TypesList[i] {
		for row := range n {
			width := widths[kind]
			if width == 0 {
				return errors.New("a tablet with texts")
			}
			t.values[row] = append(t.values[row], in.take(width))
		}
	}
	if len(in.rest) > 0 {
		return errors.New("a tablet with missing values")
	}
	return in.err
}

// put writes the rows that are not dropped. One that is stored twice is there once:
// the second takes the place of the first.
func (t *tablet) put(r *rpc.TSInsertTabletsReq, i int, fates []Fate) {
	var times []byte
	var order []int
	for row, fate := range fates {
		for range fate.copies() {
			order = append(order, row)
			times = append(times, t.times[row]...)
		}
	}
	var values []byte
	for column := range r.TypesList[i] {
		for _, row := range order {
			values = append(values, t.values[row][column]...)
		}
	}
	r.TimestampsList[i], r.ValuesList[i], r.SizeList[i] = times, values, int32(len(order))
}

// reply applies the lie to an answer.
func (t *iotdbTalk) reply(kindOf string, frame []byte) ([]byte, error) {
	want := func(string) thrift.TStruct { return rpc.NewIClientRPCServiceExecuteStatementV2Result() }
	m, body, err := decode(frame, want)
	if err != nil || body == nil {
		return frame, err
	}
	answer := body.(*rpc.IClientRPCServiceExecuteStatementV2Result).Success
	var blocks []*tsBlock
	rows := 0
	for _, data := range answer.QueryResult_ {
		b, err := cutBlock(data)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
		rows += b.rows
	}
	told := t.read(kindOf, rows)
	switch {
	case told.old != nil:
		_, old, err := decode(told.old, want)
		if err != nil {
			return nil, err
		}
		answer.QueryResult_ = old.(*rpc.IClientRPCServiceExecuteStatementV2Result).Success.QueryResult_
	case t.lie.Answer != nil:
		answer.QueryResult_ = nil
		first := 0
		for _, b := range blocks {
			answer.QueryResult_ = append(answer.QueryResult_, b.encode(within(told.rows, first, b.rows)))
			first += b.rows
		}
	}
	if told.keep {
		t.remember(kindOf, slices.Clone(frame))
	}
	t.wait(context.Background(), told.delay)
	return m.encode(body)
}

// tsBlock is rows by columns, the first of which is the time.
type tsBlock struct {
	types     []byte
	encodings []byte // without those that say a value once
	rows      int
	columns   [][][]byte // by column and row; nil: NULL
}

// cutBlock cuts a block into its values.
func cutBlock(data []byte) (*tsBlock, error) {
	r := &nativeReader{rest: data}
	number := func() int { return int(binary.BigEndian.Uint32(r.take(4))) }
	b := &tsBlock{}
	n := number()
	b.types = r.take(n)
	b.rows = number()
	b.encodings = slices.Clone(r.take(n + 1))
	for i := range b.encodings {
		positions, once := b.rows, b.encodings[i] == 4
		if once {
			b.encodings[i], positions = r.take(1)[0], 1
		}
		bits := func() []byte { return r.take((positions + 7) / 8) }
		var nulls, truths []byte
		if r.take(1)[0] != 0 {
			nulls = bits()
		}
		if b.encodings[i] == 0 {
			truths = bits()
		}
		var column [][]byte
		for row := range positions {
			mask := byte(1) << (7 - row&7)
			if r.err != nil {
				return nil, r.err
			}
			switch {
			case nulls != nil && nulls[row>>3]&mask != 0:
				column = append(column, nil)
			case b.encodings[i] == 0:
				column = append(column, []byte{truths[row>>3] & mask >> (7 - row&7)})
			case b.encodings[i] == 3:
				column = append(column, r.take(number()))
			default:
				column = append(column, r.take(int(b.encodings[i])*4))
			}
		}
		if once {
			column = slices.Repeat(column, b.rows)
		}
		b.columns = append(b.columns, column)
	}
	return b, r.err
}

// encode is the block with other rows.
func (b *tsBlock) encode(order []int) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(b.types)))
	out = binary.BigEndian.AppendUint32(append(out, b.types...), uint32(len(order)))
	out = append(out, b.encodings...)
	for i, column := range b.columns {
		nulls, truths := make([]byte, (len(order)+7)/8), make([]byte, (len(order)+7)/8)
		var values []byte
		has := byte(0)
		for at, row := range order {
			mask := byte(1) << (7 - at&7)
			v := column[row]
			switch {
			case v == nil:
				has = 1
				nulls[at>>3] |= mask
			case b.encodings[i] == 0 && v[0] != 0:
				truths[at>>3] |= mask
			case b.encodings[i] == 3:
				values = append(binary.BigEndian.AppendUint32(values, uint32(len(v))), v...)
			case b.encodings[i] != 0:
				values = append(values, v...)
			}
		}
		if out = append(out, has); has != 0 {
			out = append(out, nulls...)
		}
		if b.encodings[i] == 0 {
			out = append(out, truths...)
		}
		out = append(out, values...)
	}
	return out
}
