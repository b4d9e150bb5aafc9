package iotdbconfig

// Reasons shared by several parameters.
const (
	onlyIoTDB   = "IoTDB's own, which has no counterpart in its driver here: the server's settings hold"
	namesFixed  = "names are fixed here: g_0, d_0, s_0, tag_0, value_0"
	ofTarget    = "left out, the target's own default holds, since the tool's are those of IoTDB; with --target ignored"
	otherSystem = "of a database that has no driver"
)

func database() []Parameter {
	return []Parameter{
		{Name: "DB_SWITCH", Default: "IoTDB-200-SESSION_BY_TABLET", form: text(), Fate: Mapped, Becomes: "targets.driver",
			Why: "the driver of that name, and null for FakeDB; other databases need --target, which replaces it"},
		{Name: "IoTDB_DIALECT_MODE", Default: "tree", form: words("tree", "table"), Fate: Mapped,
			Becomes: "targets.options.model",
			Why:     "of IoTDB; says of all whether GROUP_NUMBER (tree) or IoTDB_TABLE_NUMBER (table) is the number of tables"},
		{Name: "TABLE_TIME_COLUMN", Default: "time", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "IoTDB_TABLE_WRITABLE_VIEW", Default: "false", form: truth(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "HOST", Default: "127.0.0.1", form: text(), Fate: Mapped, Becomes: "targets.options.host", Why: ofTarget + "; one host"},
		{Name: "PORT", Default: "6667", form: text(), Fate: Mapped, Becomes: "targets.options.port", Why: ofTarget + "; of QuestDB pg_port; one port"},
		{Name: "REST_AUTHORIZATION", Default: "Basic cm9vdDpyb290", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "REST_PORT", Default: "18080", form: wholeNumber(1), Fate: Ignored, Why: onlyIoTDB},
		{Name: "USERNAME", Default: "root", form: text(), Fate: Mapped, Becomes: "targets.options.user", Why: ofTarget + "; of QuestDB pg_user"},
		{Name: "PASSWORD", Default: "root", form: text(), Fate: Mapped, Becomes: "targets.options.password", Why: ofTarget + "; of QuestDB pg_password; never shown or stored"},
		{Name: "DB_NAME", Default: "test", form: text(), Fate: Mapped, Becomes: "targets.options.database", Why: ofTarget + "; not every driver has one"},
		{Name: "TOKEN", Default: "token", form: text(), Fate: Ignored, Why: "of InfluxDB 2: set INFLUX_TOKEN in the environment"},
	}
}

func cleanUp() []Parameter {
	return []Parameter{
		{Name: "IS_DELETE_DATA", Default: "true", form: truth(), Fate: Mapped, Becomes: "load.replace",
			Why: "drops what an earlier load of tsmark left, and nothing else; queries alone delete nothing, as in the tool"},
		{Name: "INIT_WAIT_TIME", Default: "1000", form: wholeNumber(0), Fate: Ignored, Why: "a load begins once the old data is gone"},
	}
}

func kafka() []Parameter {
	const why = "the tool reads it, and has no code that uses it"
	return []Parameter{
		{Name: "KAFKA_LOCATION", Default: "127.0.0.1:9092", form: text(), Fate: Ignored, Why: why},
		{Name: "ZOOKEEPER_LOCATION", Default: "127.0.0.1:2181", form: text(), Fate: Ignored, Why: why},
		{Name: "TOPIC_NAME", Default: "test-topic", form: text(), Fate: Ignored, Why: why},
	}
}

func test() []Parameter {
	return []Parameter{
		{Name: "LOOP", Default: "100", form: wholeNumber(1), Fate: Mapped, Becomes: "workload.timestamp-end, queries.count",
			Why: "its share of writes is how many batches each device gets, its share of queries how many each client runs; drawn numbers become their expected values"},
		{Name: "BENCHMARK_WORK_MODE", Default: "testWithDefaultPath", form: text(), Fate: Refused,
			Why: "files of rows are written by tsmark generate --use-case iotdb, loaded by tsmark load --file, and answers checked by tsmark verify"},
		{Name: "TEST_MAX_TIME", Default: "0", form: wholeNumber(0), Fate: Mapped, Becomes: "queries.time-box, mixed.duration",
			Why: "of queries alone, shared by their types; of a mixed phase, after which the rest is loaded alone; of writes alone an error: a load is whole"},
		{Name: "USE_MEASUREMENT", Default: "true", form: truth(), Fate: Ignored, Why: "everything is measured"},
		{Name: "RESULT_PRECISION", Default: "0.1", form: number(1e-9, 100), Fate: Ignored, Why: "latencies have three significant digits, and each operation is in the log"},
		{Name: "ENABLE_AUTO_FETCH", Default: "false", form: truth(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "IS_RECORD_CURRENT_REALLY_TIME", Default: "false", form: truth(), Fate: Refused, Why: "times by the clock cannot be made again, and no answer about them be checked"},
	}
}

func encryption() []Parameter {
	return []Parameter{
		{Name: "USE_SSL", Default: "false", form: truth(), Fate: Refused, Why: "it is IoTDB's; encrypt by --target KIND,tls=on"},
		{Name: "TRUST_STORE_PATH", Default: "", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "TRUST_STORE_PWD", Default: "", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "KEY_STORE_PATH", Default: "", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "KEY_STORE_PWD", Default: "", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "SSL_PROTOCOL", Default: "TLS", form: text(), Fate: Ignored, Why: onlyIoTDB},
	}
}

func cluster() []Parameter {
	return []Parameter{
		{Name: "BENCHMARK_CLUSTER", Default: "false", form: truth(), Fate: Refused,
			Why: "how many processes there are is not in the file; give each --interleaved-generation-groups N --interleaved-generation-group-id I"},
		{Name: "BENCHMARK_INDEX", Default: "0", form: wholeNumber(0), Fate: Ignored, Why: "without BENCHMARK_CLUSTER it has no effect"},
	}
}

func second() []Parameter {
	const alone = "without IS_DOUBLE_WRITE it has no effect"
	return []Parameter{
		{Name: "IS_DOUBLE_WRITE", Default: "false", form: truth(), Fate: Refused,
			Why: "targets take turns, and each has figures of its own; name both with --target, and the answers of both are checked"},
		{Name: "ANOTHER_DB_SWITCH", Default: "IoTDB-130-SESSION_BY_TABLET", form: text(), Fate: Ignored, Why: alone},
		{Name: "ANOTHER_HOST", Default: "127.0.0.1", form: text(), Fate: Ignored, Why: alone},
		{Name: "ANOTHER_PORT", Default: "6667", form: text(), Fate: Ignored, Why: alone},
		{Name: "ANOTHER_USERNAME", Default: "root", form: text(), Fate: Ignored, Why: alone},
		{Name: "ANOTHER_PASSWORD", Default: "root", form: text(), Fate: Ignored, Why: alone},
		{Name: "ANOTHER_DB_NAME", Default: "test", form: text(), Fate: Ignored, Why: alone},
		{Name: "ANOTHER_TOKEN", Default: "token", form: text(), Fate: Ignored, Why: alone},
		{Name: "IS_COMPARISON", Default: "false", form: truth(), Fate: Ignored, Why: alone},
		{Name: "IS_POINT_COMPARISON", Default: "false", form: truth(), Fate: Ignored, Why: alone},
		{Name: "VERIFICATION_STEP_SIZE", Default: "10000", form: wholeNumber(1), Fate: Ignored, Why: alone},
	}
}

func ofIoTDB() []Parameter {
	return []Parameter{
		{Name: "ENABLE_THRIFT_COMPRESSION", Default: "false", form: truth(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENABLE_IOTDB_RPC_COMPRESSION", Default: "true", form: truth(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "SG_STRATEGY", Default: "mod", form: words("mod", "hash", "div"), Fate: Mapped,
			Why: "device number modulo tables, as mod; with several tables the others are an error"},
		{Name: "GROUP_NUMBER", Default: "1", form: wholeNumber(1), Fate: Mapped, Becomes: "workload.iotdb.device-groups",
			Why: "a table a group; by the table dialect ignored, since databases have no counterpart"},
		{Name: "IoTDB_TABLE_NUMBER", Default: "1", form: wholeNumber(1), Fate: Mapped, Becomes: "workload.iotdb.device-groups",
			Why: "by the table dialect; by the tree dialect ignored, as in the tool"},
		{Name: "IOTDB_SESSION_POOL_SIZE", Default: "50", form: wholeNumber(1), Fate: Ignored, Why: onlyIoTDB},
		{Name: "TEMPLATE", Default: "false", form: truth(), Fate: Mapped, Becomes: "targets.options.schema", Why: "of IoTDB in the tree dialect; ignored for other targets"},
		{Name: "TEMPLATE_NAME", Default: "BenchmarkTemplate", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "VECTOR", Default: "true", form: truth(), Fate: Mapped, Becomes: "targets.options.aligned", Why: "of IoTDB in the tree dialect; ignored for other targets"},
		{Name: "IOTDB_USE_DEBUG", Default: "false", form: truth(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "IOTDB_USE_DEBUG_RATIO", Default: "0.01", form: number(0, 1), Fate: Ignored, Why: onlyIoTDB},
	}
}

func ofOthers() []Parameter {
	return []Parameter{
		{Name: "HTTP_CLIENT_POOL_SIZE", Default: "1000", form: wholeNumber(1), Fate: Ignored, Why: "each worker has a connection of its own"},
		{Name: "COMPRESSION", Default: "NONE", form: text(), Fate: Ignored, Why: otherSystem},
		{Name: "TIMESCALEDB_REPLICATION_FACTOR", Default: "1", form: wholeNumber(0), Fate: Ignored, Why: otherSystem},
		{Name: "TDENGINE_WAL_LEVEL", Default: "2", form: wholeNumber(0), Fate: Ignored, Why: otherSystem},
		{Name: "TDENGINE_REPLICA", Default: "3", form: wholeNumber(0), Fate: Ignored, Why: otherSystem},
		{Name: "INFLUXDB_ORG", Default: "company1", form: text(), Fate: Ignored, Why: "of InfluxDB 2: set INFLUX_ORG in the environment"},
		{Name: "DOLPHINDB_DEVICE_HASH_BUCKETS", Default: "8", form: wholeNumber(1), Fate: Ignored, Why: otherSystem},
		{Name: "CNOSDB_SHARD_NUMBER", Default: "32", form: wholeNumber(1), Fate: Ignored, Why: otherSystem},
	}
}

func storage() []Parameter {
	return []Parameter{
		{Name: "COMPRESSOR", Default: "LZ4", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_BOOLEAN", Default: "RLE", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_INT32", Default: "TS_2DIFF", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_INT64", Default: "TS_2DIFF", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_FLOAT", Default: "GORILLA", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_DOUBLE", Default: "GORILLA", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_TEXT", Default: "DICTIONARY", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_STRING", Default: "PLAIN", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_BLOB", Default: "PLAIN", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_TIMESTAMP", Default: "TS_2DIFF", form: text(), Fate: Ignored, Why: onlyIoTDB},
		{Name: "ENCODING_DATE", Default: "TS_2DIFF", form: text(), Fate: Ignored, Why: onlyIoTDB},
	}
}
