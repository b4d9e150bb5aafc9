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

	"github.com/tsmark/tsmark/result"
)

// maxBody is the most that is read of an exporter's answer. node_exporter's is
// about 100 KiB, that of a database with a line for each table some MiB.
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

// MetricsSource reads what a server tells of its own process, as Prometheus's
// client libraries do: http://db1:8428/metrics.
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
		// Not the default one: proxies and other users' connections would
		// stand between.
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
		return none, fmt.Errorf("cannot read %s: %w", e.shown, plainly(err))
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

// plainly takes the address, which is shown without secrets, and the changing
// numbers of local ports out of an error of the network.
func plainly(err error) error {
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

// readNode maps node_exporter's names.
func readNode(samples []sample, device string) Reading {
	v := map[result.Metric]float64{}
	r := Reading{Values: v}
	var disks []string
	cpus := map[string]bool{}
	var memory memory
	network := interfaces{}
	for _, s := range samples {
		switch s.name {
		case "node_boot_time_seconds":
			r.Incarnation = s.value
		case "node_cpu_seconds_total":
			cpus[s.label("cpu")] = true
			addMode(v, s.label("mode"), s.value)
		case "node_memory_MemTotal_bytes":
			memory.total = s.value
		case "node_memory_MemAvailable_bytes":
			memory.available = s.value
		case "node_disk_read_bytes_total":
			disks = append(disks, s.label("device"))
		case "node_network_receive_bytes_total":
			network.at(s.label("device")).received = s.value
		case "node_network_transmit_bytes_total":
			network.at(s.label("device")).sent = s.value
		}
	}
	r.Cores = len(cpus)
	memory.store(v)
	whole := map[string]bool{}
	for _, name := range wholeDisks(disks) {
		whole[name] = true
	}
	for _, s := range samples {
		if m, ok := nodeDisk(s.name); ok {
			name := s.label("device")
			if whole[name] {
				v[m[0]] += s.value
			}
			if name == device && device != "" {
				v[m[1]], r.Device = s.value, device
			}
		}
	}
	network.store(v)
	return r
}

// addMode adds a core's seconds in one mode. Guests' seconds are part of user
// and nice already.
func addMode(v map[result.Metric]float64, mode string, seconds float64) {
	switch mode {
	case "user", "nice":
		v[result.CPUUser] += seconds
		v[result.CPU] += seconds
	case "system", "irq", "softirq":
		v[result.CPUSystem] += seconds
		v[result.CPU] += seconds
	case "iowait":
		v[result.CPUIowait] += seconds
	case "steal":
		v[result.CPUSteal] += seconds
	}
}

type memory struct{ total, available float64 }

func (m memory) store(v map[result.Metric]float64) {
	if m.total > 0 && m.available > 0 {
		v[result.MemoryAvailable], v[result.MemoryUsed] = m.available, m.total-m.available
	}
}

// interfaces holds what each network interface has carried.
type interfaces map[string]*carried

type carried struct{ received, sent float64 }

func (i interfaces) at(name string) *carried {
	if i[name] == nil {
		i[name] = &carried{}
	}
	return i[name]
}

func (i interfaces) store(v map[result.Metric]float64) {
	for name, c := range i {
		addNetwork(v, name, c.received, c.sent)
	}
}

// nodeDisk returns the metrics of all disks and of the database's one.
func nodeDisk(name string) ([2]result.Metric, bool) {
	switch name {
	case "node_disk_read_bytes_total":
		return [2]result.Metric{result.DiskRead, result.DeviceRead}, true
	case "node_disk_written_bytes_total":
		return [2]result.Metric{result.DiskWritten, result.DeviceWritten}, true
	case "node_disk_reads_completed_total":
		return [2]result.Metric{result.DiskReads, result.DeviceReads}, true
	case "node_disk_writes_completed_total":
		return [2]result.Metric{result.DiskWrites, result.DeviceWrites}, true
	}
	return [2]result.Metric{}, false
}

// readProcessMetrics maps the names that Prometheus's client libraries give
// their process, and what VictoriaMetrics adds to them.
func readProcessMetrics(samples []sample) Reading {
	v := map[result.Metric]float64{}
	r := Reading{Values: v}
	for _, s := range samples {
		switch s.name {
		case "process_start_time_seconds":
			r.Incarnation = s.value
		case "process_cpu_seconds_total":
			v[result.CPU] = s.value
		case "process_cpu_seconds_user_total":
			v[result.CPUUser] = s.value
		case "process_cpu_seconds_system_total":
			v[result.CPUSystem] = s.value
		case "process_resident_memory_bytes":
			v[result.RSS] = s.value
		case "process_open_fds":
			v[result.OpenFiles] = s.value
		case "process_num_threads":
			v[result.Threads] = s.value
		case "process_io_storage_read_bytes_total":
			v[result.DiskRead] = s.value
		case "process_io_storage_written_bytes_total":
			v[result.DiskWritten] = s.value
		case "process_network_receive_bytes_total":
			v[result.NetReceived] = s.value
		case "process_network_transmit_bytes_total":
			v[result.NetSent] = s.value
		case "go_sched_gomaxprocs_threads", "process_cpu_cores_available":
			r.Cores = int(s.value)
		}
	}
	return r
}
