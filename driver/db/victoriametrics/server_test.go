package victoriametrics

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

var update = flag.Bool("update", false, "write the golden files")

// server returns the options that lead to the server that tests may fill.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	conformance.Sole(t, Driver())
	return conformance.TestServer(t, Driver(), pairs...)
}

func TestConformance(t *testing.T) { conformance.Run(t, Driver(), server(t)) }

// Batches by remote write.
func TestConformanceRemote(t *testing.T) {
	conformance.RunWrites(t, Driver(), server(t, metric.OptionProtocol, metric.RemoteWrite1))
}

// Batches by OTLP, which 1.79 does not take.
func TestConformanceOTLP(t *testing.T) {
	conformance.Long(t)
	if os.Getenv(version.Variable("victoriametrics")) == "" {
		t.Skip("Debian's server takes no OTLP; start victoriametrics@VERSION")
	}
	conformance.RunWrites(t, Driver(), server(t, metric.OptionProtocol, metric.OTLP))
	conformance.RunClassic(t, Driver(), server(t, metric.OptionProtocol, metric.OTLP))
}

// Rows at multiples of an interval that an option says, as it is needed for files of others.
func TestConformanceInterval(t *testing.T) {
	conformance.Long(t)
	conformance.RunRegular(t, Driver(), server(t, promql.IntervalOption, conformance.RegularInterval.String()))
}

func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.metricsql", *update) }

func TestFaults(t *testing.T) {
	conformance.Address(t, "victoriametrics")
	cannot := map[string]string{
		fault.WrongPassword: "the server requires none; TestCredentials has one that does",
		fault.WrongDatabase: "it has none",
	}
	if of := os.Getenv(version.Variable("victoriametrics")); of != "" {
		cannot[fault.DiskFull] = "version " + of + " takes such a load into memory, answers from there, and writes files seconds later (seen on 1.150, down to files of 8 KiB)"
	}
	fault.Run(t, fault.Target{Driver: Driver(), Server: fault.Script(t, "victoriametrics"), Patience: 20 * time.Second, Cannot: cannot})
}

// TestCredentials checks that a server that requires credentials accepts those of the options, and no
// others.
func TestCredentials(t *testing.T) {
	conformance.Address(t, "victoriametrics")
	s := fault.Script(t, "victoriametrics", "httpAuth_username=joe", "httpAuth_password="+stub.Secret)
	connect := func(pairs ...string) (driver.DB, error) {
		return open(t.Context(), driver.Env{Create: true}, conformance.Options(t, Driver(), append(pairs, connection.Port, strconv.Itoa(s.Port()))...))
	}
	_, err := connect()
	stub.Says(t, err, "it does not take these credentials; give the options user and password")
	_, err = connect(connection.User, "joe", connection.Password, "wr0ng")
	stub.Says(t, err, "it does not take these credentials; give the options user and password")
	d, err := connect(connection.User, "joe", connection.Password, stub.Secret)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, d)
	conformance.Prepare(t, d, 3, conformance.Table("usage"))
}

// Flags with which rows would be lost are found before a load.
func TestInspect(t *testing.T) {
	d := newDatabase(&settings{retention: retentionLong})
	for _, c := range []struct{ name, value, says string }{
		{"retentionPeriod", "", "-retentionPeriod=1), and datasets begin in 2016: start it with -retentionPeriod=100y"},
		{"retentionPeriod", "2y", "-retentionPeriod=2y)"},
		{"retentionPeriod", "1200", ""},
		{"retentionPeriod", "100y", ""},
		{"dedup.minScrapeInterval", "15s", "-dedup.minScrapeInterval=15s"},
		{"dedup.minScrapeInterval", "1ms", ""},
		{"influxSkipMeasurement", "true", "-influxSkipMeasurement=true"},
	} {
		flags := map[string]string{"retentionPeriod": "100y"}
		flags[c.name] = c.value
		err := d.check(flags)
		if c.says == "" && err != nil {
			t.Errorf("%v: %v", flags, err)
		}
		if c.says != "" {
			stub.Says(t, err, c.says)
		}
	}
}

// TestReveal checks that a settled load is visible to a filter that ran before, although the server itself has
// flushed its index before tsmark tells it to.
func TestReveal(t *testing.T) {
	start := time.Date(2016, 1, 31, 23, 59, 0, 0, time.UTC)
	set, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 1, Scale: 100, Start: start, End: start.Add(2 * time.Minute), Interval: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	db := conformance.OpenAt(t, Driver(), server(t))
	schema, rows := set.Schema(), set.Open()
	conformance.Prepare(t, db, schema.Series, schema.Tables...)
	if err := db.Create(t.Context(), schema); err != nil { // whose times are known
		t.Fatal(err)
	}
	d := db.Required.(*database)
	// Half of the series of a month each, and then the other half.
	for part, want := range []int64{50, 100, 150, 200} {
		var b series.Batch
		if err := rows.Next(&b, 50); err != nil {
			t.Fatal(err)
		}
		conformance.Write(t, db, &b)
		if err := poll.Wait(t.Context(), look, look, func() (bool, error) {
			// A filter that never ran finds all that the index has.
			match := promql.Span{Length: metric.Latest - metric.Earliest + 1}.AppendRange(metricsQL{}, `{__name__="cpu_usage_user", `+promql.UncachedMatcher()+"}", "")
			found, err := d.own.Figure(t.Context(), metricsQL{}, "sum(count_over_time("+match+"))")
			return int64(found.Float) == want, err
		}); err != nil {
			t.Fatal(err)
		}
		if err := db.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := d.CountRows(t.Context(), schema.Tables[0]); err != nil || n != want {
			t.Errorf("%d rows after part %d, want %d (%v)", n, part, want, err)
		}
	}
}
