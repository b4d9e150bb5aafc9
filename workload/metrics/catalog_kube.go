package metrics

// filler returns the dimension of the pods that are not applications, whose number grows with
// metrics.series.
func filler() *dimension { return &dimension{filler: true} }

// kubeMetrics returns metrics as kube-state-metrics has them. It is a StatefulSet with a share of the
// cluster's objects for each of its pods.
func kubeMetrics() []section {
	only := []job{kube}
	one := func(name, help string) entry { return entry{name, constant, 1, whole, help, nil} }
	resource := rows("resource unit", "cpu core", "memory byte", "pods integer", "ephemeral_storage byte")
	demand := rows("resource unit", "cpu core", "memory byte")
	condition := states("condition", "true false unknown")
	claims := sequence("persistentvolumeclaim", "data-", 8)
	sets := rows("namespace statefulset", "data postgres", "data kafka", "data redis", "platform prometheus", "platform loki")
	daemons := rows("namespace daemonset", "monitoring node-exporter", "kube-system cni", "kube-system kube-proxy", "logging vector")
	services := sequence("service", "service-", 20)
	pods := []entry{
		{"kube_pod_info", info, 0, whole, "Information about a pod", nil},
		{"kube_pod_created", beganAt, 0, whole, "Time of creation", nil},
		{"kube_pod_start_time_seconds", beganAt, 0, whole, "Start time of a pod", nil},
		{"kube_pod_status_phase", state, 0, whole, "Current phase of a pod", dims(states("phase", "Running Pending Succeeded Failed Unknown"))},
		{"kube_pod_status_ready", state, 0, whole, "Whether a pod can serve requests", dims(condition)},
		{"kube_pod_status_scheduled", state, 0, whole, "Whether a pod is scheduled", dims(condition)},
		{"kube_pod_status_qos_class", state, 0, whole, "Quality of service of a pod", dims(states("qos_class", "Burstable Guaranteed BestEffort"))},
		one("kube_pod_restart_policy", "Restart policy of a pod"),
		{"kube_pod_labels_info", info, 0, whole, "Kubernetes labels of a pod", nil},
		{"kube_pod_owner_info", info, 0, whole, "Owner of a pod", nil},
	}
	containers := []entry{
		{"kube_pod_container_info", info, 0, whole, "Information about a container", nil},
		{"kube_pod_container_state_started_seconds", beganAt, 0, whole, "Start time of a container", nil},
		{"kube_pod_container_status_ready", state, 0, whole, "Whether the readiness check of a container succeeds", nil},
		{"kube_pod_container_status_running", state, 0, whole, "Whether a container runs", nil},
		{"kube_pod_container_status_restarts_total", sparseCounter, 2e-5, whole, "Number of restarts of a container", nil},
		{"kube_pod_container_status_waiting_reason", constant, 0, whole, "Why a container waits", dims(is("reason", "CrashLoopBackOff ImagePullBackOff"))},
		{"kube_pod_container_resource_requests", constant, 1 << 28, pages, "Requested resources of a container", dims(demand)},
		{"kube_pod_container_resource_limits", constant, 1 << 29, pages, "Limits of the resources of a container", dims(demand)},
	}
	return []section{
		{jobs: only, entity: ofPod, keys: "namespace pod uid node host_ip pod_ip created_by_kind created_by_name", entries: pods[:1], filler: filler()},
		{jobs: only, entity: ofPod, keys: "namespace pod uid", entries: pods[1:8], filler: filler()},
		{jobs: only, entity: ofPod, keys: "namespace pod uid label_app label_version", entries: pods[8:9], filler: filler()},
		{jobs: only, entity: ofPod, keys: "namespace pod uid owner_kind owner_name", entries: pods[9:], filler: filler()},
		{jobs: only, entity: ofPod, keys: "namespace pod uid container image", entries: containers[:1], filler: filler()},
		{jobs: only, entity: ofPod, keys: "namespace pod uid container", entries: containers[1:], filler: filler()},
		{jobs: only, entity: ofNode, keys: "node", entries: []entry{
			{"kube_node_info", info, 0, whole, "Information about a node", dims(rows("container_runtime_version kernel_version kubelet_version os_image", "containerd://2.1.5 6.12.48-amd64 v1.34.2 Debian-13"))},
			{"kube_node_created", beganAt, 0, whole, "Time of creation", nil},
			{"kube_node_spec_unschedulable", constant, 0, whole, "Whether a node takes no new pods", nil},
			{"kube_node_status_condition", state, 0, whole, "Condition of a node", dims(rows("condition", "Ready", "NetworkAvailable"), states("status", "true false unknown"))},
			{"kube_node_status_allocatable", constant, 1 << 34, pages, "Resources for pods", dims(resource)},
			{"kube_node_status_capacity", constant, 1 << 35, pages, "Resources of a node", dims(resource)},
		}},
		{jobs: only, entity: ofDeployment, keys: "namespace deployment", entries: []entry{
			{"kube_deployment_created", beganAt, 0, whole, "Time of creation", nil},
			{"kube_deployment_spec_replicas", constant, podsPerDeployment, whole, "Number of desired pods", nil},
			{"kube_deployment_status_replicas_available", slowGauge, podsPerDeployment, whole, "Number of available pods", nil},
			{"kube_deployment_status_replicas_updated", slowGauge, podsPerDeployment, whole, "Number of updated pods", nil},
			{"kube_deployment_status_observed_generation", sparseCounter, 1e-5, whole, "Generation that the controller observed", nil},
			{"kube_deployment_status_condition", state, 0, whole, "Condition of a deployment", dims(is("condition", "Available Progressing"), states("status", "true false unknown"))},
		}},
		{jobs: only, entries: []entry{
			{"kube_statefulset_replicas", constant, 3, whole, "Number of desired pods", dims(sets)},
			{"kube_statefulset_status_replicas_ready", limitedGauge, 3, whole, "Number of ready pods", dims(sets)},
			{"kube_daemonset_status_desired_number_scheduled", slowGauge, 30, whole, "Number of nodes that should run a pod", dims(daemons)},
			{"kube_daemonset_status_number_ready", slowGauge, 30, whole, "Number of nodes with a ready pod", dims(daemons)},
			{"kube_persistentvolumeclaim_status_phase", state, 0, whole, "Phase of a claim", dims(rows("namespace", "data"), claims, states("phase", "Bound Pending Lost"))},
			{"kube_persistentvolumeclaim_resource_requests_storage_bytes", constant, 1 << 36, pages, "Storage of a claim", dims(rows("namespace", "data"), claims)},
			{"kube_service_info", info, 0, whole, "Information about a service", dims(rows("namespace", "shop"), services)},
			{"kube_configmap_info", info, 0, whole, "Information about a config map", dims(rows("namespace", "shop"), sequence("configmap", "config-", 30))},
			{"kube_namespace_status_phase", state, 0, whole, "Phase of a namespace", dims(is("namespace", "shop payments platform data monitoring"), states("phase", "Active Terminating"))},
			{"kube_job_complete", state, 0, whole, "Whether a job is complete", dims(rows("namespace", "data"), sequence("job_name", "backup-", 8), states("condition", "true false unknown"))},
			{"kube_horizontalpodautoscaler_status_current_replicas", slowGauge, 6, whole, "Number of pods of an autoscaler", dims(rows("namespace", "shop"), sequence("horizontalpodautoscaler", "service-", 8))},
		}},
	}
}

