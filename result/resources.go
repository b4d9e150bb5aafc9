package result

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// Value is a measured figure; NaN (null in JSON) means that it could not be read. Call IsKnown
// before computing with it: absent is not zero.
type Value float64

// Absent returns the Value of an unreadable figure.
func Absent() Value { return Value(math.NaN()) }

// IsKnown reports whether the figure was read.
func (v Value) IsKnown() bool { return !math.IsNaN(float64(v)) }

// MarshalJSON writes null for an absent figure, because JSON has no NaN.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.IsKnown() || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// UnmarshalJSON reads a number or null.
func (v *Value) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*v = Absent()
		return nil
	}
	return json.Unmarshal(text, (*float64)(v))
}

// Metric names one figure of a source.
type Metric string

// Counters: usage since the source was first read. They start at 0 and never fall, even if a server
// is restarted.
const (
	CPU       Metric = "cpu"        // seconds of all cores at work; without iowait and steal
	CPUUser   Metric = "cpu_user"   // seconds in programs, nice ones included
	CPUSystem Metric = "cpu_system" // seconds in the kernel, interrupts included
	CPUIowait Metric = "cpu_iowait" // seconds idle while a disk request was under way
	CPUSteal  Metric = "cpu_steal"  // seconds that the hypervisor gave to other machines

	// Bytes and operations that reached storage. For a host they are the sum of its whole disks.
	// For processes they are the I/O that the processes caused, excluding page cache hits. Deferred
	// writes count when the page becomes dirty (processes) or when they are written (hosts,
	// containers).
	DiskRead    Metric = "disk_read"    // bytes
	DiskWritten Metric = "disk_written" // bytes
	DiskReads   Metric = "disk_reads"   // operations
	DiskWrites  Metric = "disk_writes"  // operations

	// The same metrics for the disk under the database's folder.
	DeviceRead    Metric = "device_read"
	DeviceWritten Metric = "device_written"
	DeviceReads   Metric = "device_reads"
	DeviceWrites  Metric = "device_writes"

	// Bytes through network interfaces, excluding bridges and tunnels, whose traffic also passes
	// through another interface.
	NetReceived Metric = "net_received"
	NetSent     Metric = "net_sent"
	Loopback    Metric = "loopback" // bytes sent within the host, which equal the bytes received

	GCPauses Metric = "gc_pauses" // seconds during which the Go runtime stopped all goroutines to collect garbage
	GCCycles Metric = "gc_cycles"
)

// Gauges: the state at the time of reading.
const (
	MemoryUsed      Metric = "memory_used"      // bytes; total less available
	MemoryAvailable Metric = "memory_available" // bytes that programs could still take without swapping
	RSS             Metric = "rss"              // resident bytes; pages that processes share count in each. Of a container: anonymous memory
	OpenFiles       Metric = "open_files"       // file descriptors
	Threads         Metric = "threads"
	Processes       Metric = "processes"
	Heap            Metric = "heap"           // bytes of Go objects, dead ones not yet swept included
	SchedulingP99   Metric = "scheduling_p99" // 99th percentile of the seconds that goroutines waited to run, since the previous reading
	GCPauseMax      Metric = "gc_pause_max"   // longest pause since the previous reading, in seconds
)

// internal is the prefix of metrics that a system reports about itself.
const internal = "internal:"

// Internal returns the Metric of a figure that a system reports about itself, by its own name.
func Internal(name string) Metric { return Metric(internal + name) }

// InternalName returns the system's own name of a metric made by Internal; ok is false for other
// metrics.
func (m Metric) InternalName() (name string, ok bool) { return strings.CutPrefix(string(m), internal) }

// Counter reports whether the metric accumulates over time. Internal metrics do if their names end
// in _total.
func (m Metric) Counter() bool {
	if name, ok := m.InternalName(); ok {
		return strings.HasSuffix(name, "_total")
	}
	switch m {
	case MemoryUsed, MemoryAvailable, RSS, OpenFiles, Threads, Processes, Heap, SchedulingP99, GCPauseMax:
		return false
	}
	return true
}

