package document

import (
	"testing"

	"github.com/tsmark/tsmark/result"
)

// A size keeps a point unchanged if its data, load and queries are the full size's, whatever else
// it cuts.
func TestUncut(t *testing.T) {
	d, _ := Find("ntua-2024")
	at := func(parameters ...string) result.Parameters {
		var list result.Parameters
		for i := 0; i < len(parameters); i += 2 {
			list = append(list, result.Parameter{Path: parameters[i], Value: parameters[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		experiment string
		size       Size
		at         result.Parameters
		queries    int
		whole      bool
	}{
		{"load", Small, at("workload.timestamp-end", "2016-01-02T13:45:00Z", "load.workers", "2"), 0, true},
		{"load", Small, at("load.workers", "2", "workload.timestamp-end", "2016-01-02T13:45:00Z"), 0, true},
		{"load", Small, at("workload.timestamp-end", "2016-01-10T08:00:00Z", "load.workers", "16"), 0, false},
		{"load", Smoke, at("workload.timestamp-end", "2016-01-01T01:00:00Z", "load.workers", "2"), 0, false},
		{"load", Full, at("workload.timestamp-end", "2016-01-10T08:00:00Z", "load.workers", "2"), 0, true},
		{"queries", Small, at("workload.timestamp-end", "2016-01-02T13:45:00Z", "queries.workers", "4", "server-memory", "all"), 1000, true},
		{"queries", Small, at("workload.timestamp-end", "2016-01-02T13:45:00Z", "queries.workers", "4"), 1000, true},
		{"queries", Small, at("workload.timestamp-end", "2016-01-02T13:45:00Z", "queries.workers", "4", "server-memory", "1GiB"), 0, false},
		{"queries", Smoke, at("workload.timestamp-end", "2016-01-01T13:00:00Z", "queries.workers", "1"), 0, false},
	} {
		e, _ := d.Experiment(c.experiment)
		uncut, err := d.Uncut(e, c.size)
		if err != nil {
			t.Fatal(err)
		}
		if queries, whole := uncut.Has(c.at); whole != c.whole || c.queries > 0 && queries != c.queries {
			t.Errorf("%s in %s at %s: %v, %d queries", c.experiment, c.size, c.at, whole, queries)
		}
	}
}
