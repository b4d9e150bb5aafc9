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
		"--scale: must be 1 device or more":                               func(s *workload.Spec) { s.Scale = 0 },
		"--iotdb device-groups: 8 groups are more than --scale 7 devices": func(s *workload.Spec) { s.Settings["iotdb.device-groups"] = "8" },
		`--iotdb distribution: iotdb option distribution=0:0: must be shares such as 1:0:2, from 0 on and not all 0, of square:sine:sawtooth:random:constant`: func(s *workload.Spec) { s.Settings["iotdb.distribution"] = "0:0" },
		`--iotdb distribution: iotdb option distribution=2:-1: must be shares`:                                                                                func(s *workload.Spec) { s.Settings["iotdb.distribution"] = "2:-1" },
		`--iotdb types: iotdb option types=1:1:1:1:1:1:1:1:1:1:1: must be shares`:                                                                             func(s *workload.Spec) { s.Settings["iotdb.types"] = strings.Repeat("1:", 10) + "1" },
		"--iotdb late-mean: 5 is the mean of delays that no row has":                                                                                          func(s *workload.Spec) { s.Settings["iotdb.late-mean"] = "5" },
		"--iotdb late-mean: is for delays by delayed or paper-poisson": func(s *workload.Spec) {
			s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"], s.Settings["iotdb.late-mean"] = "0.1", "batch", "5"
		},
		"--iotdb late-mode: batch needs a probability":                                                            func(s *workload.Spec) { s.Settings["iotdb.late-mode"] = "batch" },
		`--iotdb late-mode: iotdb option late-mode=poisson: must be one of delayed, batch, global, paper-poisson`: func(s *workload.Spec) { s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"] = "0.1", "poisson" },
		"--iotdb late-most: 5 is the bound of delays that no row has":                                             func(s *workload.Spec) { s.Settings["iotdb.late-most"] = "5" },
		"--iotdb late-most: is for delays by delayed, not by global": func(s *workload.Spec) {
			s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"], s.Settings["iotdb.late-most"] = "0.1", global, "5"
		},
		`--iotdb late: iotdb option late=10%: must be a number from 0 to 1`: func(s *workload.Spec) { s.Settings["iotdb.late"] = "10%" },
		"--iotdb late: 1 leaves no row in time":                             func(s *workload.Spec) { s.Settings["iotdb.late"] = "1" },
		"--iotdb duplicates: paper-poisson makes duplicates itself": func(s *workload.Spec) {
			s.Settings["iotdb.late"], s.Settings["iotdb.late-mode"], s.Settings["iotdb.duplicates"] = "0.1", paperPoisson, "0.1"
		},
		`--iotdb period: iotdb option period=6h..10m: must be a duration from 1µs to `:                            func(s *workload.Spec) { s.Settings["iotdb.period"] = "6h..10m" },
		`--iotdb noise: iotdb option noise=NaN: must be a number from 0 to 10, or a range of them, such as 0..10`: func(s *workload.Spec) { s.Settings["iotdb.noise"] = "NaN" },
		"--iotdb noise: is for values by formula":                                                                 func(s *workload.Spec) { s.Settings["iotdb.values"], s.Settings["iotdb.noise"] = sharedBuffer, "0" },
		`--iotdb tags: iotdb option tags=3:0: must be numbers of values from 1 on`:                                func(s *workload.Spec) { s.Settings["iotdb.tags"] = "3:0" },
		"--log-interval: 3µs is too short for 10 unaligned sensors":                                               func(s *workload.Spec) { s.Interval, s.Settings["iotdb.unaligned"] = 3*time.Microsecond, "true" },
		"--interleaved-generation-groups: 9 are more than --scale 7 devices":                                      func(s *workload.Spec) { s.Groups = 9 },
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
	s.Scale, s.Settings["iotdb.tags"], s.Settings["iotdb.device-groups"] = 2000, "3:10", "4"
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
	// Java's hash of "d_12" is 3071964; modulo 30 that is 24. Each of the first tag's values covers
	// 10 of the 30.
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
