package lie

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/klauspost/compress/snappy"
)

// timeSeries is a series of a request of Prometheus's remote write 1.0.
type timeSeries struct {
	labels  []byte // its fields that are labels, as they came
	name    string // of the metric
	key     string // the other labels
	samples []sample
}

type sample struct {
	value uint64 // the bits of a double
	time  uint64
}

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

// remoteWrite applies the lie to rows of the table in a request: a row is the samples
// of one time whose series have the same labels.
func (p *proxy) remoteWrite(body []byte) ([]byte, error) {
	request, err := snappy.Decode(nil, body)
	if err != nil {
		return nil, err
	}
	type row struct {
		key  string
		time uint64
	}
	var all []*timeSeries
	numbers, rows := map[row]int{}, []row{}
	err = fields(request, func(_ uint64, text []byte, _ uint64, _ []byte) error {
		s, err := parseSeries(text)
		if all = append(all, s); err == nil && strings.HasPrefix(s.name, p.table+"_") {
			for _, one := range s.samples {
				at := row{s.key, one.time}
				if _, ok := numbers[at]; !ok {
					numbers[at] = len(rows)
					rows = append(rows, at)
				}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	fates := p.fates(len(rows))
	values := map[string]map[row]uint64{} // by the metric's name
	for _, s := range all {
		for _, one := range s.samples {
			if values[s.name] == nil {
				values[s.name] = map[row]uint64{}
			}
			values[s.name][row{s.key, one.time}] = one.value
		}
	}
	var out []byte
	for _, s := range all {
		var samples []sample
		for _, one := range s.samples {
			n, ours := numbers[row{s.key, one.time}]
			if !ours || !strings.HasPrefix(s.name, p.table+"_") {
				samples = append(samples, one)
				continue
			}
			other := -1 // the row with which it exchanges its values
			switch {
			case fates[n] == Swap && n > 0:
				other = n - 1
			case n+1 < len(fates) && fates[n+1] == Swap:
				other = n + 1
			}
			if other >= 0 {
				if v, ok := values[s.name][rows[other]]; ok {
					one.value = v
				}
			}
			if fates[n] == Zero {
				one.value = 0
			}
			samples = append(samples, slices.Repeat([]sample{one}, fates[n].copies())...)
		}
		message := append([]byte(nil), s.labels...)
		for _, one := range samples {
			text := binary.LittleEndian.AppendUint64([]byte{0x09}, one.value)
			text = binary.AppendUvarint(append(text, 0x10), one.time)
			message = append(append(message, 0x12, byte(len(text))), text...)
		}
		out = append(binary.AppendUvarint(append(out, 0x0a), uint64(len(message))), message...)
	}
	return snappy.Encode(nil, out), nil
}
