package prometheus

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
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
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

var update = flag.Bool("update", false, "write the golden files")

// testServer returns the options that lead to the server that tests may fill.
func testServer(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	conformance.Sole(t, Driver())
	return conformance.TestServer(t, Driver(), pairs...)
}

func TestConformance(t *testing.T) { conformance.Run(t, Driver(), testServer(t)) }

// Native histograms, where the server has them as shipped.
func TestNativeHistograms(t *testing.T) {
	if !strings.HasPrefix(os.Getenv(version.Variable("prometheus")), "3.") {
		t.Skip("the server is version 2, where they are an experiment")
	}
	conformance.RunNative(t, Driver(), testServer(t))
}

// The other protocols, where the server knows them.
func TestConformanceProtocols(t *testing.T) {
	conformance.Long(t)
	for _, protocol := range []string{metric.RemoteWrite2, metric.OTLP} {
		t.Run(protocol, func(t *testing.T) { writeBy(t, protocol) })
	}
}

func writeBy(t *testing.T, protocol string) {
	set := testServer(t, metric.OptionProtocol, protocol)
	d := Driver()
	options, err := d.Resolve(set)
	if err != nil {
		t.Fatal(err)
	}
	db, err := open(t.Context(), driver.Env{Create: true}, options)
	if err != nil && strings.Contains(err.Error(), "takes remote write 1.0 alone") {
		t.Log(err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	conformance.Close(t, db)
	conformance.RunWrites(t, d, set)
	conformance.RunClassic(t, d, set)
}

// Rows at multiples of an interval that an option says, as it is needed for files of others.
func TestConformanceInterval(t *testing.T) {
	conformance.Long(t)
	conformance.RunRegular(t, Driver(), testServer(t, promql.IntervalOption, conformance.RegularInterval.String()))
}

func TestQueries(t *testing.T) {
	conformance.Queries(t, Driver(), nil, "queries.promql", *update)
}

// script starts a server of this test's own.
func script(t *testing.T, env ...string) *fault.Server {
	t.Helper()
	conformance.Address(t, "prometheus")
	return fault.Script(t, "prometheus", env...)
}

// connect opens the server of a script.
func connect(t *testing.T, s *fault.Server, pairs ...string) (*database, error) {
	t.Helper()
	resolved := conformance.Options(t, Driver(), append(pairs, connection.Port, strconv.Itoa(s.Port()))...)
	var db driver.DB
	begin := time.Now()
	err := poll.Wait(t.Context(), 50*time.Millisecond, time.Second, func() (bool, error) {
		var err error
		db, err = open(t.Context(), driver.Env{Create: true}, resolved)
		if err != nil && strings.Contains(err.Error(), "Service Unavailable") && time.Since(begin) < time.Minute {
			return false, nil // it requires credentials before it is ready
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { conformance.Close(t, db) })
	return db.Required.(*database), nil
}

func TestFaults(t *testing.T) {
	conformance.Long(t)
	fault.Run(t, fault.Target{
		Driver:   Driver(),
		Server:   script(t),
		Patience: 20 * time.Second,
		Cannot: map[string]string{
			fault.WrongPassword: "the server requires none; TestCredentials has one that does",
			fault.WrongDatabase: "it has none",
		},
	})
}

// TestCredentials checks that a server that requires credentials accepts those of the options, and no
// others.
func TestCredentials(t *testing.T) {
	// bcrypt of stub.Secret.
	s := script(t, "PROMETHEUS_WEB=basic_auth_users: {joe: $2b$04$GEW1xzGEtDyTjl2v9QY3MOzxdxiKot63PV3rSiZHyW6zHNU9tzArW}")
	const says = "it does not take these credentials; give the options user and password"
	_, err := connect(t, s)
	stub.Says(t, err, says)
	_, err = connect(t, s, connection.User, "joe", connection.Password, "wr0ng")
	stub.Says(t, err, says)
	d, err := connect(t, s, connection.User, "joe", connection.Password, stub.Secret)
	if err != nil {
		t.Fatal(err)
	}
	conformance.Prepare(t, d.db(), 3, conformance.Table("usage"))
}

// late returns two rows. The second one is older than the first.
func late() (*series.Schema, *series.Batch) {
	table := conformance.Table("usage")
	b := new(series.Batch)
	for _, at := range []time.Duration{10 * time.Hour, 5 * time.Hour} {
		run := b.Add(table)
		run.Grow(1)
		run.Series[0], run.Times[0] = 0, time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC).Add(at).UnixNano()
		for f := range run.Columns {
			if run.Columns[f].Ints != nil {
				run.Columns[f].Ints[0] = 1
			} else {
				run.Columns[f].Floats[0] = 1
			}
		}
	}
	return &series.Schema{Tables: []*series.Table{table}, Series: 3}, b
}

// A server with a certificate of its own is trusted only where the options say so.
func TestTLS(t *testing.T) {
	certificate, key := stub.Certificate(t)
	s := script(t, fmt.Sprintf("PROMETHEUS_WEB=tls_server_config: {cert_file: %s, key_file: %s}", certificate, key))
	_, err := connect(t, s, connection.TLS, connection.On)
	stub.Says(t, err, "its TLS certificate is not to be trusted")
	if _, err = connect(t, s, connection.TLS, connection.Off); err == nil {
		t.Error("a connection without TLS is taken")
	}
	d, err := connect(t, s, connection.TLS, connection.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	conformance.Prepare(t, d.db(), 3, conformance.Table("usage"))
}

// TestToken checks that a proxy that requires a bearer token accepts the token of the options.
func TestToken(t *testing.T) {
	host, port := conformance.Address(t, "prometheus")
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)})
	_, proxy := stub.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+stub.Secret {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	})
	open := func(pairs ...string) error {
		db, err := open(t.Context(), driver.Env{Create: true}, conformance.Options(t, Driver(), append(pairs, connection.Port, proxy)...))
		if err == nil {
			conformance.Close(t, db)
		}
		return err
	}
	stub.Says(t, open(), "it does not take these credentials")
	if err := open(promql.TokenOption, stub.Secret); err != nil {
		t.Error(err)
	}
}

