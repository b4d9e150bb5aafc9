package cortex

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/metric"
)

// The version is that of a metric, and a server that looks not far enough ahead is refused.
func TestGreet(t *testing.T) {
	const metrics = "cortex_build_info{branch=\"\",goversion=\"go1.26.8\",revision=\"\",version=\"1.21.1\"} 1\n"
	for _, c := range []struct{ metrics, config, says string }{
		{metrics, "querier: {max_query_into_future: 0s, lookback_delta: 5m0s}", ""},
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
		q := conformance.Querier(t, db)
		defer conformance.Close(t, q)
		// It looks back five minutes, and for the newest row of a day it would have to look further.
		for lookback, says := range map[int64]string{0: "", 300_000: "", 86_400_000: "Cortex looks back 5m0s for the newest sample, but this query needs 24h0m0s"} {
			_, err := q.Do(t.Context(), driver.Request{Plan: &metric.Plan{At: 1, Expression: "up", Lookback: lookback}}, nil)
			if says != "" {
				stub.Says(t, err, says)
			} else if err != nil {
				t.Error(err)
			}
		}
	}
}
