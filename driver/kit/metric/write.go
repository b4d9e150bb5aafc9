package metric

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// OptionProtocol is the option for the protocol by which samples are written.
const OptionProtocol = "protocol"

// The values of OptionProtocol.
const (
	RemoteWrite1 = "remote-write-1" // https://prometheus.io/docs/specs/prw/remote_write_spec/
	RemoteWrite2 = "remote-write-2" // https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/
	OTLP         = "otlp"           // https://opentelemetry.io/docs/specs/otlp/
)

// ProtocolOption returns the option with the first protocol as the default.
func ProtocolOption(help string, protocols ...string) driver.Option {
	return driver.Option{Name: OptionProtocol, Default: protocols[0], Help: help, Type: option.Choice(protocols...)}
}

// Requests describes how batches are written as samples.
type Requests struct {
	Protocol string // a value of OptionProtocol
	Metric   func(t *series.Table, field string) string
	Label    func(tag string) string
}

// Encoder returns the encoder of the requests' bodies.
func (r Requests) Encoder(s *series.Schema) encode.Encoder {
	if r.Protocol == OTLP {
		return encode.OTLP{Metric: r.Metric, Label: r.Label, Null: NullField}.New(s)
	}
	return encode.RemoteWrite{Metric: r.Metric, Label: r.Label, Null: NullField, Symbols: r.Protocol == RemoteWrite2}.New(s)
}

// Endpoint returns the endpoint with the headers and the compression of the protocol, and with a check that
// the server has stored each sample.
func (r Requests) Endpoint(e lineproto.Endpoint) lineproto.Endpoint {
	const version = "X-Prometheus-Remote-Write-Version"
	switch r.Protocol {
	case OTLP:
		e.Header, e.Compress, e.Stored = http.Header{"Content-Type": {"application/x-protobuf"}}, lineproto.Gzip, partialSuccess
	case RemoteWrite2:
		e.Header = http.Header{"Content-Type": {"application/x-protobuf;proto=io.prometheus.write.v2.Request"}, version: {"2.0.0"}}
		e.Compress, e.Stored = lineproto.Snappy, writtenCounts
	default:
		e.Header, e.Compress = http.Header{"Content-Type": {"application/x-protobuf"}, version: {"0.1.0"}}, lineproto.Snappy
	}
	return e
}

// The headers with the number of samples and native histograms that a server has written.
const (
	writtenSamples    = "X-Prometheus-Remote-Write-Samples-Written"
	writtenHistograms = "X-Prometheus-Remote-Write-Histograms-Written"
)

// writtenCounts implements lineproto.Endpoint.Stored for remote write 2.0. A server that knows only version 1
// takes requests of version 2 for empty ones, and its responses lack the counts.
func writtenCounts(request [][]byte, header http.Header, _ []byte) error {
	var samples, histograms int64
	for _, part := range request { // a request is one part
		s, h := encode.WrittenSymbols(part)
		samples, histograms = samples+s, histograms+h
	}
	for _, c := range []struct {
		header, what string
		sent         int64
	}{{writtenSamples, "samples", samples}, {writtenHistograms, "native histograms", histograms}} {
		if c.sent == 0 {
			continue
		}
		written, err := strconv.ParseInt(header.Get(c.header), 10, 64)
		switch {
		case err != nil:
			return fmt.Errorf("the response does not say how many %s were written (%s): the server does not take remote write 2.0; give %s=%s", c.what, c.header, OptionProtocol, RemoteWrite1)
		case written < c.sent:
			return fmt.Errorf("the server wrote %d of the %d %s of a batch", written, c.sent, c.what)
		}
	}
	return nil
}

// partialSuccess implements lineproto.Endpoint.Stored for OTLP. The response is an
// ExportMetricsServiceResponse, whose field 1 has the number of data points that the server refused, and why.
func partialSuccess(_ [][]byte, _ http.Header, body []byte) error {
	partial, _, ok := protoField(body, 1)
	if !ok {
		return nil
	}
	_, refused, _ := protoField(partial, 1)
	why, _, _ := protoField(partial, 2)
	if refused == 0 {
		return nil
	}
	return fmt.Errorf("the server refused %d data points of a batch: %s", int64(refused), httpwire.OneLine(string(why)))
}

// protoField returns the value of a field of a protobuf message, as bytes or as a number; false: it is missing, or
// the message is malformed.
func protoField(message []byte, field uint64) (text []byte, number uint64, ok bool) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 || tag&7 != 0 && tag&7 != 2 {
			return nil, 0, false
		}
		message = message[n:]
		number, n = binary.Uvarint(message)
		if n <= 0 {
			return nil, 0, false
		}
		message, text = message[n:], nil
		if tag&7 == 2 {
			if number > uint64(len(message)) {
				return nil, 0, false
			}
			text, message = message[:number], message[number:]
		}
		if tag>>3 == field {
			return text, number, true
		}
	}
	return nil, 0, false
}
