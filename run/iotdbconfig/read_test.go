package iotdbconfig_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/influxdb"
	"github.com/tsmark/tsmark/driver/db/influxdb2"
	"github.com/tsmark/tsmark/driver/db/iotdb"
	"github.com/tsmark/tsmark/driver/db/kairosdb"
	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/driver/db/opentsdb"
	"github.com/tsmark/tsmark/driver/db/questdb"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/driver/db/tdengine"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
	"github.com/tsmark/tsmark/driver/db/victoriametrics"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/iotdbconfig"
)

// read reads lines as the file c.properties.
func read(lines ...string) (*experiment.Experiment, error) {
	file := iotdbconfig.File{Name: "c.properties", Data: []byte(strings.Join(lines, "\n"))}
	return iotdbconfig.Read(file, iotdbconfig.Options{Drivers: drivers()})
}

// drivers returns the drivers of systems that IoTDB-Benchmark measures, too. All drivers would link DuckDB.
func drivers() []driver.Driver {
	return []driver.Driver{
		sqlite.Driver(), timescaledb.Driver(), questdb.Driver(), influxdb.Driver(), influxdb2.Driver(), victoriametrics.Driver(),
		iotdb.Driver(), kairosdb.Driver(), opentsdb.Driver(), tdengine.Driver(), null.Driver(),
	}
}

// names returns the names of the available drivers.
func names() []string {
	var list []string
	for _, d := range drivers() {
		list = append(list, d.Name)
	}
	return list
}

