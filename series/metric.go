package series

// MetricKind is the type of a metric, as OpenMetrics names types; 0: unknown.
type MetricKind uint8

// The kinds of metrics.
const (
	Gauge     MetricKind = iota + 1 // a value that rises and falls
	Counter                         // a total that rises, and falls only when its process starts again
	Histogram                       // observations counted by buckets
	Info                            // 1: the labels carry the information
	StateSet                        // 1 for the current state, and 0 for each other state
)

// String returns the kind as line TYPE of OpenMetrics has it.
func (k MetricKind) String() string {
	return [...]string{"unknown", "gauge", "counter", "histogram", "info", "stateset"}[k]
}

// MetricValue is the field of a metric's table, unless the metric is a native histogram.
const MetricValue = "value"

// NoValue is the field in which systems of metrics store the rows without any value, each as 1: a row of
// the table cpu is a sample of the metric cpu_tsmark_null.
const NoValue = "tsmark_null"

// The fields of a native histogram, in their order. Further fields, b0, b1, …, are the counts of
// consecutive positive buckets; each is an absolute count, and no bucket includes another.
const (
	NativeCount = "count" // of all observations; Int
	NativeSum   = "sum"   // of all observations; Float
	NativeZero  = "zero"  // observations from -ZeroThreshold to ZeroThreshold; Int
)

// Metric describes a table whose rows are samples of one metric in Prometheus's data model.
//
// The table has the metric's name. Its tags are the labels, all Text, and a series that lacks a tag
// lacks the label. Its only field is MetricValue, a Float, and a NULL is a staleness marker: the
// series has ended, until its next sample. Times are whole milliseconds. A classic histogram is
// three tables: x_bucket, whose tag le is the upper bound of a bucket, x_sum and x_count. A
// native histogram is one table, and a NULL in NativeCount, and thus in each field, is the marker.
type Metric struct {
	Kind MetricKind
	// Family is the metric family as OpenMetrics names it in lines HELP and TYPE: the table without
	// _bucket, _sum, _count, _total or _info.
	Family string
	Help   string
	Unit   string // such as seconds, which then ends the family's name; empty: none
	// Class says how values behave, and thus how they compress: see package workload/metrics.
	Class  string
	Native *Native // nil unless the samples are native histograms
}

// Native describes the buckets of native histograms: bucket i has the observations above
// 2^((i-1)·2^-Schema) up to 2^(i·2^-Schema).
type Native struct {
	Schema        int32
	ZeroThreshold float64
	First         int32 // index of the bucket that field b0 counts
}
