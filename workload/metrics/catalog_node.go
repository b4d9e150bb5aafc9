package metrics

// nodeMetrics returns metrics as node_exporter has them.
func nodeMetrics() []section {
	cpu := sequence("cpu", "", 0)
	mode := is("mode", "idle iowait irq nice softirq steal system user")
	disk := is("device", "nvme0n1 nvme1n1 nvme2n1 dm-0")
	net := is("device", "lo eth0 eth1 cni0 veth0a veth0b")
	mount := rows("device fstype mountpoint",
		"/dev/nvme0n1p1 ext4 /", "/dev/nvme0n1p2 vfat /boot/efi", "/dev/nvme1n1 xfs /var/lib/containerd",
		"/dev/nvme2n1 xfs /var/lib/kubelet", "tmpfs tmpfs /run", "tmpfs tmpfs /run/lock")
	collector := is("collector", "arp cpu cpufreq diskstats entropy filefd filesystem hwmon loadavg meminfo netclass netdev netstat "+
		"nfs os pressure schedstat sockstat softnet stat time timex udp_queues uname vmstat xfs")
	chip := is("sensor", "temp1 temp2 temp3 temp4 temp5 temp6 temp7 temp8")
	memory := func(name string, level float64) entry {
		return entry{"node_memory_" + name + "_bytes", noisyGauge, level, pages, "Memory information field " + name, nil}
	}
	fixed := func(name string, class class, level float64) entry {
		return entry{"node_memory_" + name + "_bytes", class, level, pages, "Memory information field " + name, nil}
	}
	stat := func(name, help string, rate float64) entry {
		return entry{"node_netstat_" + name, busyCounter, rate, whole, help, nil}
	}
	return []section{{jobs: []job{node}, entries: []entry{
		{"node_cpu_seconds_total", busyCounter, 0.1, cents, "Seconds the CPUs spent in each mode", dims(cpu, mode)},
		{"node_cpu_scaling_frequency_hertz", noisyGauge, 2.4e9, pages, "Current scaled frequency of a CPU", dims(cpu)},
		{"node_schedstat_running_seconds_total", busyCounter, 0.3, nanos, "Seconds a CPU spent running a process", dims(cpu)},
		{"node_schedstat_waiting_seconds_total", busyCounter, 0.02, nanos, "Seconds spent by processes waiting for a CPU", dims(cpu)},
		{"node_schedstat_timeslices_total", busyCounter, 900, whole, "Number of time slices of a CPU", dims(cpu)},
		{"node_softnet_processed_total", busyCounter, 400, whole, "Number of packets processed by a CPU", dims(cpu)},
		{"node_softnet_dropped_total", sparseCounter, 0.0004, whole, "Number of packets dropped by a CPU", dims(cpu)},
		{"node_load1", limitedGauge, 3, cents, "Load average of one minute", nil},
		{"node_load5", limitedGauge, 3, cents, "Load average of five minutes", nil},
		{"node_load15", limitedGauge, 3, cents, "Load average of fifteen minutes", nil},
		fixed("MemTotal", constant, 1<<34), memory("MemFree", 2e9), memory("MemAvailable", 6e9), memory("Buffers", 4e8), memory("Cached", 6e9),
		memory("Active", 5e9), memory("Inactive", 4e9), memory("AnonPages", 4e9), memory("Slab", 7e8),
		memory("SReclaimable", 5e8), fixed("SUnreclaim", slowGauge, 2e8), memory("Dirty", 2e6),
		fixed("Shmem", slowGauge, 9e7), fixed("SwapTotal", constant, 1<<31),
		fixed("SwapFree", slowGauge, 1.9e9),
		{"node_vmstat_pgfault", busyCounter, 9000, whole, "Field pgfault of /proc/vmstat", nil},
		{"node_vmstat_pgmajfault", sparseCounter, 0.03, whole, "Field pgmajfault of /proc/vmstat", nil},
		{"node_vmstat_pgpgout", busyCounter, 2500, whole, "Field pgpgout of /proc/vmstat", nil},
		{"node_vmstat_oom_kill", sparseCounter, 0.00005, whole, "Field oom_kill of /proc/vmstat", nil},
		{"node_context_switches_total", busyCounter, 22000, whole, "Number of context switches", nil},
		{"node_intr_total", busyCounter, 14000, whole, "Number of interrupts serviced", nil},
		{"node_forks_total", busyCounter, 14, whole, "Number of forks", nil},
		{"node_procs_running", noisyGauge, 5, whole, "Number of runnable processes", nil},
		{"node_procs_blocked", limitedGauge, 1, whole, "Number of processes blocked by input and output", nil},
		{"node_boot_time_seconds", beganAt, 0, whole, "Time at which the node was booted", nil},
		{"node_filefd_allocated", noisyGauge, 4000, whole, "Number of allocated file descriptors", nil},
		{"node_arp_entries", slowGauge, 40, whole, "Number of ARP entries of a device", dims(net)},
		{"node_disk_reads_completed_total", busyCounter, 12, whole, "Number of completed reads", dims(disk)},
		{"node_disk_writes_completed_total", busyCounter, 60, whole, "Number of completed writes", dims(disk)},
		{"node_disk_writes_merged_total", busyCounter, 20, whole, "Number of merged writes", dims(disk)},
		{"node_disk_read_bytes_total", busyCounter, 4e5, pages, "Number of bytes read", dims(disk)},
		{"node_disk_written_bytes_total", busyCounter, 2e6, pages, "Number of bytes written", dims(disk)},
		{"node_disk_read_time_seconds_total", busyCounter, 0.01, millis, "Seconds spent by reads", dims(disk)},
		{"node_disk_write_time_seconds_total", busyCounter, 0.07, millis, "Seconds spent by writes", dims(disk)},
		{"node_disk_io_time_seconds_total", busyCounter, 0.05, millis, "Seconds spent by input and output", dims(disk)},
		{"node_disk_io_time_weighted_seconds_total", busyCounter, 0.08, millis, "Weighted seconds spent by input and output", dims(disk)},
		{"node_disk_io_now", limitedGauge, 1, whole, "Number of operations in progress", dims(disk)},
		{"node_filesystem_size_bytes", constant, 1 << 36, pages, "Size of a file system", dims(mount)},
		{"node_filesystem_free_bytes", noisyGauge, 2.4e10, pages, "Free space of a file system", dims(mount)},
		{"node_filesystem_avail_bytes", noisyGauge, 2e10, pages, "Space available to users other than root", dims(mount)},
		{"node_filesystem_files", constant, 1 << 22, whole, "Number of inodes of a file system", dims(mount)},
		{"node_filesystem_files_free", slowGauge, 4e6, whole, "Number of free inodes of a file system", dims(mount)},
		{"node_filesystem_readonly", constant, 0, whole, "Whether a file system is read-only", dims(mount)},
		{"node_network_receive_bytes_total", busyCounter, 3e5, whole, "Number of bytes received", dims(net)},
		{"node_network_transmit_bytes_total", busyCounter, 4e5, whole, "Number of bytes sent", dims(net)},
		{"node_network_receive_packets_total", busyCounter, 500, whole, "Number of packets received", dims(net)},
		{"node_network_transmit_packets_total", busyCounter, 600, whole, "Number of packets sent", dims(net)},
		{"node_network_receive_errs_total", sparseCounter, 0.0002, whole, "Number of errors while receiving", dims(net)},
		{"node_network_transmit_errs_total", sparseCounter, 0.0001, whole, "Number of errors while sending", dims(net)},
		{"node_network_receive_drop_total", sparseCounter, 0.004, whole, "Number of received packets dropped", dims(net)},
		{"node_network_transmit_drop_total", sparseCounter, 0.0004, whole, "Number of sent packets dropped", dims(net)},
		{"node_network_up", state, 0, whole, "Whether a device is up", dims(net)},
		{"node_network_mtu_bytes", constant, 1500, whole, "Largest packet of a device", dims(net)},
		stat("Tcp_InSegs", "Statistic TcpInSegs", 900), stat("Tcp_OutSegs", "Statistic TcpOutSegs", 1100), stat("Tcp_RetransSegs", "Statistic TcpRetransSegs", 2),
		stat("Tcp_ActiveOpens", "Statistic TcpActiveOpens", 12), stat("Tcp_PassiveOpens", "Statistic TcpPassiveOpens", 9),
		stat("Udp_InDatagrams", "Statistic UdpInDatagrams", 60), stat("Udp_OutDatagrams", "Statistic UdpOutDatagrams", 60),
		stat("IpExt_InOctets", "Statistic IpExtInOctets", 7e5), stat("IpExt_OutOctets", "Statistic IpExtOutOctets", 8e5),
		{"node_netstat_Tcp_CurrEstab", noisyGauge, 140, whole, "Statistic TcpCurrEstab", nil},
		{"node_sockstat_TCP_inuse", noisyGauge, 150, whole, "Number of TCP sockets in use", nil},
		{"node_sockstat_TCP_tw", noisyGauge, 90, whole, "Number of TCP sockets in state TIME_WAIT", nil},
		{"node_sockstat_sockets_used", noisyGauge, 700, whole, "Number of sockets in use", nil},
		{"node_nf_conntrack_entries", noisyGauge, 3000, whole, "Number of connections tracked", nil},
		{"node_nf_conntrack_entries_limit", constant, 1 << 18, whole, "Maximum number of connections tracked", nil},
		{"node_pressure_cpu_waiting_seconds_total", busyCounter, 0.02, nanos, "Seconds that processes waited for a CPU", nil},
		{"node_pressure_memory_waiting_seconds_total", sparseCounter, 0.01, nanos, "Seconds that processes waited for memory", nil},
		{"node_hwmon_temp_celsius", limitedGauge, 45, tenths, "Temperature of a sensor", dims(rows("chip", "platform_coretemp_0"), chip)},
		{"node_timex_offset_seconds", noisyGauge, 1e-5, nanos, "Offset between the local clock and its reference", nil},
		{"node_timex_sync_status", state, 0, whole, "Whether the clock is synchronized", nil},
		{"node_scrape_collector_duration_seconds", noisyGauge, 0.002, nanos, "Duration of a collector", dims(collector)},
		{"node_scrape_collector_success", state, 0, whole, "Whether a collector succeeded", dims(collector)},
		{"node_uname_info", info, 0, whole, "Labels of the operating system", dims(rows("domainname machine release sysname", "none x86_64 6.12.48-amd64 Linux"))},
		{"node_os_info", info, 0, whole, "Labels of the distribution", dims(rows("name version_id", "debian 13"))},
		{"node_exporter_build_info", info, 0, whole, "Labels of the build of the exporter", dims(rows("goversion revision version", "go1.25.3 7a2f3ad1 1.10.2"))},
	}}}
}
