package replay

import (
	"bufio"
	"bytes"
	"crypto/sha1" // which the protocol wants, and which keeps no secret
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// WebSocket is the framing of a server that speaks WebSocket, and HTTP on other
// connections. Messages of HTTP are whole requests and answers, with bodies as they
// came. A connection that becomes a WebSocket has the messages of the handshake, followed by
// those of the frames: their kind, a space, and their payload, unmasked, in one piece.
type WebSocket struct {
	// Mask replaces the parts of a message's payload, without its kind, that may
	// differ from run to run with a fixed value. Nil: nothing differs.
	Mask func(from Side, payload []byte) []byte
}

// Connection implements Framing.
func (w WebSocket) Connection() Connection { return &webSocket{mask: w.Mask} }

type webSocket struct {
	mask                      func(Side, []byte) []byte
	requestRead, responseRead bool // the handshake's messages were read; each is its side's
}

// The kinds of messages.
var kinds = map[byte]string{1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}

// tooLarge is a size that no test's message reaches.
const tooLarge = 1 << 28

// Read implements Connection.
func (w *webSocket) Read(from Side, stream *bufio.Reader) ([]byte, error) {
	shaken := &w.requestRead
	if from == Server {
		shaken = &w.responseRead
	}
	if !*shaken {
		head, err := readHead(stream)
		if err == nil && upgrade.Match(head) {
			*shaken = true
			return head, nil
		}
		if err == nil {
			head, err = readBody(head, stream)
		}
		return head, err
	}
	var kind byte
	var payload []byte
	for first := true; ; first = false {
		head := make([]byte, 2, 8)
		if _, err := io.ReadFull(stream, head); err != nil {
			return nil, err
		}
		length := uint64(head[1] & 0x7f)
		if n := map[uint64]int{126: 2, 127: 8}[length]; n > 0 {
			more := make([]byte, n, 8)
			if _, err := io.ReadFull(stream, more); err != nil {
				return nil, err
			}
			length = binary.BigEndian.Uint64(append(make([]byte, 8-n), more...))
		}
		if length > tooLarge {
			return nil, fmt.Errorf("a frame of %d bytes", length)
		}
		key := make([]byte, 4)
		if head[1]&0x80 != 0 {
			if _, err := io.ReadFull(stream, key); err != nil {
				return nil, err
			}
		}
		part := make([]byte, length)
		if _, err := io.ReadFull(stream, part); err != nil {
			return nil, err
		}
		for i := range part {
			part[i] ^= key[i%4]
		}
		if first {
			kind = head[0] & 0xf
		}
		if payload = append(payload, part...); head[0]&0x80 != 0 {
			break
		}
	}
	name, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("a frame of kind %d", kind)
	}
	return append([]byte(name+" "), payload...), nil
}

// upgrade finds that a head is one of a handshake.
var upgrade = regexp.MustCompile(`(?i)^HTTP/1.1 101 |\r\nSec-WebSocket-Key: `)

// length and chunked match the headers with the length of a body.
var (
	length  = regexp.MustCompile(`(?i)\r\nContent-Length: ([0-9]{1,8})\r\n`)
	chunked = regexp.MustCompile(`(?i)\r\nTransfer-Encoding: chunked\r\n`)
)

// readBody reads the body behind a head, as it is on the wire.
func readBody(message []byte, stream *bufio.Reader) ([]byte, error) {
	more := func(n int) error {
		from := len(message)
		message = append(message, make([]byte, n)...)
		_, err := io.ReadFull(stream, message[from:])
		return err
	}
	if found := length.FindSubmatch(message); found != nil {
		n, err := strconv.Atoi(string(found[1]))
		if err == nil {
			err = more(n)
		}
		return message, err
	}
	for goesOn := chunked.Match(message); goesOn; {
		line, err := stream.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(strings.TrimSpace(string(line)), 16, 28)
		if err != nil {
			return nil, fmt.Errorf("the length of a chunk: %w", err)
		}
		message = append(message, line...)
		if err := more(int(n) + len("\r\n")); err != nil {
			return nil, err
		}
		goesOn = n > 0
	}
	return message, nil
}

// readHead reads a request or an answer of HTTP without a body.
func readHead(stream *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		line, err := stream.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if head = append(head, line...); bytes.Equal(line, []byte("\r\n")) {
			return head, nil
		}
		if len(head) > 1<<16 {
			return nil, errors.New("a head of HTTP that does not end")
		}
	}
}

// changing matches the headers that differ between recordings.
var changing = regexp.MustCompile(`(?mi)^(Host|Sec-WebSocket-Key|Sec-WebSocket-Accept|Date): [^\r\n]*`)

// isHTTP reports whether a message is one of HTTP's.
func isHTTP(message []byte) bool {
	return bytes.HasPrefix(message, []byte("GET ")) || bytes.HasPrefix(message, []byte("POST ")) || bytes.HasPrefix(message, []byte("HTTP/"))
}

// Mask implements Connection.
func (w *webSocket) Mask(from Side, message []byte) []byte {
	if isHTTP(message) {
		head, body, _ := bytes.Cut(message, []byte("\r\n\r\n"))
		return bytes.Join([][]byte{changing.ReplaceAll(head, []byte("$1: *")), body}, []byte("\r\n\r\n"))
	}
	kind, payload, _ := bytes.Cut(message, []byte(" "))
	if w.mask == nil {
		return message
	}
	return bytes.Join([][]byte{kind, w.mask(from, payload)}, []byte(" "))
}

// accept is the constant that a server appends to a client's key.
const accept = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

var (
	keyOf    = regexp.MustCompile(`(?mi)^Sec-WebSocket-Key: ([^\r\n]*)`)
	acceptOf = regexp.MustCompile(`(?mi)^(Sec-WebSocket-Accept): \*`)
)

// Answer implements Connection.
func (w *webSocket) Answer(recorded, request []byte) []byte {
	if isHTTP(recorded) {
		found := keyOf.FindSubmatch(request)
		if found == nil {
			return recorded
		}
		sum := sha1.Sum([]byte(strings.TrimSpace(string(found[1])) + accept))
		return acceptOf.ReplaceAll(recorded, []byte("$1: "+base64.StdEncoding.EncodeToString(sum[:])))
	}
	name, payload, _ := bytes.Cut(recorded, []byte(" "))
	var out []byte
	for kind, known := range kinds {
		if known == string(name) {
			out = append(out, 0x80|kind)
		}
	}
	switch n := len(payload); {
	case n < 126:
		out = append(out, byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 127), uint64(n))
	}
	return append(out, payload...)
}
