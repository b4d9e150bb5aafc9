package prometheus

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
)

// A server that still reads its write-ahead log cannot be reached: a caller that started it waits.
func TestNotReady(t *testing.T) {
	d := newDatabase(serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Service Unavailable", http.StatusServiceUnavailable)
	}))
	err := d.greet(t.Context())
	stub.Says(t, err, "it is not ready: Service Unavailable")
	if !errors.Is(err, driver.ErrUnreachable) {
		t.Error(err)
	}
}

// What a server tells of itself.
func TestCheck(t *testing.T) {
	const status = "/api/v1/status/"
	paths := map[string]string{
		"/api/v1/query":        `{"status":"success","data":{"resultType":"scalar","result":[1451606400.861,"1451606400.861"]}}`,
		status + "flags":       `{"status":"success","data":{"storage.tsdb.path":"data","query.timeout":"10s","query.max-samples":"50000000","storage.tsdb.retention.size":"0B","log.level":"info"}}`,
		status + "runtimeinfo": `{"status":"success","data":{"CWD":"/srv/prometheus"}}`,
		status + "config":      `{"status":"success","data":{"yaml":"global:\n  scrape_interval: 1m\n"}}`,
	}
	d := newDatabase(serve(t, stub.Paths(paths)))
	conformance.Reads(t, d.db(), time.UnixMilli(1451606400861), "/srv/prometheus/data", "")
	conformance.Advises(t, d.db(), "", "query.timeout")
	paths[status+"config"] = `{"status":"success","data":{"yaml":"global:\n  query_log_file: /q\nscrape_configs:\n- job_name: a\nrule_files: [b]\nremote_write:\n- url: http://c\n"}}`
	conformance.Advises(t, d.db(), "", "query.timeout", scrapes, rules, forwards, queryLog)
	paths["/api/v1/query"] = `{}`
	if _, err := d.ReadClock(t.Context()); err == nil {
		t.Error("an answer without a time is a time")
	}
}
