package promql

import (
	"testing"

	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
)

// BenchmarkDo is a query with a short answer: the plan is a value, so Do spends its time on HTTP and
// the answer.
func BenchmarkDo(b *testing.B) {
	q := querier(b, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"cpu_usage_user","hostname":"host_1"},"value":[1451606400,"58"]}]}}`)
	defer q.Close()
	p := &metric.Plan{
		Start: 1451606459999, End: 1451610059999, Step: 60_000, Timed: true, Shift: -59_999, Order: query.Ascending,
		Tags:       []metric.Tag{{Label: "hostname", Must: true}},
		Expression: `max_over_time({__name__=~"cpu_usage_(?:user|system|idle|nice|iowait)",hostname="host_1"}[1m])`,
	}
	for _, name := range []string{"user", "system", "idle", "nice", "iowait"} {
		p.Fields = append(p.Fields, metric.Field{Name: "cpu_usage_" + name})
	}
	request, err := p.Request()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if cost, err := q.Do(b.Context(), request, nil); err != nil || cost.Rows != 1 {
			b.Fatal(cost, err)
		}
	}
}
