package lie

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/ch-go/proto"
)

// nativeTalk is a connection that speaks ClickHouse's native protocol, with blocks in
// compressed frames, at a revision that tells no serialization of columns. Both sides
// speak in turn.
type nativeTalk struct {
	*proxy
	fromClient, fromServer side
	revision               int
}

// side is one that speaks, and the other one, which it is told.
type side struct {
	*proto.Reader
	frames *bufio.Reader // the same bytes
	to     io.Writer
}

func newSide(from io.Reader, to io.Writer) side {
	const buffer = 128 << 10 // from which on the reader has no buffer of its own
	b := bufio.NewReaderSize(from, buffer)
	return side{proto.NewReader(b), b, to}
}

// tell sends what write writes to the other side.
func (s side) tell(write func(*proto.Buffer)) error {
	var b proto.Buffer
	write(&b)
	_, err := s.to.Write(b.Buf)
	return err
}

// greetsNative reports whether what a client says first is of the native protocol: a
// zero, and its name with the length before it.
func greetsNative(begin []byte) bool { return begin[0] == 0 && begin[1] != 0 }

// native passes what a client and a server say on until one of them ends.
func (p *proxy) native(client *sniffed, server net.Conn) error {
	t := &nativeTalk{proxy: p, fromClient: newSide(client, server), fromServer: newSide(server, client)}
	if err := t.greet(); err != nil {
		return err
	}
	for {
		code, err := t.fromClient.UVarInt()
		if err != nil {
			return err
		}
		switch proto.ClientCode(code) {
		case proto.ClientCodeQuery:
			err = t.query()
		case proto.ClientCodePing:
			if err = t.fromClient.tell(proto.ClientCodePing.Encode); err == nil {
				_, err = t.fromServer.UVarInt()
			}
			if err == nil {
				err = t.fromServer.tell(proto.ServerCodePong.Encode)
			}
		case proto.ClientCodeCancel:
			err = t.fromClient.tell(proto.ClientCodeCancel.Encode)
		default:
			err = fmt.Errorf("a client says %d", code)
		}
		if err != nil {
			return err
		}
	}
}

// greet passes the start of a session on.
func (t *nativeTalk) greet() error {
	var client proto.ClientHello
	_, err := t.fromClient.UVarInt()
	if err == nil {
		err = client.Decode(t.fromClient.Reader)
	}
	if err == nil {
		err = t.fromClient.tell(client.Encode)
	}
	if err != nil {
		return err
	}
	t.revision = client.ProtocolVersion
	code, err := t.fromServer.UVarInt()
	if err != nil {
		return err
	}
	if proto.ServerCode(code) != proto.ServerCodeHello {
		return errors.Join(t.refused(proto.ServerCode(code)), errors.New("the server lets nobody in"))
	}
	var server proto.ServerHello
	if err := server.DecodeAware(t.fromServer.Reader, t.revision); err != nil {
		return err
	}
	t.revision = min(t.revision, server.Revision)
	return t.fromServer.tell(func(b *proto.Buffer) { server.EncodeAware(b, t.revision) })
}

// refused passes an exception on.
func (t *nativeTalk) refused(code proto.ServerCode) error {
	var e proto.Exception
	if code != proto.ServerCodeException {
		return fmt.Errorf("a server says %d", code)
	}
	if err := e.DecodeAware(t.fromServer.Reader, t.revision); err != nil {
		return err
	}
	return t.fromServer.tell(func(b *proto.Buffer) {
		code.Encode(b)
		e.EncodeAware(b, t.revision)
	})
}

// insertInto finds the table into which a statement inserts.
var insertInto = regexp.MustCompile(`(?i)^\s*insert\s+into\s+(\S+)`)

// query passes a query, the blocks that belong to it, and its answer on.
func (t *nativeTalk) query() error {
	var q proto.Query
	if err := q.DecodeAware(t.fromClient.Reader, t.revision); err != nil {
		return err
	}
	if q.Compression != proto.CompressionEnabled {
		return errors.New("the client wants blocks without frames")
	}
	if err := t.fromClient.tell(func(b *proto.Buffer) { q.EncodeAware(b, t.revision) }); err != nil {
		return err
	}
	if err := t.rows(nil); err != nil { // tables that come with the query
		return err
	}
	into := insertInto.FindStringSubmatch(q.Body)
	if into == nil {
		return t.answered(q.Body)
	}
	code, err := t.fromServer.UVarInt()
	if err != nil {
		return err
	}
	if proto.ServerCode(code) != proto.ServerCodeData {
		return t.refused(proto.ServerCode(code))
	}
	if _, err := t.fromServer.data(proto.ServerCodeData.Encode, nil); err != nil { // which columns it expects
		return err
	}
	var change func(*block)
	if strings.Trim(into[1], "`") == t.table && t.lie.Store != nil {
		change = t.falsify
	}
	if err := t.rows(change); err != nil {
		return err
	}
	return t.answered("")
}

