package workload_test

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
)

func devices(settings workload.Settings) workload.Spec {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	return workload.Spec{Name: "iotdb", Seed: 1, Scale: 3, Start: start, End: start.Add(time.Hour), Interval: time.Second, Settings: settings}
}

// Specifications are read as they were stored.
func TestStoredSettings(t *testing.T) {
	want := workload.Settings{"iotdb.sensors": "200", "iotdb.device-groups": "2", "iotdb.text-length": "4", "iotdb.irregular": "true", "iotdb.late": "0.1", "iotdb.late-mode": "batch"}
	stored, err := json.Marshal(devices(want))
	if err != nil {
		t.Fatal(err)
	}
	var s workload.Spec
	if err := json.Unmarshal(stored, &s); err != nil || !maps.Equal(s.Settings, want) || s.Scale != 3 || s.Interval != time.Second {
		t.Errorf("%+v, error %v, of %s", s, err, stored)
	}
}

// A dataset keeps the fingerprint that it always had, whether a default was given
// or left out.
func TestFingerprintsOfSettings(t *testing.T) {
	defaults := workload.Settings{}
	for _, o := range iotdb.Workload().Settings() {
		if o.Default != "" && o.Name != "late-mode" && o.Name != "late-mean" { // which need others
			defaults["iotdb."+o.Name] = o.Default
		}
	}
	for _, c := range []struct {
		settings workload.Settings
		want     string
	}{
		{nil, "09dd7af77ae0ad94"},
		{defaults, "09dd7af77ae0ad94"},
		{workload.Settings{"iotdb.sensors": "11"}, "7adba1d0418bc9c7"},
		{workload.Settings{
			"iotdb.sensors": "6", "iotdb.device-groups": "2", "iotdb.types": "0:1:2", "iotdb.values": "shared-buffer", "iotdb.distribution": "1:0:2",
			"iotdb.decimals": "3", "iotdb.text-length": "4", "iotdb.irregular": "true", "iotdb.unaligned": "true", "iotdb.tags": "2:3",
			"iotdb.late": "0.2", "iotdb.late-mode": "delayed", "iotdb.late-mean": "4", "iotdb.late-most": "9", "iotdb.duplicates": "0.1",
		}, "42400df70500b162"},
		{workload.Settings{"iotdb.period": "1m..2h", "iotdb.amplitude": "3", "iotdb.offset": "-1..1", "iotdb.noise": "0..0.1"}, "8526bd62165fb51b"},
	} {
		s := devices(c.settings)
		if err := iotdb.Workload().Check(s); err != nil {
			t.Error(err)
		}
		if got := workload.Fingerprint(iotdb.Workload(), s); got != c.want {
			t.Errorf("%v: fingerprint %s, want %s", c.settings, got, c.want)
		}
	}
}