// ClientSource is the source for tsmark's own process.
const ClientSource = "client"

// HostSource is the source for tsmark's machine.
const HostSource = "host"

// ServerSource returns the source for the server of a target.
func ServerSource(target string) string { return "server " + target }

// Resources is the usage of one source (the client, its host, a server), in columns: value i of
// every metric was read at At[i].
type Resources struct {
	Source  string `json:"source"`  // client, host, server, or a configured name
	Measure string `json:"measure"` // description of the source: "process 4711 and its children"
	// Cores is the number of cores that a CPU share of 1 represents; 0: unknown.
	Cores  int     `json:"cores"`
	Device string  `json:"device,omitempty"` // the disk of the Device metrics
	Period float64 `json:"period"`           // seconds between readings, as requested
	// At has the times of the readings, ascending, in seconds since the origin of the run's time
	// line.
	At []float64 `json:"at"`
	// Metrics has a column for each metric that was read at least once.
	Metrics map[Metric][]Value `json:"metrics"`
	Total   Usage              `json:"total"` // from the first reading to the last
	// Problems are the failures to read metrics, each once.
	Problems []string `json:"problems,omitempty"`
}

// Add appends a reading. Missing metrics are absent there.
func (r *Resources) Add(at float64, reading map[Metric]float64) {
	if r.Metrics == nil {
		r.Metrics = map[Metric][]Value{}
	}
	before := len(r.At)
	r.At = append(r.At, at)
	for m := range reading {
		if r.Metrics[m] == nil {
			r.Metrics[m] = slices.Repeat([]Value{Absent()}, before)
		}
	}
	for m, column := range r.Metrics {
		v := Absent()
		if got, ok := reading[m]; ok {
			v = Value(got)
		}
		r.Metrics[m] = append(column, v)
	}
}

// Names returns the metrics that were read, sorted.
func (r *Resources) Names() []Metric { return slices.Sorted(maps.Keys(r.Metrics)) }

// Problem records a failure to read a metric, each text once. It drops texts beyond the twentieth,
// which would add no information.
func (r *Resources) Problem(text string) {
	if len(r.Problems) < 20 && !slices.Contains(r.Problems, text) {
		r.Problems = append(r.Problems, text)
	}
}

// Client is the resource usage of the client itself during one cell: evidence whether it was the
// limit. Percentiles and maxima of pauses and delays are upper ends of the runtime's histogram
// buckets, which are at most 25 % wide.
type Client struct {
	Wall float64 `json:"wall"` // seconds
	CPU  Value   `json:"cpu"`  // seconds
	// User and System are the parts of CPU spent in programs and in the kernel.
	User   Value `json:"user"`
	System Value `json:"system"` // see User
	Share  Value `json:"share"`  // of all cores of the machine, 0 to 1
	Procs  int   `json:"procs"`  // cores that Go may use at once (GOMAXPROCS)
	Cores  int   `json:"cores"`  // of the machine
	// GC pauses stop all goroutines and lengthen latencies.
	GCCycles      int64   `json:"gc_cycles"`
	GCPause       float64 `json:"gc_pause"`       // seconds, total
	GCPauseMax    float64 `json:"gc_pause_max"`   // seconds
	SchedulingP99 Value   `json:"scheduling_p99"` // seconds that a goroutine ready to run waited; absent: none waited
	SchedulingMax Value   `json:"scheduling_max"` // seconds, longest
	// Bytes of the whole host, including other programs: operating systems do not count them by
	// process.
	NetReceived Value `json:"net_received"`
	NetSent     Value `json:"net_sent"` // bytes
	Loopback    Value `json:"loopback"` // bytes over the loopback interface
}

// OtherDatabase is another database that ran on the host during a run.
type OtherDatabase struct {
	Name    string `json:"name"`    // the product's name
	PID     int    `json:"pid"`     // of the process
	Process string `json:"process"` // name of its program
	RSS     Value  `json:"rss"`     // bytes
	Share   Value  `json:"share"`   // CPU while it was observed, in cores
}
