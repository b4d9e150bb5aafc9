package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"time"
)

// maxBody is the maximum number of bytes read of an exporter's answer. node_exporter's is about 100
// KiB, that of a database with a line per table some MiB.
const maxBody = 16 << 20

// exporterSource reads an HTTP endpoint in Prometheus's text format.
type exporterSource struct {
	url, shown string // shown has no password and no query
	measure    string
	client     *http.Client
	digest     func(samples []sample) Reading
}

// NodeSource reads a remote host through node_exporter, whose address is like
// http://db1:9100/metrics. device is the kernel's name of the disk under the
// database's folder there, or empty.
func NodeSource(address, device string) (Source, error) {
	return newExporter(address, "the host behind ", func(s []sample) Reading { return readNode(s, device) })
}

// MetricsSource returns a source for the metrics that a server reports about its own process, as
// Prometheus's client libraries do: http://db1:8428/metrics.
func MetricsSource(address string) (Source, error) {
	return newExporter(address, "the process behind ", readProcessMetrics)
}

func newExporter(address, what string, digest func([]sample) Reading) (Source, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("an exporter's address is like http://host:9100/metrics")
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return &exporterSource{
		url: u.String(), shown: shown.String(), measure: what + shown.String(), digest: digest,
		// Not the default transport, which uses proxies and shares connections with other code.
		client: &http.Client{Transport: &http.Transport{
			DialContext: (&net.Dialer{}).DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
		}},
	}, nil
}

// Read implements Source.
func (e *exporterSource) Read(ctx context.Context) (Reading, error) {
	none := Reading{Measure: e.measure}
	samples, err := e.fetch(ctx)
	if err != nil {
		return none, fmt.Errorf("cannot read %s: %w", e.shown, plainError(err))
	}
	r := e.digest(samples)
	r.Measure = e.measure
	for m, v := range r.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			delete(r.Values, m)
		}
	}
	if len(r.Values) == 0 {
		return none, fmt.Errorf("cannot read %s: nothing in it is known to tsmark", e.shown)
	}
	return r, nil
}

func (e *exporterSource) fetch(ctx context.Context) ([]sample, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	response, err := e.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", response.Status)
	}
	body := &io.LimitedReader{R: response.Body, N: maxBody + 1}
	var samples []sample
	err = scan(body, func(s sample) {
		if hasPrefix(s.name, "node_", "process_", "go_sched_") { // a database has thousands of others
			samples = append(samples, s)
		}
	})
	if body.N == 0 {
		return nil, fmt.Errorf("its answer is longer than %d MiB", maxBody>>20)
	}
	return samples, err
}

// plainError takes the address, which is shown without secrets, and the changing
// numbers of local ports out of an error of the network.
func plainError(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer in time")
	case errors.As(err, &op):
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return err
}
