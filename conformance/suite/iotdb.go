package suite

import (
	"fmt"
	"maps"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
)

// iotdbVariant is rows of iotdb's, and queries about them.
type iotdbVariant struct {
	name     string
	long     bool // left out with -short: other variants have the same values, random queries the same shapes
	data     workload.Settings
	settings workload.Settings
}

// iotdbVariants returns rows as they may arrive. Those of the first variant are regular.
func iotdbVariants() []iotdbVariant {
	return []iotdbVariant{
		{"plain", true, workload.Settings{"iotdb.sensors": "6", "iotdb.device-groups": "2"}, workload.Settings{"iotdb.devices": "3", "iotdb.sensors": "2", "iotdb.aggregate": "max", "iotdb.set": "intersect"}},
		{"tags and texts", false, workload.Settings{"iotdb.sensors": "10", "iotdb.types": "1:1:1:1:1:1:1:1:1:1", "iotdb.tags": "2:3"}, workload.Settings{"iotdb.devices": "2", "iotdb.filter": "= drawn", "iotdb.aggregate": "sum", "iotdb.set": "except"}},
		{"irregular and late", true, workload.Settings{"iotdb.sensors": "3", "iotdb.irregular": "true", "iotdb.late": "0.2", "iotdb.types": "0:1:0:0:2"}, workload.Settings{"iotdb.sensors": "2", "iotdb.filter": "< 10", "iotdb.aggregate": "avg", "iotdb.set": "union-all"}},
		{"unaligned", true, workload.Settings{"iotdb.sensors": "3", "iotdb.unaligned": "true", "iotdb.types": "0:1:0:0:2"}, workload.Settings{"iotdb.aggregate": "min"}},
		{"unaligned of all types", false, workload.Settings{"iotdb.sensors": "10", "iotdb.unaligned": "true", "iotdb.types": "1:1:1:1:1:1:1:1:1:1", "iotdb.text-length": "7"}, workload.Settings{"iotdb.filter": "= drawn", "iotdb.aggregate": "max"}},
		{"repeated rows", true, workload.Settings{"iotdb.sensors": "3", "iotdb.duplicates": "0.1"}, workload.Settings{"iotdb.devices": "2", "iotdb.set": "intersect-all"}},
		{"rewritten times", false, workload.Settings{"iotdb.sensors": "3", "iotdb.late": "0.2", "iotdb.late-mode": "paper-poisson", "iotdb.late-mean": "3"}, workload.Settings{"iotdb.set": "union-all", "iotdb.set-of": "3"}},
	}
}

// iotdb: the workload's rows and queries, however rows arrive. A brief suite leaves the rarer ways to the servers of IoTDB.
func (s *Suite) iotdb(t T) {
	enough := false
	for i, v := range iotdbVariants() {
		if enough || v.long && s.brief() {
			continue
		}
		enough = s.Brief() && s.driver.Name != iotdb.Workload().Name()
		s.sub(t, v.name, func(t T) { s.iotdbRows(t, v, i) })
	}
}

func (s *Suite) iotdbRows(t T, v iotdbVariant, i int) {
	repeats := v.data["iotdb.duplicates"] != "" || v.data["iotdb.late-mode"] == "paper-poisson"
	if repeats && !s.caps.Holds(series.RepeatedTimes) {
		t.Logf("n/a: rows of one time are the same row")
		return
	}
	maps.Copy(v.settings, workload.Settings{"iotdb.span": "2h", "iotdb.bucket": "25m", "iotdb.limit": "7"})
	if v.settings["iotdb.filter"] == "" || s.recorded() { // recordings have no other operator
		v.settings["iotdb.filter"] = fmt.Sprint("> ", i*7-20)
	}
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	s.loadAndQuery(t, s.exampleOf(t, iotdb.Workload(), workload.Spec{
		Name: "iotdb", Seed: int64(i), Scale: 12, Start: start, End: start.Add(12 * time.Hour), Interval: RegularInterval,
		InARow: 20, Settings: v.data, QuerySettings: v.settings,
	}), 1)
}
