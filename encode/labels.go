package encode

import (
	"encoding/binary"
	"math/bits"

	"github.com/tsmark/tsmark/series"
)

// protoLabels appends the tags of a series as messages of protobuf, without allocating. A message is
// a field of its parent and has the key as field 1 and the value as field 2.
type protoLabels struct {
	tags   []series.Tag
	keys   [][]byte // per tag, its key as a field, and the tag of the value's field
	field  byte     // the tag of the message's field
	nested bool     // the value is a message whose field 1 is the text: OTLP's AnyValue
}

func newProtoLabels(tags []series.Tag, field byte, nested bool) protoLabels {
	l := protoLabels{tags: tags, field: field, nested: nested}
	for i := range tags {
		l.keys = append(l.keys, append(appendBytes(nil, 0x0a, tags[i].Key), 0x12))
	}
	return l
}

// append appends the labels of a series. A tag that the series lacks is left out, and so is the value's
// field of an empty value, unless it is nested.
func (l *protoLabels) append(dst []byte, of uint32) []byte {
	for i := range l.tags {
		start := len(dst)
		dst = append(append(dst, l.field, 0), l.keys[i]...)
		if l.nested {
			dst = append(dst, 0, 0x0a)
		}
		dst = append(dst, 0)
		at := len(dst)
		var ok bool
		if dst, ok = l.tags[i].Values.Append(dst, of); !ok {
			dst = dst[:start]
			continue
		}
		value, head := len(dst)-at, at-start-2
		switch {
		case value == 0 && !l.nested:
			dst = dst[:at-2]
			dst[start+1] = byte(len(dst) - start - 2)
		case head+value < 0x80:
			dst[start+1], dst[at-1] = byte(head+value), byte(value)
			if l.nested {
				dst[at-3] = byte(value + 2)
			}
		default:
			dst = l.appendLong(dst, start, at, l.keys[i])
		}
	}
	return dst
}

// appendLong makes room for the lengths of a message that are longer than a byte. The message starts
// at start, and its value is the rest of dst from at.
func (l *protoLabels) appendLong(dst []byte, start, at int, key []byte) []byte {
	value := len(dst) - at
	head := len(key) + uvarintSize(uint64(value))
	inner := 1 + uvarintSize(uint64(value)) + value
	if l.nested {
		head += uvarintSize(uint64(inner)) + 1
	}
	moved := start + 1 + uvarintSize(uint64(head+value)) + head
	for range moved - at {
		dst = append(dst, 0)
	}
	copy(dst[moved:], dst[at:at+value])
	to := binary.AppendUvarint(append(dst[:start], l.field), uint64(head+value))
	to = append(to, key...)
	if l.nested {
		to = append(binary.AppendUvarint(to, uint64(inner)), 0x0a)
	}
	binary.AppendUvarint(to, uint64(value))
	return dst
}

// appendBytes appends a field of bytes: its tag, its length, and the bytes.
func appendBytes[T string | []byte](dst []byte, tag byte, text T) []byte {
	dst = binary.AppendUvarint(append(dst, tag), uint64(len(text)))
	return append(dst, text...)
}

// appendZigzag appends a number of protobuf's types sint32 and sint64.
func appendZigzag(dst []byte, v int64) []byte {
	return binary.AppendUvarint(dst, uint64(v<<1)^uint64(v>>63))
}

// uvarintSize returns the number of bytes of a varint.
func uvarintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
