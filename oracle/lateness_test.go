package oracle_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
)

// A survey determines the lateness within each series, even if devices alternate and sensors have
// their own times.
func TestSurveyOfLateRows(t *testing.T) {
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, settings := range map[string]workload.Settings{
		"aligned":   {"iotdb.sensors": "2", "iotdb.late": "0.2", "iotdb.late-mean": "20"},
		"unaligned": {"iotdb.sensors": "2", "iotdb.late": "0.2", "iotdb.late-mean": "20", "iotdb.unaligned": "true"},
		"in time":   {"iotdb.sensors": "2", "iotdb.unaligned": "true"},
	} {
		spec := workload.Spec{Name: "iotdb", Scale: 3, Seed: 1, Start: start, End: start.Add(10_000 * time.Second), Interval: time.Second, Settings: settings}
		d, err := iotdb.Workload().Dataset(spec)
		if err != nil {
			t.Fatal(err)
		}
		x, err := oracle.Pass(t.Context(), d, nil, nil, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		late := x.Survey.Late
		if settings["iotdb.late"] == "" {
			if late != nil {
				t.Errorf("%s: %+v, want nothing", name, late)
			}
			continue
		}
		if late == nil || late.Share < 0.19 || late.Share > 0.21 || late.Least > late.Share || late.Most < late.Share || late.Most > 0.22 {
			t.Errorf("%s: %+v, want a share of 0.2", name, late)
		} else if m := late.Delays; m[0] < 19 || m[0] > 22 || m[1] < m[0] || m[2] < m[1] || m[3] < m[2] || m[3] > 60 {
			t.Errorf("%s: delays %v, want a median about 21", name, m)
		}
	}
}