// TestNoLateSamples checks that several workers can load a server that accepts no late samples if their
// rows are in order, and that late samples are refused permanently with a one-line error. Once the
// server has samples, the check before a load reports the limitation.
func TestNoLateSamples(t *testing.T) {
	d, err := connect(t, script(t, "PROMETHEUS_LATE=0s"))
	if err != nil {
		t.Fatal(err)
	}
	load := func(use workload.Workload, set workload.Settings) ([]result.CensusResult, *result.Load, error) {
		t.Helper()
		start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
		dataset, err := use.Dataset(workload.Spec{Name: use.Name(), Seed: 1, Scale: 20, Start: start, End: start.Add(12 * time.Hour), Interval: time.Minute, Settings: set})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.New(d.db()).Prepare(t.Context(), dataset.Schema(), session.Mark{}); err != nil {
			t.Fatal(err)
		}
		config := engine.LoadConfig{Workers: 3, BatchSize: 1000, InOrder: inOrder, Retry: retry.Policy{Within: time.Minute}}
		load, err := engine.Load(t.Context(), config, dataset, d.db(), func(int) {})
		if err != nil {
			return nil, load, err
		}
		expected, err := oracle.Pass(t.Context(), dataset, nil, nil, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		census, err := verify.Census(t.Context(), d.db(), &expected.Survey, verify.Sent{Acknowledged: true}, nil)
		return census, load, err
	}
	if err := d.Inspect(t.Context()); err != nil {
		t.Fatal(err)
	}
	census, _, err := load(tsbs.CPUOnly(), nil)
	if err != nil || census[0].Problem != "" {
		t.Fatalf("in order: %+v, %v", census, err)
	}
	stub.Says(t, d.Inspect(t.Context()), "out_of_order_time_window (0s)")

	if d, err = connect(t, script(t, "PROMETHEUS_LATE=0s")); err != nil {
		t.Fatal(err)
	}
	census, found, err := load(iotdb.Workload(), workload.Settings{"iotdb.late": "0.5"})
	switch {
	case err == nil && census[0].Problem == "":
		t.Error("late samples are there")
	case err == nil:
		t.Logf("%s", census[0].Problem)
	case !strings.Contains(err.Error(), "out_of_order_time_window") || driver.AsTemporary(err) != nil:
		t.Errorf("%v: want an error that is not temporary and says how to fix it", err)
	default:
		t.Log(err)
	}
	if found.Retries != nil {
		t.Errorf("%+v: it was sent again", found.Retries)
	}
}

// TestCompact checks that after the step compact, the size on disk is complete, and all rows are still there; further
// rows make it incomplete again.
func TestCompact(t *testing.T) {
	d, err := connect(t, script(t))
	if err != nil {
		t.Fatal(err)
	}
	schema, b := late()
	if err := session.New(d.db()).Prepare(t.Context(), schema, session.Mark{}); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		conformance.Write(t, d.db(), b)
		if size, err := d.Footprint(t.Context()); err != nil || size.Pending == "" {
			t.Errorf("round %d: %+v, %v, although samples are in memory", round, size, err)
		}
		if err := d.db().Steps[0].Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := d.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if size, err := d.Footprint(t.Context()); err != nil || size.Pending != "" || size.Bytes <= 0 {
			t.Errorf("round %d: %+v, %v", round, size, err)
		}
		if census, err := d.Census(t.Context(), schema.Tables[0]); err != nil || census.Fields[0].Count != 2 {
			t.Errorf("round %d: %+v, %v", round, census, err)
		}
	}
}

// TestDrop checks that dropping without the admin API is a one-line error, and that with it, rows that
// are written again after they were dropped appear exactly once, however often this is repeated.
func TestDrop(t *testing.T) {
	d, err := connect(t, script(t, "PROMETHEUS_ADMIN=no"))
	if err != nil {
		t.Fatal(err)
	}
	conformance.Prepare(t, d.db(), 3, conformance.Table("usage"))
	stub.Says(t, d.Drop(t.Context(), []driver.Object{{Name: "a"}}), "start the server with --web.enable-admin-api")

	if d, err = connect(t, script(t)); err != nil {
		t.Fatal(err)
	}
	schema, b := late()
	for round := range 3 {
		if err := session.New(d.db()).Prepare(t.Context(), schema, session.Mark{}); err != nil {
			t.Fatal(err)
		}
		count := func(ctx context.Context) int64 {
			census, err := d.Census(ctx, schema.Tables[0])
			if err != nil {
				t.Fatal(err)
			}
			return census.Fields[0].Count
		}
		if n := count(t.Context()); n != 0 {
			t.Errorf("round %d: %d samples are left", round, n)
		}
		conformance.Write(t, d.db(), b)
		if n := count(t.Context()); n != 2 {
			t.Errorf("round %d: %d samples, want 2", round, n)
		}
	}
}
