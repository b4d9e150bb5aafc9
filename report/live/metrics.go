package live

import (
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/report/live/page"
	"github.com/tsmark/tsmark/result"
)

// metricsOf serves the state of a run as metrics for Prometheus. They are computed for
// each scrape: between scrapes they cost the run nothing.
func metricsOf(run *Run) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newMetrics(run))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: mostReaders, Timeout: patience})
}

// metrics implements prometheus.Collector.
type metrics struct {
	run                                *Run
	info, over, step, steps, left      *prometheus.Desc
	taskDone, taskTotal                *prometheus.Desc
	operations, rows, bytes, durations *prometheus.Desc
	cpu, memory, diskRead, diskWritten *prometheus.Desc
}

// verifiedLabel is a label of each measured figure: verification happens after the
// measurement, and a figure that fails it is not in the report.
func verifiedLabel() prometheus.Labels { return prometheus.Labels{"verified": "not yet"} }

func newMetrics(run *Run) *metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("tsmark_"+name, help, labels, nil)
	}
	measured := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("tsmark_"+name, help+" Not verified yet.", append([]string{"kind", "target", "type", "part"}, labels...), verifiedLabel())
	}
	return &metrics{
		run:   run,
		info:  desc("run_info", "The run that goes on: always 1.", "run", "name", "command", "workload"),
		over:  desc("run_over", "1 after the end of the run, sweep or benchmark."),
		step:  desc("run_step", "Step of the run at hand, from 1."),
		steps: desc("run_steps", "Steps of the run."),
		left:  desc("run_left_seconds", "About what the run still takes; absent where that is not known. With bound=\"least\" some steps are not in it.", "bound"),

		taskDone:  desc("task_done", "What a task that runs has done, in its unit.", "task", "unit"),
		taskTotal: desc("task_total", "What a task that runs has to do, in its unit; absent where that is not known.", "task", "unit"),

		operations: measured("operations_total", "Batches and queries by how they ended, without burn-in.", "outcome"),
		rows:       measured("rows_total", "Rows that were accepted, or that answers had."),
		bytes:      measured("bytes_total", "Bytes of batches that were handed over, or of answers; 0 where nobody counts them."),
		durations:  measured("operation_duration_seconds", "Time of batches and queries that ended well; in an open loop from when a query was due."),

		cpu:         desc("resource_cpu_seconds_total", "Seconds of all cores at work, since the source was first read.", "source"),
		memory:      desc("resource_memory_bytes", "Memory in use on a host, resident of processes.", "source"),
		diskRead:    desc("resource_disk_read_bytes_total", "Bytes read from disks, since the source was first read.", "source"),
		diskWritten: desc("resource_disk_written_bytes_total", "Bytes written to disks, since the source was first read.", "source"),
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.info, m.over, m.step, m.steps, m.left, m.taskDone, m.taskTotal,
		m.operations, m.rows, m.bytes, m.durations, m.cpu, m.memory, m.diskRead, m.diskWritten,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	now := m.run.now(time.Now())
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, valid(labels)...)
	}
	if now.Run != "" {
		gauge(m.info, 1, now.Run, now.Name, now.Command, now.Workload)
	}
	over := 0.0
	if now.Over != nil {
		over = 1
	}
	gauge(m.over, over)
	s := &now.Progress
	if s.Steps > 0 {
		gauge(m.step, float64(s.Step))
		gauge(m.steps, float64(s.Steps))
	}
	if s.Left > 0 {
		bound := "about"
		if s.More {
			bound = "least"
		}
		gauge(m.left, s.Left.Seconds(), bound)
	}
	tasks := make(map[[2]string]bool) // two of a name would make the answer invalid
	for _, t := range s.Running {
		if name := [2]string{t.Label, t.Unit}; t.Unit != "" && !tasks[name] {
			tasks[name] = true
			gauge(m.taskDone, float64(t.Done), t.Label, t.Unit)
			if t.Total > 0 {
				gauge(m.taskTotal, float64(t.Total), t.Label, t.Unit)
			}
		}
	}
	for _, of := range m.run.copyMeasured() {
		m.collect(of, to)
	}
	m.resources(now, to)
}

// copyMeasured returns a copy of the measurements for metrics, without their times, which
// the metrics have in buckets.
func (r *Run) copyMeasured() []measured {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]measured, 0, len(r.measured))
	for _, m := range r.byRecency() {
		list = append(list, *m)
		last := &list[len(list)-1]
		last.times, last.target = nil, r.label(m.target)
	}
	return list
}

// collect collects the measurements of one group of operations.
func (m *metrics) collect(of measured, to chan<- prometheus.Metric) {
	labels := valid([]string{string(of.kind), of.target, of.of, of.part})
	for o, n := range of.outcomes {
		if n > 0 {
			to <- prometheus.MustNewConstMetric(m.operations, prometheus.CounterValue, float64(n), append(labels, oplog.Outcome(o).String())...)
		}
	}
	to <- prometheus.MustNewConstMetric(m.rows, prometheus.CounterValue, float64(of.rows), labels...)
	to <- prometheus.MustNewConstMetric(m.bytes, prometheus.CounterValue, float64(of.bytes), labels...)
	bounds, sum := make(map[float64]uint64, buckets-1), uint64(0)
	for i, n := range of.buckets {
		sum += uint64(n)
		if i < buckets-1 {
			bounds[float64(int64(1)<<(lowest+i))*time.Microsecond.Seconds()] = sum
		}
	}
	to <- prometheus.MustNewConstHistogram(m.durations, sum, of.total.Seconds(), bounds, labels...)
}

// resources collects the newest reading of each source.
func (m *metrics) resources(now *page.State, to chan<- prometheus.Metric) {
	seen := make(map[string]bool) // of two of a name the first counts
	for i := range now.Resources {
		s := &now.Resources[i]
		if seen[s.Source] {
			continue
		}
		seen[s.Source] = true
		for _, f := range []struct {
			desc    *prometheus.Desc
			kind    prometheus.ValueType
			metrics []result.Metric // the first that the source has
		}{
			{m.cpu, prometheus.CounterValue, []result.Metric{result.CPU}},
			{m.memory, prometheus.GaugeValue, []result.Metric{result.MemoryUsed, result.RSS}},
			{m.diskRead, prometheus.CounterValue, []result.Metric{result.DiskRead}},
			{m.diskWritten, prometheus.CounterValue, []result.Metric{result.DiskWritten}},
		} {
			for _, name := range f.metrics {
				if column := s.Metrics[name]; len(column) > 0 && column[len(column)-1].IsKnown() {
					to <- prometheus.MustNewConstMetric(f.desc, f.kind, float64(column[len(column)-1]), valid([]string{s.Source})...)
					break
				}
			}
		}
	}
}

// valid returns labels as Prometheus takes them.
func valid(labels []string) []string {
	for i, l := range labels {
		labels[i] = strings.ToValidUTF8(l, "?")
	}
	return labels[:len(labels):len(labels)]
}
