package cli

import (
	"bytes"
	"cmp"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// variants are options with which servers are lied about once more, or in place
// of those by default where the first is not empty.
func variants() map[string][]string {
	list := map[string][]string{
		"clickhouse":  {"", "protocol=http"},
		"griddb":      {"", "layout=table,language=sql"},
		"influxdb3":   {"read=http"}, // gRPC passes unchanged
		"questdb":     {"", "read=rest"},
		"tdengine":    {"write=websocket", "read=rest"},
		"timescaledb": {"method=insert"}, // the test server takes no COPY
	}
	if os.Getenv("TSMARK_INFLUXDB") == "opengemini" { // what servers/influxdb starts
		list["influxdb"] = []string{"server=opengemini"}
	}
	return list
}

// spokenBefore are drivers whose servers speak another one's protocol, so that one
// lie tells enough.
func spokenBefore() []string { return []string{"timescaledb"} }

// slow are drivers whose servers take long for a lie.
func slow() []string {
	return []string{"cassandra", "influxdb3", "iotdb", "kairosdb", "opentsdb", "prometheus"}
}

// reference is the driver whose server is told about in all ways that CI has time for. How
// tsmark finds a lie does not depend on the driver: of the others CI has a lie about
// contents, which is one about answers, too, and, where the server is quick, one about answers alone.
const reference = "postgres"

// inCI reports whether CI has time for a lie about a driver's server.
func (l *toldLie) inCI(driver string) bool {
	switch {
	case l.long:
		return false
	case driver == reference || slices.Contains(spokenBefore(), driver) || l.Name == lie.Swapped.Name:
		return true
	}
	return l.Name == lie.Truncated.Name && !slices.Contains(slow(), driver)
}

// interval is the one at which the series have rows: a lie about one row in thousands needs
// as many.
func (l *toldLie) interval(driver string) string {
	switch {
	case slices.Contains(sparse(), driver):
		return "1h"
	case l.Name == lie.DropsFew.Name:
		return "4m"
	}
	return "15m"
}

// sparse are drivers whose servers take few rows a second: theirs are an hour apart.
func sparse() []string { return []string{"kairosdb", "opentsdb"} }

// toldLie is a lie, and what has to become of it.
type toldLie struct {
	lie.Lie
	load    bool // it is found when the contents are counted
	answers bool // it is found when answers are compared
	long    bool // left to .ci/nightly: see conformance.Long
}

var toldLies = []toldLie{
	{Lie: lie.Zeroes, load: true, long: true},
	{Lie: lie.Swapped, load: true, answers: true},
	{Lie: lie.DropsFew, load: true},
	{Lie: lie.Duplicates, load: true, long: true},
	{Lie: lie.Both, load: true, long: true},
	{Lie: lie.Stale, answers: true, long: true},
	{Lie: lie.Between, answers: true},
	{Lie: lie.NoMiddle, answers: true, long: true},
	{Lie: lie.Guesses, answers: true, long: true},
	{Lie: lie.Truncated, answers: true},
	{Lie: lie.Stalls, long: true},
}

// lyingTypes are query types whose answers differ from query to query and have
// several rows each: a sample of answers without rows has nothing to lie about.
const lyingTypes = "single-groupby-1-1-1,cpu-max-all-1,double-groupby-1,high-cpu-all"

// filtering are drivers whose clients leave rows out of what the server answers: a lie
// about such a row is none about the answer.
func filtering() []string { return []string{"kairosdb", "opentsdb"} }

// statements are drivers of which a query by default is a statement for each series: a
// second's stall of three in thirty takes a quarter of an hour there.
func statements() []string { return []string{"griddb"} }

// typesOf returns those of lyingTypes that a driver's server can lie about.
func typesOf(d driver.Driver) []string {
	all := strings.Split(lyingTypes, ",")
	if slices.Contains(filtering(), d.Name) {
		all = slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(name, "high-cpu") })
	}
	return all
}

// A server that lies has no figure, whatever it lies about; one that is only slow
// at times has one that says so.
func TestLies(t *testing.T) {
	for _, d := range all.Drivers() {
		if d.TestServer == nil || d.UserServer != nil && d.StandIn == "" && !conformance.Given(d.Name) {
			continue
		}
		given := variants()[d.Name]
		if given == nil {
			given = []string{""}
		}
		for _, more := range given {
			for _, told := range toldLies {
				if told.Name == lie.DropsFew.Name && slices.Contains(sparse(), d.Name) {
					told.Lie = lie.DropsSome
				}
				if !slices.Contains(spokenBefore(), d.Name) || told.Name == lie.Between.Name {
					t.Run(d.Name+"/"+cmp.Or(more, "default")+"/"+told.Name, func(t *testing.T) {
						if !told.inCI(d.Name) {
							conformance.Long(t)
						}
						if told.Name == lie.Stalls.Name && more == "" && slices.Contains(statements(), d.Name) {
							return // as statements says
						}
						lieAbout(t, d, more, told)
					})
				}
			}
		}
	}
}

