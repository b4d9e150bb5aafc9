package iotdbconfig

func scale() []Parameter {
	return []Parameter{
		{Name: "DEVICE_NUMBER", Default: "6000", form: wholeNumber(1), Fate: Honoured, Becomes: "workload.scale"},
		{Name: "REAL_INSERT_RATE", Default: "1.0", form: number(1e-9, 1), Fate: Mapped, Becomes: "workload.scale",
			Why: "the devices that are written are all there are: the tool queries the others too, which have no rows"},
		{Name: "SENSOR_NUMBER", Default: "200", form: wholeNumber(1), Fate: Honoured, Becomes: "workload.iotdb.sensors"},
		{Name: "IS_SENSOR_TS_ALIGNMENT", Default: "true", form: truth(), Fate: Mapped, Becomes: "workload.iotdb.unaligned",
			Why: "not aligned, each sensor has times of its own; the tool sends sensors apart, at the same times"},
		{Name: "TS_ALIGNMENT_RATIO", Default: "1.0", form: number(1e-9, 1), Fate: Mapped,
			Why: "aligned, it has no effect; else all sensors are kept, and less than 1 is an error"},
		{Name: "GROUP_NAME_PREFIX", Default: "g_", form: text(), Fate: Ignored, Why: namesFixed},
		{Name: "IoTDB_TABLE_NAME_PREFIX", Default: "table_", form: text(), Fate: Ignored, Why: namesFixed},
		{Name: "DEVICE_NAME_PREFIX", Default: "d_", form: text(), Fate: Ignored, Why: namesFixed},
		{Name: "SENSOR_NAME_PREFIX", Default: "s_", form: text(), Fate: Ignored, Why: namesFixed},
		{Name: "TAG_NUMBER", Default: "0", form: wholeNumber(0), Fate: Honoured, Becomes: "workload.iotdb.tags"},
		{Name: "TAG_KEY_PREFIX", Default: "tag_", form: text(), Fate: Ignored, Why: namesFixed},
		{Name: "TAG_VALUE_PREFIX", Default: "value_", form: text(), Fate: Ignored, Why: namesFixed},
		{Name: "TAG_VALUE_CARDINALITY", Default: "", form: text(), Fate: Honoured, Becomes: "workload.iotdb.tags"},
		{Name: "IS_CLIENT_BIND", Default: "true", form: truth(), Fate: Mapped,
			Why: "each writer has devices of its own, also where it is false; clients must not be more than devices"},
		{Name: "SCHEMA_CLIENT_NUMBER", Default: "20", form: wholeNumber(1), Fate: Ignored, Why: "one connection makes the tables, before the clock starts"},
		{Name: "DATA_CLIENT_NUMBER", Default: "20", form: wholeNumber(1), Fate: Mapped, Becomes: "load.workers, queries.workers",
			Why: "as many connections write, and as many run queries; in the tool one connection does both in turn"},
		{Name: "CLIENT_NUMBER", Default: "20", form: wholeNumber(1), Fate: Mapped, Becomes: "load.workers, queries.workers", Why: "where DATA_CLIENT_NUMBER is left out"},
	}
}

func timing() []Parameter {
	return []Parameter{
		{Name: "POINT_STEP", Default: "5000", form: wholeNumber(1), Fate: Honoured, Becomes: "workload.log-interval"},
		{Name: "OP_MIN_INTERVAL", Default: "0", form: wholeNumber(-1), Fate: Mapped, Becomes: "queries.rate, mixed.row-rate, mixed.query-rate",
			Why: "the rate at which all clients together would operate, however slow answers are; of writes alone an error: a load goes as fast as it can"},
		{Name: "OP_MIN_INTERVAL_RANDOM", Default: "false", form: truth(), Fate: Mapped, Why: "without OP_MIN_INTERVAL it has no effect; with it, true is an error"},
		{Name: "INTERVAL_BETWEEN_WRITE_BATCH", Default: "0", form: wholeNumber(0), Fate: Refused, Why: "a load goes as fast as it can, a mixed phase by the key mixed.row-rate"},
		{Name: "TIMESTAMP_PRECISION", Default: "ms", form: words("ms", "us", "ns"), Fate: Mapped, Becomes: "workload.log-interval, queries.iotdb.span, queries.iotdb.bucket",
			Why: "the unit of POINT_STEP, QUERY_INTERVAL and GROUP_BY_TIME_UNIT; times are whole microseconds at least; of IoTDB also the precision of the server"},
	}
}