// containerMetrics returns metrics of the kubelet and of cAdvisor.
func containerMetrics() []section {
	only := []job{kubelet}
	failure := rows("failure_type scope", "pgfault container", "pgfault hierarchy", "pgmajfault container", "pgmajfault hierarchy")
	net := rows("interface", "eth0")
	bytes := func(name string, level float64, help string) entry {
		return entry{"container_memory_" + name, noisyGauge, level, pages, help, nil}
	}
	return []section{
		{jobs: only, entity: ofPod, keys: "namespace pod container image uid", filler: filler(), entries: []entry{
			{"container_cpu_usage_seconds_total", busyCounter, 0.15, nanos, "CPU time", nil},
			{"container_cpu_user_seconds_total", busyCounter, 0.1, nanos, "CPU time of the user", nil},
			{"container_cpu_system_seconds_total", busyCounter, 0.04, nanos, "CPU time of the system", nil},
			{"container_cpu_cfs_periods_total", busyCounter, 9, whole, "Number of elapsed enforcement periods", nil},
			{"container_cpu_cfs_throttled_periods_total", sparseCounter, 0.03, whole, "Number of throttled periods", nil},
			{"container_cpu_cfs_throttled_seconds_total", sparseCounter, 0.004, nanos, "Time for which the container was throttled", nil},
			bytes("working_set_bytes", 1.5e8, "Current working set"), bytes("rss", 1e8, "Size of RSS"), bytes("cache", 4e7, "Size of the page cache"),
			bytes("usage_bytes", 1.8e8, "Current memory usage"), bytes("mapped_file", 2e7, "Size of memory mapped files"),
			{"container_memory_max_usage_bytes", slowGauge, 2.5e8, pages, "Maximum memory usage", nil},
			{"container_memory_swap", constant, 0, whole, "Swap usage", nil},
			{"container_memory_failures_total", busyCounter, 3, whole, "Number of failed allocations", dims(failure)},
			{"container_fs_reads_total", sparseCounter, 0.04, whole, "Number of completed reads", nil},
			{"container_fs_writes_total", busyCounter, 1, whole, "Number of completed writes", nil},
			{"container_fs_reads_bytes_total", sparseCounter, 0.03, pages, "Number of bytes read", nil},
			{"container_fs_writes_bytes_total", busyCounter, 9000, pages, "Number of bytes written", nil},
			{"container_processes", slowGauge, 3, whole, "Number of processes", nil},
			{"container_threads", slowGauge, 14, whole, "Number of threads", nil},
			{"container_sockets", noisyGauge, 30, whole, "Number of open sockets", nil},
			{"container_file_descriptors", noisyGauge, 40, whole, "Number of open file descriptors", nil},
			{"container_oom_events_total", sparseCounter, 1e-6, whole, "Number of times that memory ran out", nil},
			{"container_start_time_seconds", beganAt, 0, whole, "Start time of the container", nil},
			{"container_spec_cpu_period", constant, 100000, whole, "CPU period", nil},
			{"container_spec_cpu_quota", constant, 200000, whole, "CPU quota", nil},
			{"container_spec_cpu_shares", constant, 512, whole, "CPU share", nil},
			{"container_spec_memory_limit_bytes", constant, 1 << 29, pages, "Memory limit", nil},
		}},
		{jobs: only, entity: ofPod, keys: "namespace pod", filler: filler(), entries: []entry{
			{"container_network_receive_bytes_total", busyCounter, 5e4, whole, "Number of bytes received", dims(net)},
			{"container_network_transmit_bytes_total", busyCounter, 6e4, whole, "Number of bytes sent", dims(net)},
			{"container_network_receive_packets_total", busyCounter, 70, whole, "Number of packets received", dims(net)},
			{"container_network_transmit_packets_total", busyCounter, 80, whole, "Number of packets sent", dims(net)},
			{"container_network_receive_errors_total", sparseCounter, 1e-6, whole, "Number of errors while receiving", dims(net)},
			{"container_network_transmit_packets_dropped_total", sparseCounter, 1e-5, whole, "Number of sent packets dropped", dims(net)},
		}},
		{jobs: only, entries: []entry{
			{"kubelet_running_pods", slowGauge, 25, whole, "Number of running pods", nil},
			{"kubelet_running_containers", slowGauge, 30, whole, "Number of containers", dims(is("container_state", "created exited running"))},
			{"kubelet_runtime_operations_total", busyCounter, 2, whole, "Number of operations of the container runtime", dims(is("operation_type",
				"container_status create_container exec_sync list_containers list_images list_podsandbox podsandbox_status remove_container start_container stop_container version"))},
			{"kubelet_runtime_operations_errors_total", sparseCounter, 1e-4, whole, "Number of failed operations of the container runtime", dims(is("operation_type", "exec_sync container_status remove_container"))},
			{"kubelet_volume_stats_used_bytes", noisyGauge, 8e9, pages, "Used bytes of a volume", dims(sequence("persistentvolumeclaim", "data-", 4))},
			{"kubelet_volume_stats_capacity_bytes", constant, 1 << 34, pages, "Capacity of a volume", dims(sequence("persistentvolumeclaim", "data-", 4))},
			{"kubelet_pleg_relist_duration_seconds_bucket", classicBuckets, 1, whole, "Duration of relisting pods", nil},
			{"kubelet_pod_worker_duration_seconds_bucket", classicBuckets, 0.5, whole, "Duration of syncing a pod", dims(is("operation_type", "create sync update"))},
			{"kubelet_node_name_info", info, 0, whole, "Name of the node", dims(rows("source", "config"))},
			{"kubelet_certificate_manager_client_ttl_seconds", slowGauge, 2e7, whole, "Time until the client's certificate expires", nil},
			{"machine_cpu_cores", constant, 16, whole, "Number of CPU cores", nil},
			{"machine_memory_bytes", constant, 1 << 35, pages, "Size of memory", nil},
		}},
	}
}
