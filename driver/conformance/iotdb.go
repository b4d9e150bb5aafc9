package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
)

// iotdb: the workload's rows and queries, however rows arrive.
func (s *suite) iotdb(t *testing.T) {
	for i, v := range []struct {
		name  string
		data  workload.IoTDB
		asked workload.IoTDBQueries
	}{
		{"plain", workload.IoTDB{Sensors: 6, Groups: 2}, workload.IoTDBQueries{Devices: 3, Sensors: 2, Aggregate: "max", Set: "intersect"}},
		{"tags and texts", workload.IoTDB{Sensors: 10, Types: "1:1:1:1:1:1:1:1:1:1", Tags: "2:3"}, workload.IoTDBQueries{Devices: 2, Aggregate: "sum", Set: "except"}},
		{"irregular and late", workload.IoTDB{Sensors: 3, Irregular: true, Late: "0.2", Types: "0:1:0:0:2"}, workload.IoTDBQueries{Sensors: 2, Aggregate: "avg", Set: "union-all"}},
		{"unaligned", workload.IoTDB{Sensors: 3, Unaligned: true, Types: "0:1:0:0:2"}, workload.IoTDBQueries{Aggregate: "min"}},
		{"unaligned of all types", workload.IoTDB{Sensors: 10, Unaligned: true, Types: "1:1:1:1:1:1:1:1:1:1", TextLength: 7}, workload.IoTDBQueries{Aggregate: "max"}},
		{"repeated rows", workload.IoTDB{Sensors: 3, Duplicates: "0.1"}, workload.IoTDBQueries{Devices: 2, Set: "intersect-all"}},
		{"rewritten times", workload.IoTDB{Sensors: 3, Late: "0.2", LateMode: "paper-poisson", LateMean: "3"}, workload.IoTDBQueries{Set: "union-all", SetOf: 3}},
	} {
		t.Run(v.name, func(t *testing.T) {
			repeats := v.data.Duplicates != "" || v.data.LateMode == "paper-poisson"
			if repeats && !s.caps.Holds(series.RepeatedTimes) {
				t.Logf("rows of one time are the same row")
				return
			}
			v.asked.Span, v.asked.Bucket, v.asked.Above, v.asked.Limit = "2h", "25m", fmt.Sprint(i*7-20), 7
			start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
			s.loadAndQuery(t, exampleOf(t, iotdb.Workload(), workload.Spec{
				Name: "iotdb", Seed: int64(i), Scale: 12, Start: start, End: start.Add(12 * time.Hour), Interval: 4 * time.Minute,
				InARow: 20, IoTDB: v.data, Asked: v.asked,
			}), 1)
		})
	}
}