func types() []Parameter {
	return []Parameter{
		{Name: "STRING_LENGTH", Default: "2", form: wholeNumber(1), Fate: Honoured, Becomes: "workload.iotdb.text-length"},
		{Name: "DOUBLE_LENGTH", Default: "2", form: wholeNumber(0), Fate: Honoured, Becomes: "workload.iotdb.decimals"},
		{Name: "OBJECT_LENGTH", Default: "1000", form: wholeNumber(0), Fate: Ignored, Why: "there are no values of the type OBJECT"},
		{Name: "OBJECT_QUERY_FULL_CONTENT", Default: "false", form: truth(), Fate: Ignored, Why: "there are no values of the type OBJECT"},
		{Name: "INSERT_DATATYPE_PROPORTION", Default: "1:1:1:1:1:1:0:0:0:0:0", form: text(), Fate: Mapped, Becomes: "workload.iotdb.types",
			Why: "a share of OBJECT, the eleventh type, is an error"},
	}
}

func files() []Parameter {
	const why = "the default BENCHMARK_WORK_MODE does not use it"
	return []Parameter{
		{Name: "FILE_PATH", Default: "data/test", form: text(), Fate: Ignored, Why: why},
		{Name: "BIG_BATCH_SIZE", Default: "100", form: wholeNumber(1), Fate: Ignored, Why: why},
	}
}

func values() []Parameter {
	ratio := number(0, 1e9)
	const why = "a sensor's function is drawn by other random numbers than the tool's"
	return []Parameter{
		{Name: "LINE_RATIO", Default: "1", form: ratio, Fate: Mapped, Becomes: "workload.iotdb.distribution", Why: "sawtooth; " + why},
		{Name: "SIN_RATIO", Default: "1", form: ratio, Fate: Mapped, Becomes: "workload.iotdb.distribution", Why: "sine, its period in ms; " + why},
		{Name: "SQUARE_RATIO", Default: "1", form: ratio, Fate: Mapped, Becomes: "workload.iotdb.distribution", Why: "square; " + why},
		{Name: "RANDOM_RATIO", Default: "1", form: ratio, Fate: Mapped, Becomes: "workload.iotdb.distribution", Why: "random; " + why},
		{Name: "CONSTANT_RATIO", Default: "1", form: ratio, Fate: Mapped, Becomes: "workload.iotdb.distribution", Why: "constant; " + why},
		{Name: "DATA_SEED", Default: "666", form: wholeNumber(anyWhole), Fate: Mapped, Becomes: "workload.seed", Why: "of another generator: the rows are not the tool's; 0 is an error"},
	}
}

func operations() []Parameter {
	return []Parameter{
		{Name: "OPERATION_PROPORTION", Default: "1:0:0:0:0:0:0:0:0:0:0:0:0", form: text(), Fate: Mapped, Becomes: "queries.types, queries.count, mixed",
			Why: "writes alone are a load, queries alone a load and then each type by itself; both a mixed phase, before which 1 % of the rows are loaded, and after which the queries are run once more, alone"},
		{Name: "WRITE_OPERATION_TIMEOUT_MS", Default: "120000", form: wholeNumber(1), Fate: Mapped, Becomes: "targets.options.timeout", Why: "of servers; with --target ignored"},
		{Name: "READ_OPERATION_TIMEOUT_MS", Default: "300000", form: wholeNumber(1), Fate: Honoured, Becomes: "queries.timeout"},
		{Name: "ENABLE_FIXED_QUERY", Default: "false", form: truth(), Fate: Refused, Why: "one query repeated again and again measures a cache"},
	}
}

