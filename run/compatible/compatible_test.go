package compatible

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/conformance/suite"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/influxdb"
	"github.com/tsmark/tsmark/driver/db/mysql"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/db/prometheus"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
)

// drivers are those with profiles that tsmark ships.
func drivers() []driver.Driver {
	return []driver.Driver{influxdb.Driver(), mysql.Driver(), postgres.Driver(), prometheus.Driver()}
}

// find knows them with their profiles.
func find(name string) (driver.Driver, error) {
	for _, d := range Extend(drivers()) {
		if d.Name == name {
			return d, nil
		}
	}
	return driver.Driver{}, fmt.Errorf("no driver %s", name)
}

// lookup returns the driver of a profile with its resolved options.
func lookup(t *testing.T, name, profile string, pairs ...string) (driver.Driver, driver.Options) {
	t.Helper()
	d, err := Lookup(find, &experiment.Target{Driver: name, Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	set := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		set[pairs[i]] = pairs[i+1]
	}
	chosen, err := d.Choose(profile, "", set)
	if err != nil {
		t.Fatal(err)
	}
	options, err := d.Resolve(chosen)
	if err != nil {
		t.Fatal(err)
	}
	return d, options
}

// Each profile that tsmark ships makes a driver, under its file's name.
func TestShipped(t *testing.T) {
	entries, err := os.ReadDir("profiles")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range Extend(drivers()) {
		for _, p := range d.Profiles {
			if p.System == "" {
				continue
			}
			names = append(names, p.Name+".yaml")
			of, options := lookup(t, d.Name, p.Name)
			if of.Help != p.Help || len(of.Profiles) != 1 || of.Durabilities != nil || options[result.OptionQuirks] == "" {
				t.Errorf("%s: %+v", p.Name, of)
			}
		}
	}
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			t.Errorf("%s is of no driver", e.Name())
		}
	}
	if len(names) != len(entries) {
		t.Errorf("%d profiles, %d files", len(names), len(entries))
	}
}

// The fingerprint follows the contents of a profile, not its comments.
func TestFingerprint(t *testing.T) {
	print := func(text string) string {
		d, err := Lookup(find, &experiment.Target{Driver: "postgres", Profile: "x", ProfileText: text})
		if err != nil {
			t.Fatal(err)
		}
		o, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return o[result.OptionQuirks]
	}
	const text = "name: x\nsystem: X\ndriver: postgres\nhelp: x\nquirks: {newest: joined}\n"
	if print(text) != print("# a comment\n"+text) || print(text) == print(strings.Replace(text, "joined", "numbered", 1)) {
		t.Error("the fingerprint is not that of the contents")
	}
}

// Reasons for shapes of queries that a system cannot run.
func TestUnsupported(t *testing.T) {
	d, err := Lookup(find, &experiment.Target{Driver: "postgres", Profile: "x", ProfileText: "name: x\nsystem: X\ndriver: postgres\nhelp: x\nunsupported: {last: X keeps no order}\n"})
	if err != nil {
		t.Fatal(err)
	}
	options, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	table := suite.Table("a")
	_, err = d.Render(&query.Query{Type: "newest", Table: "cpu", Shape: query.Last{By: "hostname", Fields: []string{"a"}}}, &series.Schema{Tables: []*series.Table{table}, Series: 1}, options)
	if !errors.Is(err, query.ErrUnsupported) || !strings.HasSuffix(err.Error(), ": X keeps no order") {
		t.Error(err)
	}
}

// A system that takes line protocol alone is loaded at its own path, and read nowhere.
func TestLines(t *testing.T) {
	var requested []string
	host, port := stub.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("db"))
		w.WriteHeader(http.StatusNoContent)
	})
	d, options := lookup(t, "influxdb", "greptimedb", "host", host, "port", port)
	db, err := d.Open(t.Context(), driver.Env{Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	about, err := db.Describe(t.Context())
	if err != nil || about.System != "GreptimeDB" || !strings.HasPrefix(about.Durability, "unknown") {
		t.Errorf("%+v, %v", about, err)
	}
	table, batch := suite.Table("a"), new(series.Batch)
	suite.Prepare(t, db, 2, table)
	run := batch.Add(table)
	run.Grow(1)
	suite.Write(t, db, batch)
	if want := "POST /v1/influxdb/write public"; !slices.Contains(requested, want) {
		t.Errorf("%q lacks %s", requested, want)
	}
	if !d.Caps(options).Discards {
		t.Error("its contents would be checked")
	}
}

// M3 is written and queried at its own paths, and never requests Prometheus's reports.
func TestM3(t *testing.T) {
	var requested []string
	host, port := stub.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.Path)
		if strings.HasPrefix(r.URL.Path, "/api/v1/query") {
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
			return
		}
		fmt.Fprint(w, `{"status":"success","data":[]}`)
	})
	d, options := lookup(t, "prometheus", "m3", "host", host, "port", port)
	db, err := d.Open(t.Context(), driver.Env{Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	about, err := db.Describe(t.Context())
	if err != nil || about.System != "M3" {
		t.Errorf("%+v, %v", about, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := db.SetNote(ctx, "x"); err == nil {
		t.Error("a note is there that no query returned")
	}
	if !slices.Contains(requested, "/api/v1/prom/remote/write") {
		t.Errorf("%q", requested)
	}
	for _, path := range requested {
		if strings.Contains(path, "/status/") || strings.Contains(path, "/admin/") || path == "/metrics" {
			t.Errorf("requested %s", path)
		}
	}
	if err := db.Drop(t.Context(), []driver.Object{{Kind: "metric", Name: "cpu"}}); err == nil || !strings.Contains(err.Error(), "M3 deletes no series") {
		t.Error(err)
	}
}
