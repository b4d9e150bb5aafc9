package metrics

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// class says how the values of a metric behave, and thus how they compress.
type class uint8

// The classes. Those from up on are special values of another class.
const (
	constant       class = iota // never changes
	slowGauge                   // keeps its value for 32 scrapes
	noisyGauge                  // differs at each scrape
	limitedGauge                // differs at each scrape, by few decimals
	sparseCounter               // counts less than one event per scrape
	busyCounter                 // rises at each scrape
	resetCounter                // rises at each scrape, and begins at 0 again every 64 to 319 scrapes
	state                       // 0 or 1, and rarely another
	info                        // 1
	classicBuckets              // counts of observations up to a bound
	nativeBuckets               // counts of observations by exponential buckets

	up            // state: 1, or 0 after a failed scrape
	beganAt       // constant: when the object began, in seconds since 1970
	samples       // constant: how many samples a scrape had
	added         // constant: how many series a scrape began
	classicSums   // classic-histogram: sums of observations
	classicCounts // classic-histogram: counts of observations
)

// classNames returns the names of classes, in their order.
func classNames() []string {
	return []string{
		"constant", "slow-gauge", "noisy-gauge", "limited-gauge", "sparse-counter", "busy-counter",
		"reset-counter", "state", "info", "classic-histogram", "native-histogram",
	}
}

// shownClass returns the class that a special value belongs to.
func (c class) shownClass() class {
	switch c {
	case up:
		return state
	case beganAt, samples, added:
		return constant
	case classicSums, classicCounts:
		return classicBuckets
	}
	return c
}

// kind returns the kind of a metric. Counters without a name of OpenMetrics are of unknown kind, as
// exporters report them.
func (e *entry) kind() series.MetricKind {
	switch e.class {
	case sparseCounter, busyCounter, resetCounter:
		if !strings.HasSuffix(e.name, "_total") {
			return 0
		}
		return series.Counter
	case classicBuckets, nativeBuckets, classicSums, classicCounts:
		return series.Histogram
	case info:
		return series.Info
	case state:
		if e.states() > 1 {
			return series.StateSet
		}
	}
	return series.Gauge
}

// states returns how many series show one state; 1: each series is a state of its own.
func (e *entry) states() uint32 {
	if n := len(e.dimensions); n > 0 && e.dimensions[n-1].states {
		return e.dimensions[n-1].size
	}
	return 1
}

// resolution is what values are multiples of.
type resolution uint8

// The resolutions.
const (
	whole  resolution = iota // integers
	full                     // any float
	tenths                   // one decimal
	cents                    // two decimals, as times in node_exporter
	millis                   // three decimals
	nanos                    // nine decimals, as times in cAdvisor
	pages                    // 4096, as memory
)

// entity is an object whose series exist as long as the object.
type entity uint8

// The entities.
const (
	ofTarget     entity = iota // the target that reports the series
	ofPod                      // an application pod that kube-state-metrics or a kubelet reports
	ofNode                     // a node that kube-state-metrics reports
	ofDeployment               // a deployment that kube-state-metrics reports
	entities
)

// dimension is one or more labels that distinguish the series of an entity.
type dimension struct {
	keys   []string
	values [][]string // by key; of numbered values a single prefix, which the number follows
	size   uint32     // number of values; 0: it grows with metrics.series
	states bool       // values are the states of one object, the usual one first
	filler bool       // the labels are those of pods that are not applications, and never replaced
}

// is returns a dimension of one label whose values are separated by blanks.
func is(key, values string) *dimension {
	list := strings.Fields(values)
	return &dimension{keys: []string{key}, values: [][]string{list}, size: uint32(len(list))}
}

// states returns a dimension of the states of an object, the usual one first.
func states(key, values string) *dimension {
	d := is(key, values)
	d.states = true
	return d
}

// sequence returns a dimension of one label with numbered values.
func sequence(key, prefix string, size uint32) *dimension {
	return &dimension{keys: []string{key}, values: [][]string{{prefix}}, size: size}
}

// rows returns a dimension of several labels, separated by blanks; each row has their values.
func rows(keys string, values ...string) *dimension {
	d := &dimension{keys: strings.Fields(keys), size: uint32(len(values))}
	d.values = make([][]string, len(d.keys))
	for _, row := range values {
		for i, value := range strings.Fields(row) {
			d.values[i] = append(d.values[i], value)
		}
	}
	return d
}

// entry is a metric of the catalog.
type entry struct {
	name  string
	class class
	// size is the level of a gauge, or how much a counter counts per second. The series of a metric
	// have different ones of this magnitude.
	size       float64
	resolution resolution
	help       string
	dimensions []*dimension
}

