package victoriametrics

import (
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// TSBS's texts on a real server.
func TestTSBSTexts(t *testing.T) { conformance.Texts(t, Driver(), server(t)) }

// The request is TSBS's to the byte, behind the prefix of a cluster, and the samples of
// its answer are counted.
func TestTSBSRequest(t *testing.T) {
	var received, uncached string
	host, port := stub.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		received, uncached = r.Method+" "+r.URL.RequestURI(), r.FormValue("nocache")
		stub.Saying(http.StatusOK, "", `{"status":"success","data":{"resultType":"matrix","result":[`+
			`{"metric":{"__name__":"cpu_usage_user"},"values":[[1,"2"],[2,"3"]]},{"metric":{"hostname":"host_1"},"values":[[1,"2"]]}]}}`)(w, r)
	})
	d := Driver()
	o, err := d.Resolve(map[string]string{connection.Host: host, connection.Port: port, optionSelect: "/select/0/prometheus"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSettings(o)
	if err != nil {
		t.Fatal(err)
	}
	q := newQuerier(s)
	defer conformance.Close(t, q)
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	texts, err := tsbs.Texts(d.TSBS.Format, workload.Spec{Name: "cpu-only", Seed: 123, Scale: 100, Start: start, End: start.Add(72 * time.Hour), Interval: time.Second}, "single-groupby-5-8-1", 5)
	if err != nil {
		t.Fatal(err)
	}
	for text := range texts {
		request, err := d.TSBS.Request(text.Statement(), o)
		if err != nil {
			t.Fatal(err)
		}
		cost, err := q.Do(t.Context(), request, nil)
		if want := "GET /select/0/prometheus" + text.Path; err != nil || received != want || cost.Rows != 3 {
			t.Errorf("%d rows, %v; received %q, want %q", cost.Rows, err, received, want)
		}
	}
	// A plan is sent as ever on the same connection.
	if _, err := q.Do(t.Context(), driver.Request{Plan: &metric.Plan{At: 1, Expression: "cpu_usage_user"}}, nil); err != nil || received != "POST /select/0/prometheus/api/v1/query" || uncached != "1" {
		t.Errorf("received %q, nocache %q, %v", received, uncached, err)
	}
	if !d.ResultCacheOf(true).Answers() || d.ResultCacheOf(false).Answers() {
		t.Error("the cache answers TSBS's own requests, and no others")
	}
}
