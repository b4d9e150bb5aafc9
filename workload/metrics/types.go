package metrics

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/query"
)

// The metrics that queries name.
const (
	cpuSeconds      = "node_cpu_seconds_total"
	memoryAvailable = "node_memory_MemAvailable_bytes"
	diskAvailable   = "node_filesystem_avail_bytes"
	diskSize        = "node_filesystem_size_bytes"
	receivedBytes   = "node_network_receive_bytes_total"
	containerCPU    = "container_cpu_usage_seconds_total"
	containerMemory = "container_memory_working_set_bytes"
	podInfo         = "kube_pod_info"
	podPhase        = "kube_pod_status_phase"
	podRestarts     = "kube_pod_container_status_restarts_total"
	replicasWanted  = "kube_deployment_spec_replicas"
	replicasReady   = "kube_deployment_status_replicas_available"
	requests        = "http_requests_total"
	workerTasks     = "worker_tasks_total"
	durationBuckets = "http_request_duration_seconds_bucket"
	durationCount   = "http_request_duration_seconds_count"
	durationSum     = "http_request_duration_seconds_sum"
	durationNative  = "http_server_request_duration_seconds"
	targetUp        = "up"
)

// instantSuffix ends the names of the instant forms of queries.
const instantSuffix = "-instant"