func writes() []Parameter {
	return []Parameter{
		{Name: "BATCH_SIZE_PER_WRITE", Default: "100", form: wholeNumber(1), Fate: Honoured, Becomes: "workload.rows-in-a-row, load.batch-size"},
		{Name: "DEVICE_NUM_PER_WRITE", Default: "1", form: wholeNumber(1), Fate: Honoured, Becomes: "load.batch-size"},
		{Name: "CREATE_SCHEMA", Default: "true", form: truth(), Fate: Mapped, Why: "tables are made before the clock starts; of writes, false is an error"},
		{Name: "START_TIME", Default: "2022-01-01T00:00:00+08:00", form: text(), Fate: Honoured, Becomes: "workload.timestamp-start",
			Why: "one POINT_STEP later, as the first row of the tool"},
	}
}

func copies() []Parameter {
	const why = "the default BENCHMARK_WORK_MODE does not use it"
	return []Parameter{
		{Name: "IS_COPY_MODE", Default: "false", form: truth(), Fate: Ignored, Why: why},
		{Name: "IS_ADD_ANOMALY", Default: "false", form: truth(), Fate: Ignored, Why: why},
		{Name: "ANOMALY_RATE", Default: "0.2", form: number(0, 1), Fate: Ignored, Why: why},
		{Name: "ANOMALY_TIMES", Default: "2", form: wholeNumber(anyWhole), Fate: Ignored, Why: why},
	}
}

func late() []Parameter {
	return []Parameter{
		{Name: "IS_OUT_OF_ORDER", Default: "false", form: truth(), Fate: Honoured, Becomes: "workload.iotdb.late"},
		{Name: "OUT_OF_ORDER_MODE", Default: "POISSON", form: words("POISSON", "BATCH"), Fate: Mapped, Becomes: "workload.iotdb.late-mode",
			Why: "POISSON is paper-poisson: old times are written again, as in the tool, whose delays from a LAMBDA of 500 on are no Poisson numbers; " +
				"in a mixed phase, where nobody could say what an old time holds, delayed: rows come later, at times of their own; " +
				"BATCH is global: rows come behind later ones, where the tool sends the first rows last and gives several the same time"},
		{Name: "OUT_OF_ORDER_RATIO", Default: "0.5", form: number(0, 1), Fate: Honoured, Becomes: "workload.iotdb.late"},
		{Name: "IS_REGULAR_FREQUENCY", Default: "true", form: truth(), Fate: Mapped, Becomes: "workload.iotdb.irregular", Why: "the varying intervals can be made again"},
		{Name: "LAMBDA", Default: "2200.0", form: number(0, 1e6), Fate: Honoured, Becomes: "workload.iotdb.late-mean"},
		{Name: "MAX_K", Default: "170000", form: wholeNumber(1), Fate: Mapped, Becomes: "workload.iotdb.late-most", Why: "of delayed rows; paper-poisson has no bound, and one that it could reach is an error"},
	}
}

func queryParameters() []Parameter {
	return []Parameter{
		{Name: "IS_RECENT_QUERY", Default: "false", form: truth(), Fate: Mapped, Becomes: "queries.windows",
			Why: "recent: windows end close to the last row, in the tool at it; without writes ignored, as in the tool"},
		{Name: "STEP_SIZE", Default: "1", form: wholeNumber(0), Fate: Mapped, Becomes: "queries.windows",
			Why: "sliding: as in the tool, but back at the start before they leave the rows, and each client goes on where others are; the tool's file names 0, its code takes 1"},
		{Name: "QUERY_SENSOR_NUM", Default: "1", form: wholeNumber(1), Fate: Honoured, Becomes: "queries.iotdb.sensors"},
		{Name: "QUERY_DEVICE_NUM", Default: "1", form: wholeNumber(1), Fate: Honoured, Becomes: "queries.iotdb.devices"},
		{Name: "QUERY_AGGREGATE_FUN", Default: "count", form: text(), Fate: Mapped, Becomes: "queries.iotdb.aggregate",
			Why: "count, sum, avg, max_value or max, min_value or min; others are an error"},
		{Name: "QUERY_SET_OP_TYPE", Default: "union", form: text(), Fate: Honoured, Becomes: "queries.iotdb.set"},
		{Name: "QUERY_SET_OP_NUM", Default: "2", form: wholeNumber(2), Fate: Honoured, Becomes: "queries.iotdb.set-of"},
		{Name: "QUERY_INTERVAL", Default: "250000", form: wholeNumber(1), Fate: Honoured, Becomes: "queries.iotdb.span"},
		{Name: "QUERY_LOWER_VALUE", Default: "-5", form: filter(), Fate: Honoured, Becomes: "queries.iotdb.filter"},
		{Name: "GROUP_BY_TIME_UNIT", Default: "20000", form: wholeNumber(1), Fate: Honoured, Becomes: "queries.iotdb.bucket"},
		{Name: "QUERY_SEED", Default: "151658", form: wholeNumber(anyWhole), Fate: Ignored, Why: "each run draws queries of its own, unless queries.seed is set, and they are not the tool's"},
		{Name: "RESULT_ROW_LIMIT", Default: "-1", form: wholeNumber(anyWhole), Fate: Refused, Why: "queries with a limit are types of their own: --query-type limit,value-range-limit"},
		{Name: "ALIGN_BY_DEVICE", Default: "false", form: truth(), Fate: Refused, Why: "it is IoTDB's, and another query"},
	}
}

