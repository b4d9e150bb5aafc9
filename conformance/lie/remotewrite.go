package lie

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/snappy"
)

var errProtobuf = errors.New("the request is no protobuf that a proxy can lie in")

// fields calls do with each field of a message: its number, its bytes, or its
// number in place of them, and all of it.
func fields(message []byte, do func(number uint64, text []byte, value uint64, whole []byte) error) error {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return errProtobuf
		}
		var text []byte
		var value uint64
		switch rest := message[n:]; tag & 7 {
		case 0:
			v, size := binary.Uvarint(rest)
			if size <= 0 {
				return errProtobuf
			}
			value, n = v, n+size
		case 1:
			if len(rest) < 8 {
				return errProtobuf
			}
			value, n = binary.LittleEndian.Uint64(rest), n+8
		case 2:
			length, size := binary.Uvarint(rest)
			if size <= 0 || length > uint64(len(rest)-size) {
				return errProtobuf
			}
			text, n = rest[size:][:length], n+size+int(length)
		default:
			return errProtobuf
		}
		if err := do(tag>>3, text, value, message[:n]); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

func parseSeries(message []byte) (*timeSeries, error) {
	s := &timeSeries{}
	err := fields(message, func(number uint64, text []byte, _ uint64, whole []byte) error {
		if number == 2 {
			var one sample
			err := fields(text, func(number uint64, _ []byte, value uint64, _ []byte) error {
				if number == 1 {
					one.value = value
				} else {
					one.time = value
				}
				return nil
			})
			s.samples = append(s.samples, one)
			return err
		}
		s.labels = append(s.labels, whole...)
		var pair [3]string
		err := fields(text, func(number uint64, text []byte, _ uint64, _ []byte) error {
			if number < 3 {
				pair[number] = string(text)
			}
			return nil
		})
		if pair[1] == "__name__" {
			s.name = pair[2]
		} else {
			s.key += pair[1] + "\x00" + pair[2] + "\x00"
		}
		return err
	})
	return s, err
}

// remoteWrite applies the lie to rows of the table in a request.
func (p *proxy) remoteWrite(body []byte) ([]byte, error) {
	request, err := snappy.Decode(nil, body)
	if err != nil {
		return nil, err
	}
	var all []*timeSeries
	err = fields(request, func(_ uint64, text []byte, _ uint64, _ []byte) error {
		s, err := parseSeries(text)
		all = append(all, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.samples(all)
	var out []byte
	for _, s := range all {
		message := append([]byte(nil), s.labels...)
		for _, one := range s.samples {
			text := binary.LittleEndian.AppendUint64([]byte{0x09}, one.value)
			text = binary.AppendUvarint(append(text, 0x10), one.time)
			message = append(append(message, 0x12, byte(len(text))), text...)
		}
		out = append(binary.AppendUvarint(append(out, 0x0a), uint64(len(message))), message...)
	}
	return snappy.Encode(nil, out), nil
}
