package cortex

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The version is that of a metric. A server is refused that looks not far enough ahead, or not as far back as
// answers do.
func TestGreet(t *testing.T) {
	const metrics = "cortex_build_info{branch=\"\",goversion=\"go1.26.8\",revision=\"\",version=\"1.21.1\"} 1\n"
	for _, c := range []struct{ metrics, config, says string }{
		{metrics, "querier: {max_query_into_future: 0s, lookback_delta: 5m0s}", ""},
		{metrics, "querier: {max_query_into_future: 0s, lookback_delta: 1m0s}", "looks back 1m0s for the newest sample, and answers are those for 5m0s: start it with -querier.lookback-delta=5m0s"},
		{metrics, "querier: {max_query_into_future: 10m0s}", "beyond 10m0s from now, and tsmark looks for rows of any time: start it with -querier.max-query-into-future=0"},
		{"up 1\n", "{}", "what answers there is not Cortex"},
	} {
		host, port := stub.HTTP(t, stub.Paths(map[string]string{
			"/metrics": c.metrics, "/config": c.config,
			"/prometheus/api/v1/query": `{"status":"success","data":{"resultType":"matrix","result":[]}}`,
		}))
		d := Driver()
		db, err := d.Open(t.Context(), driver.Env{Create: true}, conformance.Options(t, d, connection.Host, host, connection.Port, port))
		if c.says != "" {
			stub.Says(t, err, c.says)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer conformance.Close(t, db)
		if about, err := db.Describe(t.Context()); err != nil || about.Version != "1.21.1" {
			t.Errorf("%+v, %v", about, err)
		}
	}
}

// A batch that a starting server refuses is sent again.
func TestStarting(t *testing.T) {
	for message, temporary := range map[string]bool{"empty ring\n": true, "out of bounds\n": false} {
		host, port := stub.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/v1/push" {
				http.Error(w, message, http.StatusInternalServerError)
				return
			}
			stub.Paths(map[string]string{
				"/metrics": `cortex_build_info{version="1.21.1"} 1`, "/config": "{}",
				"/prometheus/api/v1/query": `{"status":"success","data":{"resultType":"matrix","result":[]}}`,
			})(w, r)
		})
		d := Driver()
		db, err := d.Open(t.Context(), driver.Env{Create: true}, conformance.Options(t, d, connection.Host, host, connection.Port, port))
		if err != nil {
			t.Fatal(err)
		}
		defer conformance.Close(t, db)
		err = db.SetNote(t.Context(), "note")
		stub.Says(t, err, message[:5])
		if found := driver.AsTemporary(err); (found != nil) != temporary {
			t.Errorf("%s: %v", message, err)
		}
	}
}

// A newest row is looked for beyond the server's lookback.
func TestNewestRow(t *testing.T) {
	d := Driver()
	options := conformance.Options(t, d)
	table := &series.Table{Name: "cpu", Tags: []series.Tag{{Key: "host"}}, Fields: []series.Field{{Name: "use", Type: series.Float}}, Dense: true}
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 1}
	first := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for window, want := range map[time.Duration]string{
		time.Minute: `{__name__="cpu_use", host!=""} and on (host) (timestamp({__name__="cpu_use", host!=""}) == on (host)`,
		time.Hour: `last_over_time({__name__="cpu_use", host!=""}[3600s]) and on (host) ((timestamp({__name__="cpu_use", host!=""}) or ` +
			`max_over_time(timestamp({__name__="cpu_use", host!=""})[3600s:300s])) == on (host)`,
		1000 * time.Hour: "",
	} {
		newest := query.Query{Type: "newest", Table: "cpu", Start: first, End: first.Add(window), Shape: query.Last{By: "host", Fields: []string{"use"}}}
		request, err := d.Render(&newest, schema, options)
		switch {
		case want == "" && errors.Is(err, query.ErrUnsupported):
			stub.Says(t, err, "selectors look back 5m0s, and a subquery of such steps would have more than 11000")
		case err != nil || want == "" || !strings.Contains(request.Text, want):
			t.Errorf("%v: %s, %v", window, request.Text, err)
		}
	}
}
