package monitor

import "github.com/tsmark/tsmark/result"

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
			network.interfaceNamed(s.label("device")).received = s.value
		case "node_network_transmit_bytes_total":
			network.interfaceNamed(s.label("device")).sent = s.value
		}
	}
	r.Cores = len(cpus)
	memory.store(v)
	whole := map[string]bool{}
	for _, name := range wholeDisks(disks) {
		whole[name] = true
	}
	names := nodeDiskMetrics()
	for _, s := range samples {
		m, ok := names[s.name]
		if !ok {
			continue
		}
		name := s.label("device")
		if whole[name] {
			v[m.all] += s.value
		}
		if name == device && device != "" {
			v[m.device], r.Device = s.value, device
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

// interfaces holds the traffic of each network interface.
type interfaces map[string]*carried

type carried struct{ received, sent float64 }

func (i interfaces) interfaceNamed(name string) *carried {
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

// diskMetrics are the metrics of all disks and of the database's one.
type diskMetrics struct{ all, device result.Metric }

// nodeDiskMetrics maps node_exporter's counters of disks.
func nodeDiskMetrics() map[string]diskMetrics {
	return map[string]diskMetrics{
		"node_disk_read_bytes_total":       {result.DiskRead, result.DeviceRead},
		"node_disk_written_bytes_total":    {result.DiskWritten, result.DeviceWritten},
		"node_disk_reads_completed_total":  {result.DiskReads, result.DeviceReads},
		"node_disk_writes_completed_total": {result.DiskWrites, result.DeviceWrites},
	}
}

// processMetrics maps the metric names of Prometheus's client libraries for their process, and
// VictoriaMetrics' additions.
func processMetrics() map[string]result.Metric {
	return map[string]result.Metric{
		"process_cpu_seconds_total":              result.CPU,
		"process_cpu_seconds_user_total":         result.CPUUser,
		"process_cpu_seconds_system_total":       result.CPUSystem,
		"process_resident_memory_bytes":          result.RSS,
		"process_open_fds":                       result.OpenFiles,
		"process_num_threads":                    result.Threads,
		"process_io_storage_read_bytes_total":    result.DiskRead,
		"process_io_storage_written_bytes_total": result.DiskWritten,
		"process_network_receive_bytes_total":    result.NetReceived,
		"process_network_transmit_bytes_total":   result.NetSent,
	}
}

// readProcessMetrics maps the metrics that a server reports about its own process.
func readProcessMetrics(samples []sample) Reading {
	r := Reading{Values: map[result.Metric]float64{}}
	names := processMetrics()
	for _, s := range samples {
		switch s.name {
		case "process_start_time_seconds":
			r.Incarnation = s.value
		case "go_sched_gomaxprocs_threads", "process_cpu_cores_available":
			r.Cores = int(s.value)
		}
		if m, ok := names[s.name]; ok {
			r.Values[m] = s.value
		}
	}
	return r
}
