package monitor

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
)

// nodeText is a host with two cores, a disk with a partition and a volume on
// it, and a container's interfaces beside the real one.
const nodeText = `# HELP go_goroutines Number of goroutines.
go_goroutines 8
node_boot_time_seconds 1.7e9
node_cpu_seconds_total{cpu="0",mode="idle"} 1000
node_cpu_seconds_total{cpu="0",mode="user"} 10
node_cpu_seconds_total{cpu="0",mode="nice"} 1
node_cpu_seconds_total{cpu="0",mode="system"} 5
node_cpu_seconds_total{cpu="1",mode="user"} 20
node_cpu_seconds_total{cpu="1",mode="softirq"} 2
node_cpu_seconds_total{cpu="1",mode="iowait"} 3
node_cpu_seconds_total{cpu="1",mode="steal"} 4
node_memory_MemTotal_bytes 1000
node_memory_MemAvailable_bytes 400
node_disk_read_bytes_total{device="nvme0n1"} 100
node_disk_read_bytes_total{device="nvme0n1p1"} 60
node_disk_read_bytes_total{device="sda"} 7
node_disk_read_bytes_total{device="dm-0"} 50
node_disk_written_bytes_total{device="nvme0n1"} 200
node_disk_written_bytes_total{device="dm-0"} 150
node_disk_reads_completed_total{device="nvme0n1"} 9
node_disk_writes_completed_total{device="nvme0n1"} 8
node_network_receive_bytes_total{device="eth0"} 11
node_network_receive_bytes_total{device="docker0"} 9
node_network_transmit_bytes_total{device="eth0"} 12
node_network_receive_bytes_total{device="lo"} 70
node_network_transmit_bytes_total{device="lo"} 70
process_cpu_seconds_total 99
`

// compare fails for each metric that is missing, unexpected, or different.
func compare(t *testing.T, got, want map[result.Metric]float64) {
	t.Helper()
	for m, w := range want {
		if g, ok := got[m]; !ok || g != w {
			t.Errorf("%s is %g (read: %v), want %g", m, g, ok, w)
		}
	}
	for m, g := range got {
		if _, ok := want[m]; !ok {
			t.Errorf("%s is %g, and should be absent", m, g)
		}
	}
}

// serve answers with a text and returns the address.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// read reads a source that was just made, without problems.
func read(t *testing.T) func(Source, error) Reading {
	return func(source Source, err error) Reading {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		r, err := source.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func TestNodeSource(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, nodeText) })
	r := read(t)(NodeSource(address, "dm-0"))
	compare(t, r.Values, map[result.Metric]float64{
		result.CPU: 38, result.CPUUser: 31, result.CPUSystem: 7, result.CPUIowait: 3, result.CPUSteal: 4,
		result.MemoryUsed: 600, result.MemoryAvailable: 400,
		result.DiskRead: 107, result.DiskWritten: 200, result.DiskReads: 9, result.DiskWrites: 8,
		result.DeviceRead: 50, result.DeviceWritten: 150,
		result.NetReceived: 11, result.NetSent: 12, result.Loopback: 70,
	})
	if r.Cores != 2 || r.Device != "dm-0" || r.Incarnation != 1.7e9 {
		t.Errorf("got %+v", r)
	}
}

func TestMetricsSource(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "process_cpu_seconds_total 7.5\nprocess_resident_memory_bytes 4096\nprocess_start_time_seconds 12\n"+
			"process_open_fds 30\nprocess_io_storage_written_bytes_total 5e3\nprocess_cpu_cores_available 2\nvm_rows 1\n")
	})
	r := read(t)(MetricsSource(address))
	compare(t, r.Values, map[result.Metric]float64{
		result.CPU: 7.5, result.RSS: 4096, result.OpenFiles: 30, result.DiskWritten: 5000,
	})
	if r.Cores != 2 || r.Incarnation != 12 {
		t.Errorf("got %+v", r)
	}
}

func TestExporterFailures(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"status":  {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", 404) }, "404 Not Found"},
		"nothing": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "vm_rows 1") }, "nothing in it is known"},
		"html":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "<html>") }, "line 1 "},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for block := strings.Repeat("x 1\n", 1<<18); ; {
				if _, err := fmt.Fprint(w, block); err != nil {
					return
				}
			}
		}, "longer than 16 MiB"},
		"slow": {func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}, "no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			address := strings.Replace(serve(t, c.answer), "://", "://me:hunter2@", 1) + "/metrics?token=hunter3"
			source, err := NodeSource(address, "")
			if err != nil {
				t.Fatal(err)
			}
			within := 20 * time.Second
			if name == "slow" {
				within = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			r, err := source.Read(ctx)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "/metrics") {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "\n") || strings.Contains(r.Measure, "hunter") {
				t.Errorf("shows secrets or several lines: %q, %q", err, r.Measure)
			}
			if len(r.Values) > 0 {
				t.Errorf("figures beside the error: %v", r.Values)
			}
		})
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	source, err := NodeSource(gone.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody there: %v", err)
	}
	for _, bad := range []string{"db1:9100", "", "ftp://x/y", "http://", "http://a b/"} {
		if _, err := NodeSource(bad, ""); err == nil {
			t.Errorf("address %q was accepted", bad)
		}
	}
}
