package encode

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/tsmark/tsmark/series"
)

// plainMetric returns the name of a field's metric in files.
func plainMetric(t *series.Table, field string) string {
	if t.Metric != nil {
		return t.Name
	}
	return t.Name + "_" + field
}

func plainLabel(tag string) string { return tag }

// numbersOnly returns an error for a schema with fields whose values are not numbers, except of some types.
func numbersOnly(s *series.Schema, except ...series.Type) error {
	for _, t := range s.Tables {
		for _, f := range t.Fields {
			if (f.Type.Textual() || f.Type == series.Timestamp) && !slices.Contains(except, f.Type) {
				return fmt.Errorf("its samples are numbers, and field %s of table %s is of type %v; leave such fields out, as by iotdb.types, or choose another format", f.Name, t.Name, f.Type)
			}
		}
	}
	return nil
}

// NewRemoteWriteFile returns the encoder of a file of requests of remote write 1.0: each is the body of
// a request, compressed by Snappy, after its length as a varint, as protobuf delimits messages.
func NewRemoteWriteFile(s *series.Schema) (Encoder, error) {
	if err := numbersOnly(s); err != nil {
		return nil, err
	}
	return &requestFile{requests: RemoteWrite{Metric: plainMetric, Label: plainLabel}.New(s)}, nil
}

// requestFile implements Encoder.
type requestFile struct {
	requests Encoder
	scratch  sync.Pool // of *[2][]byte
}

// AppendHeader implements Encoder.
func (e *requestFile) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *requestFile) Append(dst []byte, b *series.Batch) []byte {
	memory, ok := e.scratch.Get().(*[2][]byte)
	if !ok {
		memory = new([2][]byte)
	}
	defer e.scratch.Put(memory)
	memory[0] = e.requests.Append(memory[0][:0], b)
	if len(memory[0]) == 0 {
		return dst
	}
	memory[1] = s2.EncodeSnappy(memory[1][:cap(memory[1])], memory[0])
	dst = binary.AppendUvarint(dst, uint64(len(memory[1])))
	return append(dst, memory[1]...)
}

// NewOTLPFile returns the encoder of lines of OTLP in JSON, as OpenTelemetry's Collector writes files.
func NewOTLPFile(s *series.Schema) (Encoder, error) {
	if err := numbersOnly(s); err != nil {
		return nil, err
	}
	return OTLP{Metric: plainMetric, Label: plainLabel, JSON: true}.New(s), nil
}
