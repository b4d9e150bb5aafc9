package metric

import (
	"net/http"

	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/encode"
)

// RemoteWrite returns the endpoint with the requests of an encoder for Prometheus's remote write
// protocol, compressed by Snappy.
func RemoteWrite(e lineproto.Endpoint, requests encode.RemoteWrite) lineproto.Endpoint {
	e.Header = http.Header{"Content-Type": {"application/x-protobuf"}, "X-Prometheus-Remote-Write-Version": {"0.1.0"}}
	if requests.Symbols {
		e.Header = http.Header{"Content-Type": {"application/x-protobuf;proto=io.prometheus.write.v2.Request"}, "X-Prometheus-Remote-Write-Version": {"2.0.0"}}
	}
	e.Compress = lineproto.Snappy
	return e
}
