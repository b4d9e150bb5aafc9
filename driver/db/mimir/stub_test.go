package mimir

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/series"
)

// open connects to a stub with these answers by their paths.
func open(t *testing.T, paths map[string]string) (driver.DB, error) {
	t.Helper()
	host, port := stub.HTTP(t, stub.Paths(paths))
	d := Driver()
	db, err := d.Open(t.Context(), driver.Env{Create: true}, conformance.Options(t, d, connection.Host, host, connection.Port, port))
	if err == nil {
		t.Cleanup(func() { conformance.Close(t, db) })
	}
	return db, err
}

const build = `{"status":"success","data":{"application":"Grafana Mimir","version":"3.1.0"}}`

func answers(config string) map[string]string {
	return map[string]string{
		"/prometheus/api/v1/status/buildinfo": build,
		"/prometheus/api/v1/query":            `{"status":"success","data":{"resultType":"matrix","result":[]}}`,
		"/config":                             config,
		"/metrics":                            "cortex_ingester_tsdb_compactions_total 3\ncortex_ingester_tsdb_storage_blocks_bytes{user=\"tsmark\"} 1e+06\ncortex_ingester_tsdb_storage_blocks_bytes{user=\"tsmark-2\"} 5\n",
	}
}

// Settings with which rows would not be found are refused before a load.
func TestSettings(t *testing.T) {
	const good = "limits: {query_ingesters_within: 0s}\nblocks_storage: {tsdb: {retention_period: 876000h0m0s}}\n"
	for config, says := range map[string]string{
		good: "",
		strings.Replace(good, "within: 0s", "within: 13h", 1): "older than 13h in the object storage alone: start it with -querier.query-ingesters-within=0",
		strings.Replace(good, "876000h", "13h", 1):            "start it with -blocks-storage.tsdb.retention-period=100y",
	} {
		db, err := open(t, answers(config))
		if err != nil {
			t.Fatal(err)
		}
		err = db.Inspect(t.Context())
		if says != "" {
			stub.Says(t, err, says)
		} else if err != nil {
			t.Error(err)
		}
	}
	db, err := open(t, answers(good))
	if err != nil {
		t.Fatal(err)
	}
	about, err := db.Describe(t.Context())
	if err != nil || about.Version != "3.1.0" || about.Settings[within] != "0s" {
		t.Errorf("%+v, %v", about, err)
	}
	size, err := db.Footprint(t.Context())
	if err != nil || size.Bytes != 1_000_000 || !strings.Contains(size.Without, "the write-ahead log") {
		t.Errorf("%+v, %v", size, err)
	}
}

// A server of another system is recognized.
func TestOtherSystem(t *testing.T) {
	_, err := open(t, map[string]string{"/prometheus/api/v1/status/buildinfo": `{"status":"success","data":{"version":"3.16.0"}}`})
	stub.Says(t, err, "what answers there is not Mimir")
}

// A server that is starting cannot be reached yet.
func TestStarting(t *testing.T) {
	paths := answers("{}")
	host, port := stub.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/prometheus/api/v1/query" {
			http.Error(w, "rpc error: code = Unavailable desc = ingester is unavailable (current state: Starting)", http.StatusServiceUnavailable)
			return
		}
		stub.Paths(paths)(w, r)
	})
	d := Driver()
	_, err := d.Open(t.Context(), driver.Env{Create: true}, conformance.Options(t, d, connection.Host, host, connection.Port, port))
	stub.Says(t, err, "it is not ready: ")
	if !errors.Is(err, driver.ErrUnreachable) {
		t.Error(err)
	}
}

// Series of more labels than a tenant may have are refused before the load.
func TestTooManyLabels(t *testing.T) {
	table := conformance.Table("usage")
	for range 30 {
		table.Tags = append(table.Tags, series.Tag{Key: "t" + strings.Repeat("x", len(table.Tags)), Values: series.Numbered{Prefix: "v"}})
	}
	d := Driver()
	caps := d.Caps(conformance.Options(t, d))
	stub.Says(t, caps.Schema(&series.Schema{Tables: []*series.Table{table}, Series: 1}), "Mimir stores only 29 (max_label_names_per_series)")
}

// What the server refuses it says with the remedy, and nothing is sent again that it would refuse again.
func TestWriteFails(t *testing.T) {
	for body, says := range map[string]string{
		"the sample has been rejected because another sample with a more recent timestamp has already been ingested and out-of-order samples are not allowed (err-mimir-sample-out-of-order)": "set limits.out_of_order_time_window to 100y",
		"per-user series limit of 150000 exceeded (err-mimir-max-series-per-user)":                                                                                                            "raise limits.max_global_series_per_user",
	} {
		host, port := stub.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/push") {
				stub.Saying(http.StatusBadRequest, "", body)(w, r)
				return
			}
			stub.Paths(answers("{}"))(w, r)
		})
		d := Driver()
		db, err := d.Open(t.Context(), driver.Env{Create: true}, conformance.Options(t, d, connection.Host, host, connection.Port, port))
		if err != nil {
			t.Fatal(err)
		}
		defer conformance.Close(t, db)
		schema, b := conformance.CPURows(t)
		if err := db.Create(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
		w := conformance.Writer(t, db)
		defer conformance.Close(t, w)
		_, err = w.Write(t.Context(), b)
		if stub.Says(t, err, says); driver.AsTemporary(err) != nil {
			t.Errorf("%v: it would be sent again", err)
		}
	}
}
