package influxdb

import (
	"strconv"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/influx"
)

// script starts a server of this test's own, where one can be had.
func script(t *testing.T, env ...string) *fault.Server {
	t.Helper()
	conformance.Address(t, "influxdb")
	return fault.Script(t, "influxdb", env...)
}

func TestFaults(t *testing.T) {
	conformance.Long(t)
	fault.Run(t, fault.Target{
		Driver:   Driver(),
		Options:  map[string]string{connection.Database: "tsmark_faults", optionServer: product()},
		Server:   script(t),
		Patience: 20 * time.Second,
		Cannot: map[string]string{
			fault.WrongPassword: "the server requires none; TestCredentials has one that does",
			fault.PowerFails: "1.6.7 does not start again: it does not sync the headers of a new database's files _series/NN/0000, " +
				"and SeriesFile.Open, which finds one without, waits for its own lock in SeriesFile.Close",
		},
	})
}

// TestCredentials checks that a server that requires credentials accepts those of the options or of the
// environment, and no others.
func TestCredentials(t *testing.T) {
	if product() == geminiServer {
		t.Skip("openGemini takes no such setting from its environment")
	}
	t.Setenv(userVariable, "")
	t.Setenv(passwordVariable, "")
	s := script(t, "INFLUXDB_HTTP_AUTH_ENABLED=true")
	connect := func(set ...string) (driver.DB, error) {
		options := map[string]string{connection.Port: strconv.Itoa(s.Port()), connection.Database: "secured"}
		for i := 0; i < len(set); i += 2 {
			options[set[i]] = set[i+1]
		}
		influxDriver := Driver()
		resolved, err := influxDriver.Resolve(options)
		if err != nil {
			t.Fatal(err)
		}
		return open(t.Context(), driver.Env{Create: true}, resolved)
	}
	plain := influx.NewQuerier(settingsOf(t, map[string]string{connection.Port: strconv.Itoa(s.Port())}).endpoint())
	if _, err := plain.Do(t.Context(), driver.Request{Text: "CREATE USER joe WITH PASSWORD 's3cret' WITH ALL PRIVILEGES"}, nil); err != nil {
		t.Fatal(err)
	}
	_, err := connect()
	stub.Says(t, err, "it does not take these credentials; give the options user and password")
	_, err = connect(connection.User, "joe", connection.Password, "wr0ng")
	stub.Says(t, err, "it does not take these credentials; give the options user and password", "authorization failed")
	load := func(d driver.DB) {
		t.Helper()
		defer conformance.Close(t, d)
		conformance.Prepare(t, d, 3, conformance.Table("usage"))
		if description, err := d.Describe(t.Context()); err != nil || description.Settings["data.wal-fsync-delay"] != "0s" {
			t.Errorf("%+v, %v", description, err)
		}
	}
	d, err := connect(connection.User, "joe", connection.Password, stub.Secret)
	if err != nil {
		t.Fatal(err)
	}
	load(d)
	t.Setenv(userVariable, "joe")
	t.Setenv(passwordVariable, stub.Secret)
	if d, err = connect(); err != nil {
		t.Fatal(err)
	}
	load(d)
}
