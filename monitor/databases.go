package monitor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	own "github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
)

// database describes how to recognize a product's processes.
type database struct {
	name     string
	programs []string // names of programs; one that ends in * is a beginning
	classes  []string // parts of a Java command line: main classes, jars
}

// databases returns the products that can be recognized by their processes.
func databases() []database {
	return []database{
		{"PostgreSQL or TimescaleDB", []string{"postgres", "postmaster"}, nil},
		{"MySQL or MariaDB", []string{"mysqld", "mariadbd"}, nil},
		{"InfluxDB", []string{"influxd", "influxdb3"}, nil},
		{"QuestDB", []string{"questdb"}, []string{"io.questdb"}},
		{"VictoriaMetrics", []string{"victoria-metrics*", "vmstorage*", "vminsert*", "vmselect*"}, nil},
		{"ClickHouse", []string{"clickhouse", "clickhouse-server", "clickhouse-serv"}, nil},
		{"MongoDB", []string{"mongod", "mongos"}, nil},
		{"TDengine", []string{"taosd", "taosadapter"}, nil},
		{"Apache IoTDB", nil, []string{"org.apache.iotdb"}},
		{"Apache Cassandra", nil, []string{"org.apache.cassandra.service.CassandraDaemon"}},
		{"ScyllaDB", []string{"scylla"}, nil},
		{"Prometheus", []string{"prometheus"}, nil},
		{"Mimir, Thanos or Cortex", []string{"mimir", "thanos", "cortex"}, nil},
		{"M3DB", []string{"m3dbnode"}, nil},
		{"GreptimeDB", []string{"greptime"}, nil},
		{"CrateDB", nil, []string{"io.crate.bootstrap"}},
		{"CockroachDB", []string{"cockroach"}, nil},
		{"Elasticsearch or OpenSearch", nil, []string{"org.elasticsearch", "org.opensearch"}},
		{"OpenTSDB or HBase", nil, []string{"net.opentsdb", "org.apache.hadoop.hbase"}},
		{"Apache Druid", nil, []string{"org.apache.druid"}},
		{"Apache Pinot", nil, []string{"org.apache.pinot"}},
		{"GridDB", []string{"gsserver"}, nil},
		{"Graphite", []string{"carbon-cache*", "go-carbon"}, nil},
		{"Redis or Valkey", []string{"redis-server", "valkey-server"}, nil},
		{"Microsoft SQL Server", []string{"sqlservr"}, nil},
		{"DuckDB's shell", []string{"duckdb"}, nil},
	}
}

// databaseOf returns the name of the product that a process belongs to; empty: unknown. It reads
// the command line only of Java processes: an editor that has postgres.conf open is not a database.
func databaseOf(program string, commandLine []string) string {
	program = strings.TrimSuffix(program, ".exe")
	for _, d := range databases() {
		if slices.ContainsFunc(d.programs, func(p string) bool {
			beginning, open := strings.CutSuffix(p, "*")
			return program == p || open && strings.HasPrefix(program, beginning)
		}) {
			return d.name
		}
		if program == "java" && slices.ContainsFunc(d.classes, func(class string) bool {
			return slices.ContainsFunc(commandLine, func(word string) bool { return isClass(word, class) })
		}) {
			return d.name
		}
	}
	return ""
}

// isClass reports whether a word of a command line is a class of a package,
// a module and class (-m io.questdb/io.questdb.ServerMain), or that class.
func isClass(word, class string) bool {
	return word == class || strings.HasPrefix(word, class+".") || strings.HasPrefix(word, class+"/")
}

// OtherDatabases returns the databases that run on this host, except the processes under test
// (except) and their descendants. Their CPU share is measured over a period, such as a second; 0:
// it is absent. A family of processes is listed by its first process, with the sum of their memory
// and CPU share.
func OtherDatabases(ctx context.Context, over time.Duration, except ...int) ([]result.OtherDatabase, error) {
	var tracker own.Tracker // reads all processes once, however many databases there are
	table, err := tracker.Table(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot look for other databases: %w", err)
	}
	ours, err := tracker.Tree(ctx, except...)
	if err != nil {
		return nil, fmt.Errorf("cannot look for other databases: %w", err)
	}
	names := map[int]string{}
	programs := map[int]string{}
	for _, p := range table {
		if p.Ended || slices.ContainsFunc(ours, func(o own.Info) bool { return o.PID == p.PID }) {
			continue
		}
		program, line := commandOf(ctx, p.PID)
		if name := databaseOf(program, line); name != "" {
			names[p.PID], programs[p.PID] = name, program
		}
	}
	var others []result.OtherDatabase
	var sources []Source
	for _, p := range table {
		if names[p.PID] == "" || names[p.Parent] == names[p.PID] {
			continue
		}
		others = append(others, result.OtherDatabase{
			Name: names[p.PID], PID: p.PID, Process: programs[p.PID], RSS: result.Absent(), Share: result.Absent(),
		})
		source := PIDSource(p.PID).(*processSource)
		source.tracker = tracker
		source.family.begin(startsOf(table))
		sources = append(sources, source)
	}
	if err := watchOthers(ctx, others, sources, over); err != nil {
		return nil, err
	}
	slices.SortFunc(others, func(a, b result.OtherDatabase) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.PID-b.PID)
	})
	return others, nil
}

// watchOthers reads memory, and CPU shares over a while.
func watchOthers(ctx context.Context, others []result.OtherDatabase, sources []Source, over time.Duration) error {
	if len(others) == 0 {
		return nil
	}
	begin := time.Now()
	for i, s := range sources {
		r, _ := s.Read(ctx) // one that has ended has no figures
		if rss, ok := r.Values[result.RSS]; ok {
			others[i].RSS = result.Value(rss)
		}
	}
	if over <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(over):
	}
	for i, s := range sources {
		r, _ := s.Read(ctx)
		// Counted from the source's first reading.
		if cpu, ok := r.Values[result.CPU]; ok && !math.IsNaN(cpu) {
			others[i].Share = result.Value(cpu / time.Since(begin).Seconds())
		}
	}
	return nil
}

// commandOf returns the name of a process's program, and its command line where
// the program's name does not tell enough. Nothing of it is stored: it may hold
// passwords.
func commandOf(ctx context.Context, pid int) (program string, line []string) {
	p := process.Process{Pid: int32(pid)}
	name, err := p.NameWithContext(ctx)
	if err != nil {
		return "", nil
	}
	program = filepath.Base(name)
	if strings.TrimSuffix(program, ".exe") == "java" {
		line, _ = p.CmdlineSliceWithContext(ctx)
	}
	return program, line
}
