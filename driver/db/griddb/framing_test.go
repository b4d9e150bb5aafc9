package griddb_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/conformance/replay"
)

// framing is GridDB's protocol: messages follow a header of 20 bytes, whose last four are the length.
type framing struct{}

const headSize = 20

// Connection implements replay.Framing.
func (framing) Connection() replay.Connection { return talk{} }

type talk struct{}

// Read implements replay.Connection.
func (talk) Read(_ replay.Side, stream *bufio.Reader) ([]byte, error) {
	head := make([]byte, headSize)
	if _, err := io.ReadFull(stream, head); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[headSize-4:])
	if n > 1<<28 {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	message := make([]byte, n)
	_, err := io.ReadFull(stream, message)
	return message, err
}

// The numbers of statements that have the client's random id.
const (
	putContainer = 107
	queryTQL     = 121
	putRows      = 149
	fetchRowSet  = 151
	sqlStatement = 400
)

// Mask implements replay.Connection: the id that a session has chosen by chance becomes
// zeros.
func (talk) Mask(from replay.Side, message []byte) []byte {
	if from == replay.Server || len(message) < 16 {
		return message
	}
	const idSize, body = 16, 16 // behind the statement, the partition and the number of the request
	at := -1
	switch binary.LittleEndian.Uint32(message) {
	case queryTQL, fetchRowSet:
		at = body + 8 + 8 // behind the container and the session
	case putRows, sqlStatement:
		at = body
	case putContainer:
		at = clientID(message, body)
	}
	if at < 0 || at+idSize > len(message) {
		return message
	}
	masked := slices.Clone(message)
	clear(masked[at : at+idSize])
	return masked
}

// clientID finds the id among the options of a request; -1: it has none.
func clientID(message []byte, at int) int {
	at += 4 // the size of the options
	for at+2 <= len(message) {
		id := binary.LittleEndian.Uint16(message[at:])
		at += 2
		switch id {
		case 0: // one byte
			at++
		case 11000: // a range of options, and its size
			at += 4
		case 11001:
			return at + 8 // behind the session
		default:
			return -1
		}
	}
	return -1
}

// Answer implements replay.Connection.
func (talk) Answer(recorded, _ []byte) []byte {
	head := binary.LittleEndian.AppendUint32(nil, 65021048)
	head = append(head, make([]byte, headSize-8)...)
	return append(binary.LittleEndian.AppendUint32(head, uint32(len(recorded))), recorded...)
}