// panels are queries of dashboards. Each is drawn as a graph, and with instantSuffix for one time, as
// tables and single figures of dashboards show it.
func panels() []queryType {
	return []queryType{
		{
			name: "request-rate", core: true, help: "requests per second of a namespace by status code", metrics: []string{requests},
			expression: func(d *draw) query.PromQL {
				return overTime(query.Over{Metric: requests, Match: d.equal(requests, "namespace"), Func: "rate", Range: d.rateRange(), Aggregate: "sum", By: []string{"code"}})
			},
		},
		{
			name: "cpu-by-mode", help: "CPU seconds per second of a node by mode", metrics: []string{cpuSeconds},
			expression: func(d *draw) query.PromQL {
				return overTime(query.Over{Metric: cpuSeconds, Match: d.equal(cpuSeconds, "instance"), Func: "rate", Range: d.rateRange(), Aggregate: "sum", By: []string{"mode"}})
			},
		},
		{
			name: "cpu-use", help: "share of CPU in use of all nodes, by node", metrics: []string{cpuSeconds},
			expression: func(d *draw) query.PromQL {
				return promql(`1 - avg by (instance) (rate(%s{mode="idle"}[%s]))`, cpuSeconds, d.rateText())
			},
		},
		{
			name: "traffic", help: "bytes received per second of all nodes, added up without their devices", metrics: []string{receivedBytes},
			expression: func(d *draw) query.PromQL {
				return promql(`sum without (device) (rate(%s{device!="lo"}[%s]))`, receivedBytes, d.rateText())
			},
		},
		{
			name: "increase", help: "increase over 10 min or 1 h of counters of a pod that begin again at 0", metrics: []string{workerTasks},
			expression: func(d *draw) query.PromQL {
				return overTime(query.Over{Metric: workerTasks, Match: d.equal(workerTasks, "instance"), Func: "increase", Range: one(d, 10*time.Minute, time.Hour)})
			},
		},
		{
			name: "top-cpu", help: "the 5 namespaces that use most CPU", metrics: []string{containerCPU},
			expression: func(d *draw) query.PromQL {
				return overTime(query.Over{Metric: containerCPU, Func: "rate", Range: d.rateRange(), Aggregate: "sum", By: []string{"namespace"}, Top: 5})
			},
		},
		{
			name: "latency", core: true, help: "a quantile of the durations of a namespace's requests, by route, of classic histograms", metrics: []string{durationBuckets},
			expression: func(d *draw) query.PromQL {
				return promql(`histogram_quantile(%v, sum by (le, route) (rate(%s{namespace=%q}[%s])))`,
					one(d, 0.5, 0.9, 0.95, 0.99), durationBuckets, d.value(durationBuckets, "namespace"), d.rateText())
			},
		},
		{
			name: "latency-native", core: true, help: "as latency, of native histograms", metrics: []string{durationNative},
			expression: func(d *draw) query.PromQL {
				return promql(`histogram_quantile(%v, sum by (route) (rate(%s{namespace=%q}[%s])))`,
					one(d, 0.5, 0.9, 0.95, 0.99), durationNative, d.value(durationNative, "namespace"), d.rateText())
			},
		},
		{
			name: "latency-mean", help: "the mean duration of a namespace's requests", metrics: []string{durationSum, durationCount},
			expression: func(d *draw) query.PromQL {
				namespace, length := d.value(durationCount, "namespace"), d.rateText()
				return promql(`sum(rate(%s{namespace=%q}[%s])) / sum(rate(%s{namespace=%[2]q}[%[3]s]))`, durationSum, namespace, length, durationCount)
			},
		},
		{
			name: "memory", core: true, help: "the mean, largest or least available memory of a node over 10 min or 30 min", metrics: []string{memoryAvailable},
			expression: func(d *draw) query.PromQL {
				return overTime(query.Over{Metric: memoryAvailable, Match: d.equal(memoryAvailable, "instance"),
					Func: one(d, "avg", "max", "min"), Range: one(d, 10*time.Minute, 30*time.Minute)})
			},
		},
		{
			name: "memory-by-namespace", core: true, help: "memory of all containers, added up by namespace", metrics: []string{containerMemory},
			expression: func(d *draw) query.PromQL {
				return overTime(query.Over{Metric: containerMemory, Func: query.OverValue, Range: query.Lookback, Aggregate: "sum", By: []string{"namespace"}})
			},
		},
		{
			name: "cpu-by-node", core: true, help: "CPU of a namespace's containers, joined with their pods' nodes", metrics: []string{containerCPU, podInfo},
			expression: func(d *draw) query.PromQL {
				return promql(`sum by (node) (sum by (namespace, pod) (rate(%s{namespace=%q}[%s])) * on (namespace, pod) group_left (node) max by (namespace, pod, node) (%s))`,
					containerCPU, d.value(containerCPU, "namespace"), d.rateText(), podInfo)
			},
		},
		{
			name: "offset", help: "requests per second divided by those of 15 min or 1 h before, by job", metrics: []string{requests},
			expression: func(d *draw) query.PromQL {
				length := d.rateText()
				return promql(`sum by (job) (rate(%s[%s])) / sum by (job) (rate(%[1]s[%[2]s] offset %s))`, requests, length, one(d, "15m", "1h"))
			},
		},
		{
			name: "subquery", help: "the highest request rate of 30 min, by job, evaluated every minute", metrics: []string{requests},
			expression: func(d *draw) query.PromQL {
				return promql(`max_over_time(sum by (job) (rate(%s[%s]))[30m:1m])`, requests, query.PromDuration(max(ruleRange, 4*d.interval)))
			},
		},
		{
			name: "series", help: "series of a metric, counted by job or namespace", metrics: []string{podPhase, requests},
			expression: func(d *draw) query.PromQL {
				metric := one(d, podPhase, requests)
				return overTime(query.Over{Metric: metric, Func: query.OverValue, Range: query.Lookback, Aggregate: "count", By: []string{one(d, "job", "namespace")}})
			},
		},
		{
			name: "busy", help: "containers that use more than a share of a CPU", metrics: []string{containerCPU},
			expression: func(d *draw) query.PromQL {
				above := one(d, 0.25, 0.5, 1)
				return overTime(query.Over{Metric: containerCPU, Func: "rate", Range: d.rateRange(), Aggregate: "sum", By: []string{"namespace", "pod"}, Above: &above})
			},
		},
	}
}

