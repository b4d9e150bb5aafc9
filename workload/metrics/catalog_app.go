package metrics

// appMetrics returns metrics of instrumented services.
func appMetrics() []section {
	route := sequence("route", "/api/v1/resource", 0)
	answer := rows("method code", "GET 200", "GET 404", "POST 201", "POST 500")
	method := rows("grpc_service grpc_method", "shop.Cart Add", "shop.Cart Get", "shop.Catalog List", "shop.Orders Place")
	grpcCode := is("grpc_code", "OK NotFound Unavailable")
	pool := is("pool_name", "primary replica")
	operation := rows("db_system_name db_operation_name", "postgresql SELECT", "postgresql INSERT", "postgresql UPDATE", "postgresql DELETE")
	partition := sequence("partition", "", 8)
	topic := is("topic", "orders payments")
	cache := is("cache", "sessions products prices")
	worker := sequence("worker", "", 8)
	region := is("region", "eu us ap")
	return []section{{jobs: []job{app}, entries: []entry{
		{"http_requests_total", busyCounter, 4, whole, "Number of HTTP requests", dims(route, answer)},
		{"http_request_duration_seconds_bucket", classicBuckets, 3, whole, "Duration of HTTP requests", dims(route, is("method", "GET POST"))},
		{"http_server_request_duration_seconds", nativeBuckets, 6, whole, "Duration of HTTP server requests", dims(route)},
		{"http_response_size_bytes_total", busyCounter, 9000, whole, "Number of bytes of HTTP responses", dims(route)},
		{"http_requests_in_flight", noisyGauge, 12, whole, "Number of current HTTP requests", dims(route)},
		{"grpc_server_started_total", busyCounter, 8, whole, "Number of calls started by the server", dims(method)},
		{"grpc_server_handled_total", busyCounter, 3, whole, "Number of calls completed by the server", dims(method, grpcCode)},
		{"grpc_server_msg_received_total", busyCounter, 9, whole, "Number of messages received by the server", dims(method)},
		{"grpc_server_msg_sent_total", busyCounter, 9, whole, "Number of messages sent by the server", dims(method)},
		{"grpc_server_handling_seconds_bucket", classicBuckets, 6, whole, "Duration of calls of the server", dims(method)},
		{"rpc_server_call_duration_seconds", nativeBuckets, 6, whole, "Duration of remote procedure calls", dims(method)},
		{"db_client_operation_duration_seconds", nativeBuckets, 15, whole, "Duration of operations of database clients", dims(operation)},
		{"db_client_connection_count", noisyGauge, 8, whole, "Number of connections of a pool", dims(pool, is("state", "idle used"))},
		{"db_client_connection_max", constant, 32, whole, "Maximum number of connections of a pool", dims(pool)},
		{"db_client_connection_pending_requests", limitedGauge, 1, whole, "Number of requests for a connection", dims(pool)},
		{"db_client_connection_timeouts_total", sparseCounter, 0.001, whole, "Number of time-outs while waiting for a connection", dims(pool)},
		{"kafka_consumer_records_consumed_total", busyCounter, 40, whole, "Number of records consumed", dims(topic, partition)},
		{"kafka_consumer_records_lag", noisyGauge, 90, whole, "Number of records not yet consumed", dims(topic, partition)},
		{"kafka_consumer_fetch_latency_seconds", limitedGauge, 0.08, millis, "Average latency of a fetch", dims(topic)},
		{"kafka_producer_record_errors_total", sparseCounter, 0.0005, whole, "Number of records that could not be sent", dims(topic)},
		{"cache_requests_total", busyCounter, 50, whole, "Number of requests to a cache", dims(cache, is("result", "hit miss"))},
		{"cache_evictions_total", sparseCounter, 0.03, whole, "Number of evicted entries", dims(cache)},
		{"cache_hit_ratio", limitedGauge, 0.6, cents, "Share of requests that the cache answers", dims(cache)},
		{"cache_entries", slowGauge, 20000, whole, "Number of entries of a cache", dims(cache)},
		{"worker_tasks_total", resetCounter, 6, whole, "Number of tasks since the worker began; workers restart after some time", dims(worker, is("outcome", "success failure"))},
		{"worker_busy_seconds_total", resetCounter, 0.4, millis, "Seconds for which a worker was busy since it began", dims(worker)},
		{"worker_queue_length", noisyGauge, 20, whole, "Number of waiting tasks", dims(worker)},
		{"orders_total", busyCounter, 1, whole, "Number of orders", dims(region, is("status", "paid refused"))},
		{"orders_value_euros_total", busyCounter, 45, cents, "Value of orders", dims(region)},
		{"payment_retries_total", sparseCounter, 0.005, whole, "Number of retried payments", dims(region)},
		{"exchange_rate_ratio", limitedGauge, 1.1, millis, "Exchange rate of a currency", dims(is("currency", "USD GBP JPY"))},
		{"model_score_mean", noisyGauge, 0.7, full, "Mean score of a model in the last minute", dims(is("model", "fraud ranking"))},
		{"request_cost_seconds_total", busyCounter, 0.2, full, "Cost of requests in seconds of computing", dims(region)},
		{"config_last_reload_successful", state, 0, whole, "Whether the last reload of the configuration succeeded", nil},
		{"config_last_reload_success_timestamp_seconds", beganAt, 0, whole, "Time of the last successful reload", nil},
		{"circuit_breaker_state", state, 0, whole, "State of a circuit breaker", dims(is("name", "database payments"), states("state", "closed half_open open"))},
		{"feature_flag_enabled", constant, 1, whole, "Whether a feature is enabled", dims(sequence("flag", "feature-", 12))},
		{"tls_certificate_not_before_timestamp_seconds", beganAt, 0, whole, "Time at which the certificate was issued", nil},
		{"build_info", info, 0, whole, "Labels of the build", dims(rows("version revision branch", "1.42.0 9f2c1e4 main"))},
	}}}
}