// section is metrics that the same jobs report about the same entity.
type section struct {
	jobs   []job
	entity entity
	// always means that each scrape has samples, even a failed one.
	always bool
	// keys are the labels of the entity, in addition to those of the target, separated by blanks.
	keys    string
	entries []entry
	// filler is added to the dimensions, after all others: see dimension.
	filler *dimension
}

// catalog returns all metrics. Help texts describe what the exporters document.
func catalog() []section {
	return slices.Concat(commonMetrics(), nodeMetrics(), kubeMetrics(), containerMetrics(), appMetrics())
}

// dims is short for the dimensions of an entry.
func dims(list ...*dimension) []*dimension { return list }

// bounds returns the upper bounds of the buckets of classic histograms, without +Inf, as Prometheus's
// client libraries have them by default.
func bounds() []float64 {
	return []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// family returns the metric family of a metric's name.
func family(name string, kind series.MetricKind) string {
	suffixes := map[series.MetricKind][]string{
		series.Counter: {"_total"}, series.Info: {"_info"}, series.Histogram: {"_bucket", "_sum", "_count"},
	}
	for _, suffix := range suffixes[kind] {
		if of, ok := strings.CutSuffix(name, suffix); ok {
			return of
		}
	}
	return name
}

// unitOf returns the unit that ends a family's name; empty: none.
func unitOf(family string) string {
	at := strings.LastIndexByte(family, '_')
	for _, unit := range []string{"seconds", "bytes", "ratio", "celsius", "hertz", "volts"} {
		if family[at+1:] == unit {
			return unit
		}
	}
	return ""
}

func commonMetrics() []section {
	every := []job{app, node, kube, kubelet}
	return []section{
		{jobs: every, always: true, entries: []entry{
			{"up", up, 0, whole, "1 if the target could be scraped, and 0 otherwise", nil},
			{"scrape_duration_seconds", noisyGauge, 0.02, full, "Duration of the scrape", nil},
			{"scrape_samples_scraped", samples, 0, whole, "Number of samples that the target exposed", nil},
			{"scrape_samples_post_metric_relabeling", samples, 0, whole, "Number of samples after relabeling", nil},
			{"scrape_series_added", added, 0, whole, "Number of new series in the scrape", nil},
		}},
		{jobs: every, entries: []entry{
			{"process_cpu_seconds_total", busyCounter, 0.1, cents, "User and system CPU time in seconds", nil},
			{"process_resident_memory_bytes", noisyGauge, 8e7, pages, "Resident memory size", nil},
			{"process_virtual_memory_bytes", slowGauge, 1.2e9, pages, "Virtual memory size", nil},
			{"process_open_fds", noisyGauge, 60, whole, "Number of open file descriptors", nil},
			{"process_max_fds", constant, 1 << 19, whole, "Maximum number of open file descriptors", nil},
			{"process_start_time_seconds", beganAt, 0, cents, "Start time of the process since the epoch", nil},
			{"process_network_receive_bytes_total", busyCounter, 4e4, whole, "Number of bytes received by the process over the network", nil},
			{"process_network_transmit_bytes_total", busyCounter, 6e4, whole, "Number of bytes sent by the process over the network", nil},
			{"go_goroutines", noisyGauge, 150, whole, "Number of goroutines", nil},
			{"go_threads", slowGauge, 18, whole, "Number of threads of the operating system", nil},
			{"go_info", info, 0, whole, "Information about the Go environment", dims(rows("version", "go1.25.3"))},
			{"go_gc_cycles_total", sparseCounter, 0.02, whole, "Number of completed garbage collections", nil},
			{"go_gc_gogc_percent", constant, 100, whole, "Heap growth that starts a garbage collection", nil},
			{"go_memstats_alloc_bytes_total", busyCounter, 2e6, whole, "Bytes allocated, including freed ones", nil},
			{"go_memstats_mallocs_total", busyCounter, 2e4, whole, "Number of heap objects allocated", nil},
			{"go_memstats_frees_total", busyCounter, 2e4, whole, "Number of heap objects freed", nil},
			{"go_memstats_heap_inuse_bytes", noisyGauge, 4e7, pages, "Bytes in spans in use", nil},
			{"go_memstats_heap_idle_bytes", noisyGauge, 2e7, pages, "Bytes in spans not in use", nil},
			{"go_memstats_heap_objects", noisyGauge, 2e5, whole, "Number of objects in the heap", nil},
			{"go_memstats_stack_inuse_bytes", slowGauge, 2e6, pages, "Bytes of stacks in use", nil},
			{"go_memstats_next_gc_bytes", slowGauge, 5e7, whole, "Heap size that starts the next garbage collection", nil},
			{"go_memstats_sys_bytes", slowGauge, 9e7, pages, "Bytes from the operating system", nil},
			{"go_sched_gomaxprocs_threads", constant, 2, whole, "Number of threads that run Go code at once", nil},
		}},
	}
}