// rules are alert and recording rules that users of Kubernetes evaluate, one time after the other.
func rules() []queryType {
	return []queryType{
		{
			name: "alert-down", help: "jobs with more than a tenth of the targets down", metrics: []string{targetUp},
			expression: func(d *draw) query.PromQL {
				return promql(`count by (job) (%s == 0) / count by (job) (%[1]s) > 0.1`, targetUp)
			},
		},
		{
			name: "alert-absent", help: "whether all targets of a job are missing", metrics: []string{targetUp},
			expression: func(d *draw) query.PromQL {
				return promql(`absent(%s{job=%q} == 1)`, targetUp, one(d, d.value(targetUp, "job"), "no-such-job"))
			},
		},
		{
			name: "alert-errors", core: true, help: "jobs whose requests fail too often for an objective of 99 % or 99.9 %, over 5 min and over 1 h", metrics: []string{requests},
			expression: func(d *draw) query.PromQL {
				failing := func(length string) string {
					return fmt.Sprintf(`sum by (job) (rate(%s{code=~"5.."}[%s])) / sum by (job) (rate(%[1]s[%[2]s]))`, requests, length)
				}
				bound := one(d, "0.144", "0.0144")
				return promql(`(%s > %s) and (%s > %[2]s)`, failing("1h"), bound, failing(query.PromDuration(max(ruleRange, 4*d.interval))))
			},
		},
		{
			name: "alert-disk-full", help: "file systems that are full in 4 h or 24 h at the rate of the last hour", metrics: []string{diskAvailable, diskSize},
			expression: func(d *draw) query.PromQL {
				return promql(`(%s{fstype!~"tmpfs|ramfs"} / %s < 0.4) and predict_linear(%[1]s{fstype!~"tmpfs|ramfs"}[1h], %[3]d) < 0`,
					diskAvailable, diskSize, one(d, 4*3600, 24*3600))
			},
		},
		{
			name: "alert-restarts", help: "containers that restarted within 15 min or 1 h", metrics: []string{podRestarts},
			expression: func(d *draw) query.PromQL {
				none := 0.0
				return overTime(query.Over{Metric: podRestarts, Func: "increase", Range: one(d, 15*time.Minute, time.Hour), Above: &none})
			},
		},
		{
			name: "alert-replicas", help: "deployments that lack replicas, and had the same number of them for 10 min", metrics: []string{replicasWanted, replicasReady},
			expression: func(d *draw) query.PromQL {
				return promql(`(%s > %s) and (changes(%[2]s[10m]) == 0)`, replicasWanted, replicasReady)
			},
		},
		{
			name: "alert-pods", help: "pods that are neither running nor finished, by namespace", metrics: []string{podPhase},
			expression: func(d *draw) query.PromQL {
				none := 0.0
				return overTime(query.Over{Metric: podPhase, Match: []query.Matcher{{Label: "phase", Op: "=~", Value: "Pending|Unknown|Failed"}},
					Func: query.OverValue, Range: query.Lookback, Aggregate: "sum", By: []string{"namespace"}, Above: &none})
			},
		},
		{
			name: "record-cpu", help: "CPU of all containers over 5 min, by namespace and pod", metrics: []string{containerCPU},
			expression: func(d *draw) query.PromQL {
				return overTime(query.Over{Metric: containerCPU, Func: "rate", Range: d.rateRange(), Aggregate: "sum", By: []string{"namespace", "pod"}})
			},
		},
		{
			name: "record-latency", help: "the 99th percentile of the durations of all requests over 5 min, by job", metrics: []string{durationBuckets},
			expression: func(d *draw) query.PromQL {
				return promql(`histogram_quantile(0.99, sum by (job, le) (rate(%s[%s])))`, durationBuckets, d.rateText())
			},
		},
	}
}

// overTime returns the shape of a function over time.
func overTime(o query.Over) query.PromQL { return query.PromQL{Expr: o.PromQL(), Over: &o} }

// promql returns the shape of an expression without a query.Over.
func promql(format string, args ...any) query.PromQL {
	return query.PromQL{Expr: fmt.Sprintf(format, args...)}
}
