package lie

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"regexp"
)

// mysqlTalk is a connection that speaks the MySQL protocol, in which both sides speak
// in turn.
type mysqlTalk struct {
	*proxy
	client, server         net.Conn
	fromClient, fromServer *bufio.Reader
	statements             map[uint32]string // texts of prepared ones, by number
	next                   byte              // number of the next packet to the client
}

// packet is what both sides send: three bytes of its length, its number, its body.
type packet []byte

func (p packet) body() []byte { return p[4:] }

// is reports whether the body begins with a byte.
func (p packet) is(first byte) bool { return len(p) > 4 && p[4] == first }

// ends reports whether it ends columns or rows, well or not.
func (p packet) ends() bool { return p.is(0xfe) && len(p) < 4+9 || p.is(0xff) }

func newPacket(body []byte) packet {
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))[:3], 0), body...)
}

func readPacket(from io.Reader) (packet, error) {
	p := make(packet, 4)
	if _, err := io.ReadFull(from, p); err != nil {
		return nil, err
	}
	p = append(p, make([]byte, int(p[0])|int(p[1])<<8|int(p[2])<<16)...)
	_, err := io.ReadFull(from, p[4:])
	return p, err
}

// greetsMySQL reports whether what a server says first is MySQL's.
func greetsMySQL(begin []byte) bool { return len(begin) > 4 && begin[3] == 0 && begin[4] == 10 }

// mysql passes what a client and a server say on until one of them ends.
func (p *proxy) mysql(client *sniffed, server net.Conn, fromServer *bufio.Reader) error {
	t := &mysqlTalk{proxy: p, client: client.Conn, server: server, fromClient: client.from, fromServer: fromServer, statements: make(map[uint32]string)}
	if err := t.greet(); err != nil {
		return err
	}
	for {
		command, err := readPacket(t.fromClient)
		if err != nil {
			return err
		}
		if _, err := t.server.Write(command); err != nil {
			return err
		}
		body := command.body()
		if len(body) == 0 || len(body) == 1<<24-1 {
			return errors.New("a command of no packet or of several")
		}
		t.next = 1
		switch body[0] {
		case 0x01: // the end
			return nil
		case 0x18, 0x19: // to close a statement, which is not answered
		case 0x03:
			err = t.answer(string(body[1:]))
		case 0x16:
			err = t.prepare(string(body[1:]))
		case 0x17:
			err = t.answer(t.statements[binary.LittleEndian.Uint32(body[1:])])
		default:
			_, err = t.pass()
		}
		if err != nil {
			return err
		}
	}
}

// pass passes a packet of the server's on.
func (t *mysqlTalk) pass() (packet, error) {
	p, err := readPacket(t.fromServer)
	if err == nil {
		err = t.tell(p)
	}
	return p, err
}

// passAll passes packets on to the one that ends them.
func (t *mysqlTalk) passAll() error {
	for {
		if p, err := t.pass(); err != nil || p.ends() {
			return err
		}
	}
}

// tell sends packets to the client, with the numbers that it expects.
func (t *mysqlTalk) tell(packets ...packet) error {
	var all []byte
	for _, p := range packets {
		p[3] = t.next
		t.next++
		all = append(all, p...)
	}
	_, err := t.client.Write(all)
	return err
}

// greet passes the start of a session on. What the server could do beside the plain
// protocol it hides.
func (t *mysqlTalk) greet() error {
	greeting, err := readPacket(t.fromServer)
	if err != nil {
		return err
	}
	if at := bytes.IndexByte(greeting[5:], 0); at > 0 && len(greeting) > 5+at+32 {
		able := greeting[5+at+1+4+8+1:]
		able[0] &^= 0x20 // compression
		able[1] &^= 0x08 // TLS
		able[6] &^= 0x0d // answers without ends of columns, other compression, attributes of queries
		clear(able[8:18])
	}
	if err := t.tell(greeting); err != nil {
		return err
	}
	for {
		reply, err := readPacket(t.fromClient)
		if err != nil {
			return err
		}
		if _, err := t.server.Write(reply); err != nil {
			return err
		}
		for again := true; again; {
			t.next = reply[3] + 1
			said, err := t.pass()
			switch {
			case err != nil || said.is(0):
				return err
			case said.is(0xff):
				return errors.New("the server refuses")
			}
			if again = said.is(1) && said.body()[1] == 3; again { // it knows the password, and says so next
				reply = said
			}
		}
	}
}

