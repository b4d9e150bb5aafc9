package prometheus

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
)

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
