package sql_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target/all"
)

// The golden files testdata/<target>/<query type>.sql are rendered again by
//
//	go test ./query/sql -update
var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestGolden(t *testing.T) {
	schema := cpuOnly()
	for _, kind := range all.Kinds() {
		for _, q := range devops() {
			t.Run(kind.Name+"/"+q.Type, func(t *testing.T) {
				request, err := kind.Render(&q, schema)
				if err != nil {
					t.Fatal(err)
				}
				got := request.Text + "\n"
				path := filepath.Join("testdata", kind.Name, q.Type+".sql")
				if *update {
					if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s differs; if the new text is right, run the test with -update\ngot:\n%s\nwant:\n%s", path, got, want)
				}
			})
		}
	}
}

// cpuOnly is the schema of TSBS's cpu-only workload, with three of its tags.
func cpuOnly() *series.Schema {
	names := cpuFields()
	fields := make([]series.Field, len(names))
	for i, name := range names {
		fields[i] = series.Field{Name: name, Type: series.Int}
	}
	return &series.Schema{
		Series: 100,
		Tables: []*series.Table{{
			Name:   "cpu",
			Tags:   []series.Tag{{Key: "hostname"}, {Key: "region"}, {Key: "datacenter"}},
			Fields: fields,
		}},
	}
}

func cpuFields() []string {
	return []string{
		"usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait",
		"usage_irq", "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice",
	}
}

// devops returns one query of each type of TSBS's devops and cpu-only
// workloads. The windows and the first hosts are ones that TSBS draws.
func devops() []query.Query {
	fields := cpuFields()
	hosts := []string{
		"host_49", "host_3", "host_35", "host_39", "host_75", "host_15", "host_21", "host_11",
		"host_63", "host_94", "host_0", "host_82", "host_58", "host_29", "host_77", "host_4",
		"host_91", "host_16", "host_40", "host_53", "host_68", "host_7", "host_88", "host_25",
		"host_31", "host_99", "host_12", "host_46", "host_72", "host_20", "host_85", "host_60",
	}
	in := func(n int) *query.TagIn { return &query.TagIn{Key: "hostname", Values: hosts[:n]} }
	max := func(name, start string, length, bucket time.Duration, hosts, metrics int) query.Query {
		return query.Query{
			Type: name, Shape: query.Buckets, Table: "cpu", Aggregate: query.Max, Fields: fields[:metrics], Bucket: bucket,
			Start: at(start), End: at(start).Add(length), In: in(hosts), Order: query.Ascending,
		}
	}
	mean := func(name string, metrics int) query.Query {
		start := at("2016-01-02T11:22:40.646325Z")
		return query.Query{
			Type: name, Shape: query.Buckets, Table: "cpu", Aggregate: query.Avg, Fields: fields[:metrics], Bucket: time.Hour,
			GroupBy: "hostname", Start: start, End: start.Add(12 * time.Hour), Order: query.Ascending,
		}
	}
	high := func(name string, hosts *query.TagIn) query.Query {
		start := at("2016-01-02T23:35:31.138978Z")
		return query.Query{
			Type: name, Shape: query.Rows, Table: "cpu", Fields: fields, GroupBy: "hostname",
			Start: start, End: start.Add(12 * time.Hour), In: hosts, Above: &query.Above{Field: "usage_user", Value: 90},
		}
	}
	const hour, halfDay = "2016-01-03T12:26:46.646325Z", "2016-01-02T11:22:40.646325Z"
	return []query.Query{
		max("single-groupby-1-1-1", hour, time.Hour, time.Minute, 1, 1),
		max("single-groupby-1-1-12", halfDay, 12*time.Hour, time.Minute, 1, 1),
		max("single-groupby-1-8-1", hour, time.Hour, time.Minute, 8, 1),
		max("single-groupby-5-1-1", hour, time.Hour, time.Minute, 1, 5),
		max("single-groupby-5-1-12", halfDay, 12*time.Hour, time.Minute, 1, 5),
		max("single-groupby-5-8-1", hour, time.Hour, time.Minute, 8, 5),
		max("cpu-max-all-1", "2016-01-01T11:48:31.646325Z", 8*time.Hour, time.Hour, 1, 10),
		max("cpu-max-all-8", "2016-01-01T11:48:31.646325Z", 8*time.Hour, time.Hour, 8, 10),
		max("cpu-max-all-32-24", "2016-01-01T11:48:31.646325Z", 24*time.Hour, time.Hour, 32, 10),
		mean("double-groupby-1", 1),
		mean("double-groupby-5", 5),
		mean("double-groupby-all", 10),
		{
			Type: "groupby-orderby-limit", Shape: query.Buckets, Table: "cpu", Aggregate: query.Max, Fields: fields[:1],
			Bucket: time.Minute, End: at("2016-01-03T13:26:46.646325Z"), Order: query.Descending, Limit: 5,
		},
		high("high-cpu-all", nil),
		high("high-cpu-1", &query.TagIn{Key: "hostname", Values: []string{"host_35"}}),
		{Type: "lastpoint", Shape: query.Last, Table: "cpu", Fields: fields, GroupBy: "hostname"},
	}
}

func at(rfc3339 string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, rfc3339)
	if err != nil {
		panic(err)
	}
	return t
}