// The tool's own file, with all defaults, gives the tool's default scenario, as does an empty file.
func TestDefaults(t *testing.T) {
	data, err := os.ReadFile("testdata/parameters.properties")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Replace(string(data), "STEP_SIZE=0", "STEP_SIZE=1", 1)
	for name, text := range map[string]string{"empty": "", "all": all} {
		e, err := iotdbconfig.Read(iotdbconfig.File{Name: "config.properties", Data: []byte(text)}, iotdbconfig.Options{Targets: true})
		if err != nil {
			t.Fatal(err)
		}
		e.Notes = nil
		e.Targets = experiment.Default().Targets[:1]
		if err := e.Check(); err != nil {
			t.Error(err)
		}
		yaml, err := experiment.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		golden, err := os.ReadFile("testdata/default.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(golden), string(yaml)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each line describes the effect of one or several parameters on the experiment of a small
// scenario.
func TestMapping(t *testing.T) {
	small := []string{"DB_SWITCH=FakeDB", "DEVICE_NUMBER=100", "SENSOR_NUMBER=10", "DATA_CLIENT_NUMBER=5"}
	before, err := read(small...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ lines, want string }{
		{"LOOP=7; POINT_STEP=1000", "workload.timestamp-start=2021-12-31T16:00:01Z workload.timestamp-end=2021-12-31T16:11:41Z workload.log-interval=1s queries.windows=sliding:1s"},
		{"TIMESTAMP_PRECISION=us; LOOP=1", "workload.timestamp-start=2021-12-31T16:00:00.005Z workload.timestamp-end=2021-12-31T16:00:00.505Z workload.log-interval=5ms queries.windows=sliding:5ms queries.iotdb.bucket=20ms queries.iotdb.span=250ms"},
		{"START_TIME=2018-8-30T00:00:00+08:00; LOOP=1", "workload.timestamp-start=2018-08-29T16:00:05Z workload.timestamp-end=2018-08-29T16:08:25Z"},
		{"REAL_INSERT_RATE=0.5", "workload.scale=50"},
		{"GROUP_NUMBER=4; IoTDB_TABLE_NUMBER=7", "workload.iotdb.device-groups=4"},
		{"IoTDB_DIALECT_MODE=table; IoTDB_TABLE_NUMBER=4; GROUP_NUMBER=2", "workload.iotdb.device-groups=4"},
		{"CLIENT_NUMBER=3", ""},
		{"BATCH_SIZE_PER_WRITE=10; DEVICE_NUM_PER_WRITE=4", "workload.timestamp-end=2021-12-31T17:23:25Z workload.rows-in-a-row=10 load.batch-size=40"},
		{"LINE_RATIO=1; SIN_RATIO=2; SQUARE_RATIO=3; RANDOM_RATIO=4; CONSTANT_RATIO=0.5", "workload.iotdb.distribution=3:2:1:4:0.5"},
		{"INSERT_DATATYPE_PROPORTION=0:0:0:1:2:0", "workload.iotdb.types=0:0:0:1:2:0"},
		{"DATA_SEED=7; STRING_LENGTH=4; DOUBLE_LENGTH=3", "workload.seed=7 workload.iotdb.decimals=3 workload.iotdb.text-length=4"},
		{"TAG_NUMBER=2; TAG_VALUE_CARDINALITY=3, 10", "workload.iotdb.tags=3:10"},
		{"IS_SENSOR_TS_ALIGNMENT=false; IS_REGULAR_FREQUENCY=FALSE", "workload.iotdb.irregular=true workload.iotdb.unaligned=true"},
		{"IS_OUT_OF_ORDER=true; LAMBDA=50", "workload.iotdb.late=0.5 workload.iotdb.late-mean=50 workload.iotdb.late-mode=paper-poisson"},
		{"IS_OUT_OF_ORDER=true; LAMBDA=50; MAX_K=60; OPERATION_PROPORTION=1:1:0:0:0:0:0:0:0:0:0:0:0; LOOP=200", "workload.iotdb.late=0.5 workload.iotdb.late-mean=50 workload.iotdb.late-most=60 queries.types=precise-point queries.count=500 mixed.loaded=1 mixed.writes=20:1"},
		{"IS_OUT_OF_ORDER=true; OUT_OF_ORDER_MODE=batch; OUT_OF_ORDER_RATIO=0.2", "workload.iotdb.late=0.2 workload.iotdb.late-mode=global"},
		{"IS_OUT_OF_ORDER=true; OUT_OF_ORDER_RATIO=0", ""},
		{"IS_DELETE_DATA=false; LOG_PRINT_INTERVAL=60", "load.reporting-period=1m load.replace=false"},
		{"READ_OPERATION_TIMEOUT_MS=1500; QUERY_AGGREGATE_FUN=max_value; QUERY_SET_OP_TYPE=except all; QUERY_SET_OP_NUM=3; QUERY_LOWER_VALUE=< 0.5; STEP_SIZE=0",
			"queries.timeout=1.5s queries.windows=sliding:0s queries.iotdb.aggregate=max queries.iotdb.filter=< 0.5 queries.iotdb.set=except-all queries.iotdb.set-of=3"},
		// Each of 5 clients runs 100 queries, a quarter of them value-range.
		{"OPERATION_PROPORTION=0:0:0:1:0:0:0:0:3:0:0:0:0; QUERY_DEVICE_NUM=2; QUERY_SENSOR_NUM=3", "load.replace=false queries.types=value-range,latest-point queries.count=375 queries.time-box=0s queries.iotdb.devices=2 queries.iotdb.sensors=3"},
		{"OPERATION_PROPORTION=0:1:0:0:0:0:0:0:0:0:0:0:0; TEST_MAX_TIME=60000; OP_MIN_INTERVAL=200", "load.replace=false queries.types=precise-point queries.count=500 queries.time-box=1m queries.rate=25/s"},
		// 50 writes of 20 batches and 50 queries per client.
		{"OPERATION_PROPORTION=1:1:0:0:0:0:0:0:0:0:0:0:0", "workload.timestamp-end=2021-12-31T22:56:45Z queries.types=precise-point queries.count=250 mixed.loaded=1 mixed.writes=20:1"},
		{"OPERATION_PROPORTION=2:3:2:1:0:0:0:0:0:0:0:0:0; IS_RECENT_QUERY=true; TEST_MAX_TIME=5000; DATA_CLIENT_NUMBER=100",
			"workload.timestamp-end=2021-12-31T19:28:25Z load.workers=100 queries.types=precise-point,time-range,value-range queries.count=3750 queries.workers=100 queries.windows=recent mixed.loaded=1 mixed.writes=25 mixed.duration=5s mixed.weights=3:2:1"},
		{"OPERATION_PROPORTION=1:1:0:0:0:0:0:0:0:0:0:0:0; OP_MIN_INTERVAL=-1", "workload.timestamp-end=2021-12-31T22:56:45Z queries.types=precise-point queries.count=250 mixed.loaded=1 mixed.row-rate=1000/s mixed.query-rate=0.5/s"},
	} {
		t.Run(c.lines, func(t *testing.T) {
			lines := strings.Split(c.lines, "; ")
			base := slices.DeleteFunc(slices.Clone(small), func(l string) bool {
				key, _, _ := strings.Cut(l, "=")
				return slices.ContainsFunc(lines, func(other string) bool { return strings.HasPrefix(other, key+"=") })
			})
			e, err := read(append(base, lines...)...)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Check(); err != nil {
				t.Error(err)
			}
			var changed []string
			for _, p := range e.Settings() {
				if !slices.Contains(before.Settings(), p) {
					changed = append(changed, p.Path+"="+p.Value)
				}
			}
			for _, p := range before.Settings() {
				if !slices.ContainsFunc(e.Settings(), func(now result.Parameter) bool { return now.Path == p.Path }) {
					changed = append(changed, "without "+p.Path)
				}
			}
			if got := strings.Join(changed, " "); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTargets(t *testing.T) {
	connection := []string{"HOST=db1", "PORT=8812", "USERNAME=admin", "PASSWORD=quest", "DB_NAME=factory", "WRITE_OPERATION_TIMEOUT_MS=90000"}
	for database, want := range map[string]experiment.Target{
		"timescaledb":                 {Name: "timescaledb", Driver: "timescaledb", Options: experiment.Options{"host": "db1", "port": "8812", "user": "admin", "password": "quest", "database": "factory", "timeout": "1m30s"}},
		"InfluxDB":                    {Name: "influxdb", Driver: "influxdb", Options: experiment.Options{"host": "db1", "port": "8812", "user": "admin", "password": "quest", "database": "factory", "timeout": "1m30s"}},
		"QuestDB":                     {Name: "questdb", Driver: "questdb", Options: experiment.Options{"host": "db1", "pg_port": "8812", "pg_user": "admin", "pg_password": "quest", "timeout": "1m30s"}},
		"IoTDB-200-SESSION_BY_TABLET": {Name: "iotdb", Driver: "iotdb", Options: experiment.Options{"host": "db1", "port": "8812", "user": "admin", "password": "quest", "database": "factory", "timeout": "1m30s"}},
		"SQLite":                      {Name: "sqlite", Driver: "sqlite"},
		"FakeDB":                      {Name: "null", Driver: "null"},
	} {
		e, err := read(append(connection, "DB_SWITCH="+database)...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]experiment.Target{want}, e.Targets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", database, diff)
		}
		for _, note := range e.Notes {
			if strings.Contains(note, "factory") || strings.Contains(note, "db1") {
				t.Errorf("%s: a note shows a value: %s", database, note)
			}
		}
	}
}

// Parameters specific to IoTDB become options of its driver.
func TestIoTDB(t *testing.T) {
	for lines, want := range map[string]experiment.Options{
		"":                                       {"timeout": "2m"},
		"DB_SWITCH=IoTDB-130-JDBC":               {"timeout": "2m"},
		"VECTOR=FALSE":                           {"aligned": "false", "timeout": "2m"},
		"TEMPLATE=true":                          {"schema": "template", "timeout": "2m"},
		"IoTDB_DIALECT_MODE=TABLE\nVECTOR=FALSE": {"model": "table", "timeout": "2m"},
		"TIMESTAMP_PRECISION=us":                 {"precision": "us", "timeout": "2m"},
	} {
		e, err := read(lines, "DEVICE_NUMBER=100", "LOOP=1")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Check(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]experiment.Target{{Name: "iotdb", Driver: "iotdb", Options: want}}, e.Targets); diff != "" {
			t.Errorf("%q (-want +got):\n%s", lines, diff)
		}
	}
}

func TestNotes(t *testing.T) {
	e, err := read("DB_SWITCH=SQLite", "DEVICE_NUMBER=20", "COMPRESSOR=SNAPPY", "PORT=1", "VECTOR=true", "SG_STRATEGY=mod", "DATA_SEED=9", "LAMBDA=2200")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"The scenario of IoTDB-Benchmark's c.properties; parameters that it does not set have the tool's defaults, except those of connections.",
		"Honoured: DEVICE_NUMBER.",
		"Mapped, as by default: SG_STRATEGY.",
		"DB_SWITCH becomes targets.driver: the driver of that name, and null for FakeDB; other databases need --target, which replaces it.",
		"DATA_SEED becomes workload.seed: of another generator: the rows are not the tool's; 0 is an error.",
		"Ignored: PORT, VECTOR: sqlite has no such option.",
		"Ignored: COMPRESSOR: IoTDB's own, which has no counterpart in its driver here: the server's settings hold.",
		"Ignored: LAMBDA: without effect where no row is late by POISSON.",
	}
	if diff := cmp.Diff(want, e.Notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	for lines, want := range map[string]string{
		"DEVICE_NUMBERS=5":                       `c.properties:1: "DEVICE_NUMBERS" is not a parameter of IoTDB-Benchmark; did you mean "DEVICE_NUMBER"?`,
		"whatever=5":                             `c.properties:1: "whatever" is not a parameter of IoTDB-Benchmark; docs/iotdb-config.md lists them`,
		"# x\nLOOP=1\nLOOP=2":                    "c.properties:3: LOOP is there twice, first on line 2; leave one out",
		"# \xd6\xd0":                             "c.properties:1: wrong encoding: byte 0xd6 is no UTF-8; save the file as UTF-8, as in iconv -f GB18030 -t UTF-8",
		"LOOP=many":                              `c.properties:1: LOOP: must be a whole number, 1 or more, not "many"`,
		"\nDEVICE_NUMBER=0":                      `c.properties:2: DEVICE_NUMBER: must be a whole number, 1 or more, not "0"`,
		"SENSOR_NUMBER=-3":                       `c.properties:1: SENSOR_NUMBER: must be a whole number, 1 or more, not "-3"`,
		"SENSOR_NUMBER=":                         "c.properties:1: SENSOR_NUMBER: is empty; it must be a whole number, 1 or more, or the line be left out",
		"IS_OUT_OF_ORDER=yes":                    `c.properties:1: IS_OUT_OF_ORDER: must be true or false, not "yes"`,
		"DATA_CLIENT_NUMBER=30\nDEVICE_NUMBER=8": "c.properties:1: DATA_CLIENT_NUMBER: 30 clients are more than 8 devices; lower it, or raise DEVICE_NUMBER",
		"DEVICE_NUMBER=8":                        "c.properties:1: DEVICE_NUMBER: 8 devices are fewer than the tool's default of 20 clients; set DATA_CLIENT_NUMBER to 8 or less",
		"OPERATION_PROPORTION=0:0:0:0:0:0:0:0:0:0:0:0:0":                              `c.properties:1: OPERATION_PROPORTION: "0:0:0:0:0:0:0:0:0:0:0:0:0" sums to 0; make a share greater than 0`,
		"OPERATION_PROPORTION=1:0:0:0:0:0:0:0:0:0:0:0:0:1":                            "c.properties:1: OPERATION_PROPORTION: has 14 shares; write 13, or at least 11 in files of earlier versions, with 0 for unwanted operations or types",
		"OPERATION_PROPORTION=1:2":                                                    "c.properties:1: OPERATION_PROPORTION: has 2 shares; write 13, or at least 11 in files of earlier versions, with 0 for unwanted operations or types",
		"INSERT_DATATYPE_PROPORTION=1:1":                                              "c.properties:1: INSERT_DATATYPE_PROPORTION: has 2 shares; write 11, or at least 6 in files of earlier versions, with 0 for unwanted operations or types",
		"OPERATION_PROPORTION=1:x:0:0:0:0:0:0:0:0:0:0:0":                              `c.properties:1: OPERATION_PROPORTION: "x" in "1:x:0:0:0:0:0:0:0:0:0:0:0" is not a share; write numbers of 0 or more, separated by colons`,
		"OPERATION_PROPORTION=1:1:0:0:0:0:0:0:0:0:0:0:0\nLOOP=1":                      "c.properties:2: LOOP: 1 operations of a client are fewer than the 2 kinds of OPERATION_PROPORTION; raise it",
		"INSERT_DATATYPE_PROPORTION=0:0:0:0:0:0:0:0:0:0:1":                            "c.properties:1: INSERT_DATATYPE_PROPORTION: there is no type OBJECT here, the eleventh; set its share to 0",
		"LINE_RATIO=0\nSIN_RATIO=0\nSQUARE_RATIO=0\nRANDOM_RATIO=0\nCONSTANT_RATIO=0": "c.properties:5: CONSTANT_RATIO: all five ratios are 0, so that no sensor has a function; make one greater than 0",
		"LAMBDA=5": "c.properties:1: LAMBDA: is for late rows by POISSON; set IS_OUT_OF_ORDER to true and OUT_OF_ORDER_MODE to POISSON, or leave it out",
		"IS_OUT_OF_ORDER=true\nOUT_OF_ORDER_MODE=BATCH\nLAMBDA=5": "c.properties:3: LAMBDA: is for late rows by POISSON; set IS_OUT_OF_ORDER to true and OUT_OF_ORDER_MODE to POISSON, or leave it out",
		"IS_OUT_OF_ORDER=true\nMAX_K=100":                         "c.properties:2: MAX_K: delays of 2200 steps on average may reach 100 here, which is not bounded; raise it to 2710, or lower LAMBDA",
		"IS_DOUBLE_WRITE=true":                                    "c.properties:1: IS_DOUBLE_WRITE: only false can be had here: targets take turns, and each has figures of its own; name both with --target, and the answers of both are checked",
		"BENCHMARK_WORK_MODE=generateDataMode":                    "c.properties:1: BENCHMARK_WORK_MODE: only testWithDefaultPath can be had here: files of rows are written by tsmark generate --use-case iotdb, loaded by tsmark load --file, and answers checked by tsmark verify",
		"TEST_MAX_TIME=5":                                         "c.properties:1: TEST_MAX_TIME: a load is whole, or it has no figures; set it to 0, and lower LOOP",
		"OP_MIN_INTERVAL=5":                                       "c.properties:1: OP_MIN_INTERVAL: a load goes as fast as it can; leave it out, or run queries beside the writes",
		"START_TIME=yesterday":                                    `c.properties:1: START_TIME: must be a time with its offset, such as 2022-01-01T00:00:00+08:00, not "yesterday"`,
		"LOOP=9000000000000000000":                                "c.properties:1: LOOP: 9000000000000000000 batches of 100 rows, each a POINT_STEP of 5s, are longer than 200 years; lower one of them",
		"DATA_SEED=0":                                             "c.properties:1: DATA_SEED: 0 draws a seed from the clock here; give another",
		"TAG_NUMBER=2":                                            "c.properties:1: TAG_NUMBER: TAG_NUMBER says 2 tags, and TAG_VALUE_CARDINALITY has 0 numbers of values",
		"TAG_VALUE_CARDINALITY=5,0":                               `c.properties:1: TAG_VALUE_CARDINALITY: "0" is not a number of values; write 1 or more for each tag, separated by commas`,
		"DEVICE_NUM_PER_WRITE=7":                                  "c.properties:1: DEVICE_NUM_PER_WRITE: 6000 devices cannot be written 7 at a time by each of 20 clients; make DEVICE_NUMBER a multiple of both together",
		"GROUP_NUMBER=7000":                                       "c.properties:1: GROUP_NUMBER: 7000 groups are more than 6000 devices; lower it, or raise DEVICE_NUMBER",
		"GROUP_NUMBER=2\nSG_STRATEGY=div":                         "c.properties:2: SG_STRATEGY: devices are dealt to groups by mod; leave div out",
		"QUERY_AGGREGATE_FUN=median":                              `c.properties:1: QUERY_AGGREGATE_FUN: must be count, sum, avg, max_value or min_value, not "median"`,
		"QUERY_SET_OP_TYPE=minus":                                 `c.properties:1: QUERY_SET_OP_TYPE: must be union, intersect or except, also with all or distinct behind it, not "minus"`,
		"TS_ALIGNMENT_RATIO=0.5\nIS_SENSOR_TS_ALIGNMENT=false":    "c.properties:1: TS_ALIGNMENT_RATIO: all sensors are kept here; set it to 1, and lower SENSOR_NUMBER",
		"CREATE_SCHEMA=false":                                     "c.properties:1: CREATE_SCHEMA: tables are made before the clock starts; set it to true",
	} {
		_, err := read(lines + "\nDB_SWITCH=FakeDB")
		if err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", lines, err, want)
		}
	}
	for lines, want := range map[string]string{
		"DB_SWITCH=DolphinDB-3-MTW":      "c.properties:1: DB_SWITCH: DolphinDB-3-MTW has no driver; give one of these by --target: " + strings.Join(names(), ", "),
		"DB_SWITCH=TimescaleD":           `c.properties:1: DB_SWITCH: "TimescaleD" is not a database of IoTDB-Benchmark; did you mean "TimescaleDB" or "TimescaleDB-cluster"?`,
		"DB_SWITCH=InfluxDB\nHOST=a,b":   "c.properties:2: HOST: names several servers, and a target is one; name one, or several targets with --target",
		"DB_SWITCH=QuestDB\nPASSWORD=@x": "c.properties:2: PASSWORD: begins with @, behind which the name of a file would stand; leave it out, and set the variable TSMARK_QUESTDB_PG_PASSWORD",
	} {
		if _, err := read(lines); err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", lines, err, want)
		}
	}
}

// FuzzRead: any file gives an experiment whose file can be read again, or an error of whole lines
// that name the file.
func FuzzRead(f *testing.F) {
	for _, lines := range []string{"", "LOOP=5", "OPERATION_PROPORTION=1:2:3:0:0:0:0:0:0:0:0:0:0", "DB_SWITCH=QuestDB\nPASSWORD=x", "IS_OUT_OF_ORDER=true\nLAMBDA=3", "OP_MIN_INTERVAL=-1\nOPERATION_PROPORTION=1:1:0:0:0:0:0:0:0:0:0:0:0", "TAG_NUMBER=1\nTAG_VALUE_CARDINALITY=7"} {
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := iotdbconfig.Read(iotdbconfig.File{Name: "c.properties", Data: data}, iotdbconfig.Options{Targets: true})
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "c.properties") {
					t.Fatalf("error %q", err)
				}
			}
			return
		}
		e.Targets = experiment.Default().Targets
		yaml, err := experiment.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := experiment.Parse("e.yaml", yaml)
		if err != nil {
			t.Fatalf("%v in\n%s", err, yaml)
		}
		if diff := cmp.Diff(e.Settings(), again.Settings()); diff != "" {
			t.Fatalf("read again (-want +got):\n%s", diff)
		}
		_ = e.Check() // it may have more workers than possible
	})
}
