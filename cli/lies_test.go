package cli

import (
	"bytes"
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/conformance/lie"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// lyingServers are the targets before whose servers the proxy stands, each with
// the options that are ports, by how far they are from the server's first, and
// what else it is given.
var lyingServers = []struct {
	kind, options string
	ports         map[string]int
	only          []string // lies, where not all are told; nil: all
	dedupes       bool     // a row that is written twice is there once
}{
	{kind: "postgres", options: "user=tsmark,database=postgres", ports: map[string]int{"port": 0}},
	{
		kind: "timescaledb", options: "user=postgres,database=postgres,connections=one,method=insert", ports: map[string]int{"port": 0},
		only: []string{lie.Between.Name}, // the test server takes no COPY, and the protocol is that of postgres
	},
	{kind: "questdb", ports: map[string]int{"port": 0, "pg_port": 1}},
	{kind: "questdb", options: "read=rest", ports: map[string]int{"port": 0, "pg_port": 1}},
	{kind: "influxdb", ports: map[string]int{"port": 0}, dedupes: true},
}

// toldLies are the lies, and what has to become of them.
var toldLies = []struct {
	lie.Lie
	load    bool // it is found when the contents are counted
	answers bool // it is found when answers are compared
}{
	{Lie: lie.Zeroes, load: true},
	{Lie: lie.Swapped, answers: true},
	{Lie: lie.DropsFew, load: true},
	{Lie: lie.Duplicates, load: true},
	{Lie: lie.Both, load: true},
	{Lie: lie.Stale, answers: true},
	{Lie: lie.Between, answers: true},
	{Lie: lie.NoMiddle, answers: true},
	{Lie: lie.Truncated, answers: true},
	{Lie: lie.Stalls},
}

// lyingTypes are query types whose answers differ from query to query and have
// several rows each: a sample of answers without rows has nothing to lie about.
const lyingTypes = "single-groupby-1-1-1,cpu-max-all-1,double-groupby-1,high-cpu-all"

// A server that lies has no figure, whatever it lies about; one that is only slow
// at times has one that says so.
func TestLies(t *testing.T) {
	for _, server := range lyingServers {
		for _, told := range toldLies {
			if len(server.only) > 0 && !slices.Contains(server.only, told.Name) {
				continue
			}
			name := cmp.Or(server.options, "default")
			t.Run(server.kind+"/"+name+"/"+told.Name, func(t *testing.T) {
				host, port := conformance.Address(t, server.kind)
				first, err := strconv.Atoi(port)
				if err != nil {
					t.Fatal(err)
				}
				spec := server.kind + ",host=127.0.0.1"
				var addresses, names []string
				for option, distance := range server.ports {
					names = append(names, option)
					addresses = append(addresses, net.JoinHostPort(host, strconv.Itoa(first+distance)))
				}
				group, err := lie.New(told.Lie, "cpu", addresses...)
				if err != nil {
					t.Fatal(err)
				}
				defer group.Close()
				for i, option := range names {
					spec += "," + option + "=" + group.Port(i)
				}
				if server.options != "" {
					spec += "," + server.options
				}
				code, run, said := runLied(t, spec)
				load, wrong := run.Targets[0].Load, typesWithheld(&run.Targets[0])
				dedupes := server.dedupes && told.Name == lie.Duplicates.Name
				switch {
				case load == nil:
					t.Fatalf("nothing was loaded:\n%s", said)
				case dedupes || !told.load && !told.answers:
					if code != exitDone || load.Withheld != "" || len(wrong) > 0 {
						t.Errorf("exit status %d, load withheld: %q, types withheld: %q; nothing was wrong\n%s", code, load.Withheld, wrong, said)
					}
				case told.load && load.Withheld == "":
					t.Errorf("the load stands, exit status %d\n%s", code, said)
				case told.answers && len(wrong) < len(strings.Split(lyingTypes, ",")):
					t.Errorf("only %q of %s are withheld, exit status %d\n%s", wrong, lyingTypes, code, said)
				case code != exitWithheld:
					t.Errorf("exit status %d, want %d\n%s", code, exitWithheld, said)
				}
				if told.Name == lie.Stalls.Name {
					for _, q := range run.Targets[0].Queries {
						if q.Service.Max < 1 {
							t.Errorf("%s: a second's stall is not in the longest service time, %v s", q.Type, q.Service.Max)
						}
					}
				}
			})
		}
	}
}

// typesWithheld lists the query types without a figure.
func typesWithheld(t *result.Target) []string {
	var types []string
	for _, q := range t.Queries {
		if q.Withheld != "" {
			types = append(types, q.Type)
		}
	}
	return types
}

// runLied runs an experiment of 15,000 rows and 60 queries a type on one target.
func runLied(t *testing.T, spec string) (code int, run *result.Run, said string) {
	var out, errs bytes.Buffer
	dir := t.TempDir()
	if strings.HasPrefix(spec, "postgres") || strings.HasPrefix(spec, "timescaledb") {
		t.Setenv("TSMARK_"+strings.ToUpper(strings.SplitN(spec, ",", 2)[0])+"_PASSWORD", conformance.Password(t))
	}
	code = execute(t.Context(), []string{
		"tsmark", "run", "--verbose", "--results", dir, "--target", spec, "--replace", "--scale", "40", "--timestamp-end", "2016-01-02T01:00:00Z",
		"--log-interval", "4m", "--query-type", lyingTypes, "--queries", "60", "--time-box", "0", "--batch-size", "500",
	}, &out, &errs, newCatalog(tsbs.Workloads(), all.Drivers()))
	kept, err := store.OpenExisting(t.Context(), dir, nil)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	defer kept.Close()
	found, err := kept.Find(t.Context(), "latest")
	if err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	if run, err = kept.Run(t.Context(), found.Runs[0]); err != nil {
		t.Fatal(err)
	}
	return code, run, out.String() + errs.String()
}
