package iotdb

import (
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/workload"
)

// Each impossible setting is one line that names it.
func TestBadSettings(t *testing.T) {
	for want, change := range map[string]func(*workload.Spec){
		"--scale: must be 1 device or more":                                                     func(s *workload.Spec) { s.Scale = 0 },
		"--iotdb device-groups: 8 groups are more than --scale 7 devices":                       func(s *workload.Spec) { s.IoTDB.Groups = 8 },
		`--iotdb distribution: "0:0" sums to 0`:                                                 func(s *workload.Spec) { s.IoTDB.Distribution = "0:0" },
		`--iotdb distribution: "-1" in "2:-1" is no share`:                                      func(s *workload.Spec) { s.IoTDB.Distribution = "2:-1" },
		`--iotdb types: "1:1:1:1:1:1:1:1:1:1:1" has 11 shares`:                                  func(s *workload.Spec) { s.IoTDB.Types = strings.Repeat("1:", 10) + "1" },
		"--iotdb late-mean: 5 is the mean of delays that no row has":                            func(s *workload.Spec) { s.IoTDB.LateMean = "5" },
		"--iotdb late-mean: is for delays by delayed or paper-poisson":                          func(s *workload.Spec) { s.IoTDB.Late, s.IoTDB.LateMode, s.IoTDB.LateMean = "0.1", "batch", "5" },
		"--iotdb late-mode: batch needs a probability":                                          func(s *workload.Spec) { s.IoTDB.LateMode = "batch" },
		`--iotdb late-mode: "poisson" is no mode; known: delayed, batch, global, paper-poisson`: func(s *workload.Spec) { s.IoTDB.Late, s.IoTDB.LateMode = "0.1", "poisson" },
		"--iotdb late-most: 5 is the bound of delays that no row has":                           func(s *workload.Spec) { s.IoTDB.LateMost = 5 },
		"--iotdb late-most: is for delays by delayed, not by global":                            func(s *workload.Spec) { s.IoTDB.Late, s.IoTDB.LateMode, s.IoTDB.LateMost = "0.1", global, 5 },
		`--iotdb late: must be a probability from 0 to 1, such as 0.1, not "10%"`:               func(s *workload.Spec) { s.IoTDB.Late = "10%" },
		"--iotdb late: 1 leaves no row in time":                                                 func(s *workload.Spec) { s.IoTDB.Late = "1" },
		"--iotdb duplicates: paper-poisson makes duplicates itself": func(s *workload.Spec) {
			s.IoTDB.Late, s.IoTDB.LateMode, s.IoTDB.Duplicates = "0.1", paperPoisson, "0.1"
		},
		`--iotdb period: must be a duration`:                                                  func(s *workload.Spec) { s.IoTDB.Period = "6h..10m" },
		`--iotdb noise: must be a number from 0 to 10, or a range, such as 0..0.1, not "NaN"`: func(s *workload.Spec) { s.IoTDB.Noise = "NaN" },
		"--iotdb noise: is for values by formula":                                             func(s *workload.Spec) { s.IoTDB.Values, s.IoTDB.Noise = sharedBuffer, "0" },
		`--iotdb tags: "0" in "3:0" is no number of values`:                                   func(s *workload.Spec) { s.IoTDB.Tags = "3:0" },
		"--log-interval: 3µs is too short for 10 unaligned sensors":                           func(s *workload.Spec) { s.Interval, s.IoTDB.Unaligned = 3*time.Microsecond, true },
		"--interleaved-generation-groups: 9 are more than --scale 7 devices":                  func(s *workload.Spec) { s.Groups = 9 },
	} {
		s := base()
		change(&s)
		err := Workload().Check(s)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Tags have as many values as they were given, by the tool's hash of a device's
// name, and groups have the devices by turns.
func TestTagsAndGroups(t *testing.T) {
	s := base()
	s.Scale, s.IoTDB.Tags, s.IoTDB.Groups = 2000, "3:10", 4
	d := dataset(t, s)
	for i, want := range []int{3, 10} {
		values := map[string]bool{}
		for device := range s.Scale {
			text, _ := d.Schema().Tables[0].Tags[i+1].Values.Append(nil, device)
			values[string(text)] = true
		}
		if len(values) != want {
			t.Errorf("tag %d has %d values, want %d", i, len(values), want)
		}
	}
	// Java's hash of "d_12" is 3071964; modulo 30 that is 24, of which 10 are one
	// of the first tag's values.
	for i, want := range []string{"value_2", "value_4"} {
		if text, _ := d.Schema().Tables[0].Tags[i+1].Values.Append(nil, 12); string(text) != want {
			t.Errorf("tag %d of d_12 is %s, want %s", i, text, want)
		}
	}
	for _, r := range rowsOf(t, d.Part(5, 6, 0, 3), 10) {
		if !strings.HasPrefix(r.values, "g_1 ") {
			t.Errorf("device 5 is in %s, want g_1", r.values)
		}
	}
}