func buffer() []Parameter {
	return []Parameter{
		{Name: "WORKLOAD_BUFFER_SIZE", Default: "100", form: wholeNumber(1), Fate: Refused, Why: "the buffer that all devices take their values from has 100 rows, the tool's default; values of their own: --iotdb values=formula"},
	}
}

func results() []Parameter {
	const why = "each run is stored with all of its operations: tsmark report, tsmark analyze"
	return []Parameter{
		{Name: "TEST_DATA_PERSISTENCE", Default: "None", form: text(), Fate: Ignored, Why: why},
		{Name: "RECORD_SPLIT", Default: "true", form: truth(), Fate: Ignored, Why: why},
		{Name: "RECORD_SPLIT_MAX_LINE", Default: "10000000", form: wholeNumber(0), Fate: Ignored, Why: why},
		{Name: "TEST_DATA_STORE_IP", Default: "127.0.0.1", form: text(), Fate: Ignored, Why: why},
		{Name: "TEST_DATA_STORE_PORT", Default: "6667", form: text(), Fate: Ignored, Why: why},
		{Name: "TEST_DATA_STORE_DB", Default: "result", form: text(), Fate: Ignored, Why: why},
		{Name: "TEST_DATA_STORE_USER", Default: "root", form: text(), Fate: Ignored, Why: why},
		{Name: "TEST_DATA_STORE_PW", Default: "root", form: text(), Fate: Ignored, Why: why},
		{Name: "TEST_DATA_WRITE_TIME_OUT", Default: "300000", form: wholeNumber(0), Fate: Ignored, Why: why},
		{Name: "TEST_DATA_MAX_CONNECTION", Default: "1", form: wholeNumber(0), Fate: Ignored, Why: why},
		{Name: "REMARK", Default: "", form: text(), Fate: Mapped, Becomes: "name", Why: "the run's name"},
		{Name: "MYSQL_REAL_INSERT_RATE", Default: "1.0", form: number(0, 1), Fate: Ignored, Why: why},
	}
}

func output() []Parameter {
	return []Parameter{
		{Name: "CSV_OUTPUT", Default: "true", form: truth(), Fate: Ignored, Why: "tsmark report --view iotdb --format csv writes it, laid out as the tool does"},
		{Name: "IS_QUIET_MODE", Default: "true", form: truth(), Fate: Ignored, Why: "progress is one line"},
		{Name: "LOG_PRINT_INTERVAL", Default: "5", form: wholeNumber(0), Fate: Honoured, Becomes: "load.reporting-period"},
		{Name: "RESULT_PRINT_INTERVAL", Default: "3600", form: wholeNumber(0), Fate: Ignored, Why: "results are reported at the end"},
		{Name: "MONITOR_INTERVAL", Default: "0", form: wholeNumber(anyWhole), Fate: Ignored, Why: "the tool reads it, and has no code that uses it; tsmark looks at its host every second"},
	}
}