// rows passes blocks of the client's on, up to the empty one that ends them, each as
// change has it.
func (t *nativeTalk) rows(change func(*block)) error {
	for {
		code, err := t.fromClient.UVarInt()
		if err != nil {
			return err
		}
		if proto.ClientCode(code) != proto.ClientCodeData {
			return fmt.Errorf("a client says %d in place of rows", code)
		}
		b, err := t.fromClient.data(proto.ClientCodeData.Encode, change)
		if err != nil || len(b.columns) == 0 {
			return err
		}
	}
}

// data passes a block on as change has it; a change leaves it out by leaving it no rows.
func (s side) data(code func(*proto.Buffer), change func(*block)) (*block, error) {
	b, raw, err := s.block()
	if err != nil {
		return nil, err
	}
	if change != nil && b.rows > 0 {
		if change(b); b.rows == 0 {
			return b, nil
		}
		if raw, err = b.framed(); err != nil {
			return nil, err
		}
	}
	return b, s.tell(func(to *proto.Buffer) {
		code(to)
		to.PutString("")
		to.PutRaw(raw)
	})
}

// blockInfo stands before each block.
var blockInfo = []byte{1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0}

// block reads a block, and returns its frames as well.
func (s side) block() (b *block, raw []byte, err error) {
	if _, err := s.Str(); err != nil { // the table's name
		return nil, nil, err
	}
	const head, sizeAt = 25, 17
	for {
		begin, err := s.frames.Peek(head)
		if err != nil {
			return nil, nil, err
		}
		size := int(binary.LittleEndian.Uint32(begin[sizeAt:]))
		if size > 1<<28 {
			return nil, nil, fmt.Errorf("a frame of %d bytes", size)
		}
		frame := make([]byte, head-9+size)
		if _, err := io.ReadFull(s.frames, frame); err != nil {
			return nil, nil, err
		}
		raw = append(raw, frame...)
		content, err := unframe(raw)
		if err != nil {
			return nil, nil, err
		}
		if len(content) < len(blockInfo) {
			continue
		}
		all, err := parseNative(content[len(blockInfo):], false)
		switch {
		case errors.Is(err, errShort): // it goes on in the next frame
		case err != nil:
			return nil, nil, err
		case len(all) != 1:
			return nil, nil, fmt.Errorf("%d blocks in place of one", len(all))
		default:
			return all[0], raw, nil
		}
	}
}

// framed is the block as it stands in a packet.
func (b *block) framed() ([]byte, error) {
	content, err := blocks{b}.encode(false)
	if err != nil {
		return nil, err
	}
	w := compress.NewWriter(0, compress.None)
	err = w.Compress(append(append([]byte{}, blockInfo...), content...))
	return w.Data, err
}

// answered passes the answer to a text on, or what the lie makes of it.
func (t *nativeTalk) answered(text string) error {
	kindOf, deceives := t.deceives(text)
	found := &nativeAnswer{}
	for {
		code, err := t.fromServer.UVarInt()
		if err != nil {
			return err
		}
		switch code := proto.ServerCode(code); code {
		case proto.ServerCodeData:
			if !deceives {
				_, err = t.fromServer.data(code.Encode, nil)
				break
			}
			var b *block
			if b, _, err = t.fromServer.block(); err == nil && b.rows > 0 {
				found.blocks = append(found.blocks, b)
			}
		case proto.ServerCodeProgress:
			var p proto.Progress
			if err = p.DecodeAware(t.fromServer.Reader, t.revision); err == nil {
				err = t.fromServer.tell(func(b *proto.Buffer) {
					code.Encode(b)
					p.EncodeAware(b, t.revision)
				})
			}
		case proto.ServerCodeProfile:
			var p proto.Profile
			if err = p.DecodeAware(t.fromServer.Reader, t.revision); err == nil {
				err = t.fromServer.tell(func(b *proto.Buffer) { p.EncodeAware(b, t.revision) })
			}
		case proto.ServerCodeEndOfStream:
			if deceives {
				if err := t.deceive(kindOf, found); err != nil {
					return err
				}
			}
			return t.fromServer.tell(code.Encode)
		default:
			return t.refused(code)
		}
		if err != nil {
			return err
		}
	}
}

// deceive sends what the lie makes of an answer.
func (t *nativeTalk) deceive(kindOf string, found *nativeAnswer) error {
	told := t.read(kindOf, found.count())
	packets := told.old
	if packets == nil {
		found.keep(told.rows)
		for _, b := range found.blocks {
			if b.rows == 0 {
				continue
			}
			raw, err := b.framed()
			if err != nil {
				return err
			}
			packets = append(append(packets, byte(proto.ServerCodeData), 0), raw...)
		}
	}
	if told.keep {
		t.remember(kindOf, packets)
	}
	t.wait(context.Background(), told.delay)
	_, err := t.fromServer.to.Write(packets)
	return err
}
