package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// errShort means that a message is truncated.
var errShort = errors.New("truncated message")

// appendString appends the length of a text, and the text.
func appendString(dst []byte, text string) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(text))), text...)
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendSize appends a size in 1, 4 or 8 bytes, as it precedes texts in rows.
func AppendSize(dst []byte, n int) []byte {
	switch {
	case n < 1<<7:
		return append(dst, byte(n)<<1|1)
	case n < 1<<30:
		return binary.LittleEndian.AppendUint32(dst, uint32(n)<<2)
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(n)<<2|2)
}

// sizeOf decodes a size, and returns its length in bytes; 0: the message is truncated.
func sizeOf(b []byte) (n, length int) {
	switch {
	case len(b) == 0:
	case b[0]&1 == 1:
		return int(b[0] >> 1), 1
	case b[0]&2 == 0 && len(b) >= 4:
		return int(binary.LittleEndian.Uint32(b) >> 2), 4
	case b[0]&2 != 0 && len(b) >= 8:
		if v := binary.LittleEndian.Uint64(b) >> 2; v <= math.MaxInt32 {
			return int(v), 8
		}
	}
	return 0, 0
}

// reader reads a message. Once something is missing all that it reads is zero, and err
// says so.
type reader struct {
	b   []byte
	err error
}

// take returns the next bytes, which are the message's own.
func (r *reader) take(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.b)) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) bool() bool { return r.byte() != 0 }

func (r *reader) short() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.LittleEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (r *reader) long() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *reader) string() string { return string(r.take(int(r.int()))) }

// size reads a size of 1, 4 or 8 bytes.
func (r *reader) size() int {
	n, length := sizeOf(r.b)
	if length == 0 {
		r.take(len(r.b) + 1)
	}
	r.take(length)
	return n
}

// count reads the number of elements that follow. Each element has at least the given number of bytes.
func (r *reader) count(least int) int {
	n := int(r.int())
	if r.err == nil && (n < 0 || n > len(r.b)/least) {
		r.err = fmt.Errorf("%w: it has not room for %d elements", errShort, n)
	}
	if r.err != nil {
		return 0
	}
	return n
}