// prepare passes on what a statement will answer.
func (t *mysqlTalk) prepare(text string) error {
	said, err := t.pass()
	if err != nil || !said.is(0) {
		return err
	}
	body := said.body()
	t.statements[binary.LittleEndian.Uint32(body[1:])] = text
	for _, count := range [...]uint16{binary.LittleEndian.Uint16(body[7:]), binary.LittleEndian.Uint16(body[5:])} { // parameters, columns
		if count > 0 {
			if err := t.passAll(); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer passes the answer to a text on, or what the lie makes of it.
func (t *mysqlTalk) answer(text string) error {
	first, err := t.pass()
	switch {
	case err != nil || first.is(0) || first.is(0xff):
		return err
	case first.is(0xfb):
		return t.load(text)
	}
	if err := t.passAll(); err != nil { // columns
		return err
	}
	kindOf, deceives := t.deceives(text)
	if !deceives {
		return t.passAll()
	}
	var rows []packet
	for {
		p, err := readPacket(t.fromServer)
		if err != nil {
			return err
		}
		if !p.ends() {
			rows = append(rows, p)
			continue
		}
		told := t.read(kindOf, len(rows))
		var answer []byte
		for _, i := range told.rows {
			answer = append(answer, rows[i]...)
		}
		if told.keep {
			t.remember(kindOf, answer)
		}
		if told.old != nil {
			answer = told.old
		}
		t.wait(context.Background(), told.delay)
		for from := bytes.NewReader(answer); from.Len() > 0; {
			row, err := readPacket(from)
			if err == nil {
				err = t.tell(row)
			}
			if err != nil {
				return err
			}
		}
		return t.tell(p)
	}
}

var loads = regexp.MustCompile("(?i)^\\s*LOAD DATA .* INTO TABLE `?(\\w+)`?\\s")

// load passes rows on to LOAD DATA LOCAL INFILE, as the lie has them.
func (t *mysqlTalk) load(text string) error {
	into := loads.FindStringSubmatch(text)
	var data []byte
	var end packet
	for {
		p, err := readPacket(t.fromClient)
		if err != nil {
			return err
		}
		if end = p; len(p.body()) == 0 {
			break
		}
		data = append(data, p.body()...)
	}
	rows, lied := bytes.Count(data, []byte("\n")), t.lie.Store != nil && into != nil && into[1] == t.table
	if lied {
		data = t.falsify(data)
	}
	number := byte(2)
	for len(data) > 0 {
		n := min(len(data), 1<<16)
		p := newPacket(data[:n])
		p[3], data = number, data[n:]
		number++
		if _, err := t.server.Write(p); err != nil {
			return err
		}
	}
	if _, err := t.server.Write([]byte{0, 0, 0, number}); err != nil {
		return err
	}
	done, err := readPacket(t.fromServer)
	if err != nil {
		return err
	}
	if lied && done.is(0) { // as if all were stored
		_, rest := lengthEncoded(done.body()[1:])
		all := binary.LittleEndian.AppendUint32([]byte{0, 0xfe}, uint32(rows))
		done = newPacket(append(append(all, 0, 0, 0, 0), rest...))
	}
	t.next = end[3] + 1
	return t.tell(done)
}

// lengthEncoded reads a number whose first byte tells its length.
func lengthEncoded(from []byte) (number uint64, rest []byte) {
	size := map[byte]int{0xfc: 2, 0xfd: 3, 0xfe: 8}[from[0]]
	if size == 0 {
		return uint64(from[0]), from[1:]
	}
	for i := size; i > 0; i-- {
		number = number<<8 | uint64(from[i])
	}
	return number, from[1+size:]
}

// falsify does to rows what their fates are. The first columns are the time and the
// series.
func (t *mysqlTalk) falsify(data []byte) (out []byte) {
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	rows := make([][][]byte, len(lines))
	for i, line := range lines {
		rows[i] = bytes.Split(line, []byte("\t"))
	}
	const first = 2 // value
	fates := t.fates(len(rows))
	for i, fate := range fates {
		for c := first; c < len(rows[i]); c++ {
			switch {
			case fate == Zero && rows[i][c][0] != '\\':
				rows[i][c] = []byte("0")
			case fate == Swap && i > 0:
				rows[i-1][c], rows[i][c] = rows[i][c], rows[i-1][c]
			}
		}
	}
	for i, fate := range fates {
		for range fate.copies() {
			out = append(append(out, bytes.Join(rows[i], []byte("\t"))...), '\n')
		}
	}
	return out
}