// A server that acknowledges rows at once and writes them later gains nothing by it: the load
// has settled once they are visible, or the load has no figure.
func TestLiesAboutTime(t *testing.T) {
	const delay = 400 * time.Millisecond
	for _, d := range all.Drivers() {
		if d.Name != "sqlite" && (d.TestServer == nil || d.UserServer != nil && !conformance.Given(d.Name)) {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			spec := d.Name
			if d.Name != "sqlite" {
				conformance.Long(t)
				for option, value := range conformance.TestServer(t, d) {
					spec += "," + option + "=" + value
				}
			}
			if options, err := d.Resolve(nil); err != nil || d.Caps(options).OneConnection {
				t.Skipf("n/a: what writes later needs a connection of its own; %v", err)
			}
			late := conformance.Postponing(d, delay, true)
			code, run, said := runLied(t, testCatalog(tsbs.Workloads(), []driver.Driver{late}), spec, "1h", []string{"cpu-max-all-1"})
			load := run.Targets[0].Load
			if load == nil {
				t.Fatalf("exit status %d, nothing was loaded:\n%s", code, said)
			}
			if hidden := load.Settled - load.Acked; load.Withheld == "" && hidden < delay.Seconds() {
				t.Errorf("exit status %d, settled %v s after the last acknowledgement, and rows were written %v after it: %+v\n%s", code, hidden, delay, load.Visible, said)
			}
		})
	}
}

// lieAbout runs a driver, with more options, against its server behind a proxy
// that lies.
func lieAbout(t *testing.T, d driver.Driver, more string, told toldLie) {
	given := conformance.TestServer(t, d)
	var addresses []string
	for _, option := range d.Ports() {
		addresses = append(addresses, net.JoinHostPort(given[connection.Host], given[option]))
	}
	group, err := lie.New(told.Lie, "cpu", addresses...)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	given[connection.Host] = "127.0.0.1"
	for i, option := range d.Ports() {
		given[option] = group.Port(i)
	}
	spec := d.Name
	for option, value := range given {
		spec += "," + option + "=" + value
	}
	if more != "" {
		spec += "," + more
	}
	options, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	types := typesOf(d)
	code, run, said := runLied(t, testCatalog(tsbs.Workloads(), all.Drivers()), spec, told.interval(d.Name), types)
	if code == exitDone && !group.Understands() {
		t.Skipf("package conformance/lie does not know the protocol of %s, which passed unchanged: teach it to lie in that", d.Name)
	}
	load, wrong := run.Targets[0].Load, typesWithheld(&run.Targets[0])
	dedupes := d.Caps(options).Dedupes && told.Name == lie.Duplicates.Name
	switch {
	case load == nil:
		t.Fatalf("nothing was loaded:\n%s", said)
	case dedupes || !told.load && !told.answers:
		if code != exitDone || load.Withheld != "" || len(wrong) > 0 {
			t.Errorf("exit status %d, load withheld: %q, types withheld: %q; nothing was wrong\n%s", code, load.Withheld, wrong, said)
		}
	case told.load && load.Withheld == "":
		t.Errorf("the load stands, exit status %d\n%s", code, said)
	case told.answers && len(wrong) < answered(t, &run.Targets[0], types):
		t.Errorf("only %q of %q are withheld, exit status %d\n%s", wrong, types, code, said)
	case code != exitWithheld:
		t.Errorf("exit status %d, want %d\n%s", code, exitWithheld, said)
	}
	if told.Name == lie.Stalls.Name {
		for _, q := range run.Targets[0].Queries {
			if q.Unsupported == "" && q.Service.Max < 1 {
				t.Errorf("%s: a second's stall is not in the longest service time, %v s", q.Type, q.Service.Max)
			}
		}
	}
}

// answered returns how many of the query types the system can answer, nearly all.
func answered(t *testing.T, target *result.Target, types []string) int {
	t.Helper()
	all := len(types)
	n := all
	for _, q := range target.Queries {
		if q.Unsupported != "" {
			n--
		}
	}
	if n < all-1 {
		t.Fatalf("only %d of %q can be lied about", n, types)
	}
	return n
}

// typesWithheld lists the query types without a figure.
func typesWithheld(t *result.Target) []string {
	var types []string
	for _, q := range t.Queries {
		if q.Withheld != "" || q.Failed != nil { // a lie may be no answer at all
			types = append(types, q.Type)
		}
	}
	return types
}

// runLied runs an experiment of 60 queries a type on one target, and of 15,000 rows where
// they are four minutes apart.
func runLied(t *testing.T, drivers catalog, spec, interval string, types []string) (code int, run *result.Run, said string) {
	var out, errs bytes.Buffer
	dir := t.TempDir()
	drivers.sampleRows = 100 // of which each lie about rows meets some, or the census finds it
	code = execute(t.Context(), []string{
		"tsmark", "run", "--verbose", "--results", dir, "--target", spec, "--replace", "--scale", "40", "--timestamp-end", "2016-01-02T01:00:00Z",
		"--log-interval", interval, "--query-type", strings.Join(types, ","), "--queries", "60", "--time-box", "0", "--batch-size", "500",
	}, &out, &errs, drivers)
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
