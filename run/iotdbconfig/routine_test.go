package iotdbconfig_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/iotdbconfig"
)

func readRoutine(config, routine string) (*experiment.Experiment, error) {
	return iotdbconfig.ReadRoutine(iotdbconfig.File{Name: "c.properties", Data: []byte(config)}, iotdbconfig.File{Name: "routine", Data: []byte(routine)}, iotdbconfig.Options{Drivers: drivers()})
}

const fake = "DB_SWITCH=FakeDB\nDEVICE_NUMBER=100\nDATA_CLIENT_NUMBER=5\n"

// Each TEST is a point, with the changes before it.
func TestRoutine(t *testing.T) {
	e, err := readRoutine(fake, "LOOP=10 TEST\r\nDATA_CLIENT_NUMBER=2 # fewer\n\nTEST LOOP=1\tBATCH_SIZE_PER_WRITE=10\nOPERATION_PROPORTION=0:1:0:0:0:0:0:0:0:0:0:0:0 TEST")
	if err != nil {
		t.Fatal(err)
	}
	points, err := e.Expand()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range points {
		if err := p.Experiment.Check(); err != nil {
			t.Error(err)
		}
		got = append(got, fmt.Sprint(p.Parameters))
	}
	want := []string{
		"workload.timestamp-end=2021-12-31T17:23:25Z, workload.rows-in-a-row=100, load.workers=5, load.batch-size=100, load.replace=true, queries.types=, queries.count=1000, queries.workers=5, queries.time-box=1.2s",
		"workload.timestamp-end=2021-12-31T17:23:25Z, workload.rows-in-a-row=100, load.workers=2, load.batch-size=100, load.replace=true, queries.types=, queries.count=1000, queries.workers=2, queries.time-box=1.2s",
		"workload.timestamp-end=2021-12-31T16:00:55Z, workload.rows-in-a-row=10, load.workers=2, load.batch-size=10, load.replace=false, queries.types=precise-point, queries.count=2, queries.workers=2, queries.time-box=0s",
	}
	sortParameters(got)
	sortParameters(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// sortParameters makes the order of parameters irrelevant.
func sortParameters(points []string) {
	for i, p := range points {
		parts := strings.Split(p, ", ")
		slices.Sort(parts)
		points[i] = strings.Join(parts, ", ")
	}
}

// A single test is a run like any other.
func TestRoutineOfOne(t *testing.T) {
	e, err := readRoutine(fake, "LOOP=10 TEST")
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Include) > 0 || e.Workload.End.Format("15:04:05") != "17:23:25" {
		t.Errorf("until %v, and %v", e.Workload.End, e.Include)
	}
}

func TestRoutineErrors(t *testing.T) {
	for routine, want := range map[string]string{
		"":                                  "routine: has no TEST, so that nothing is run; write one behind the parameters of each test",
		"LOOP=5":                            "routine: has no TEST, so that nothing is run; write one behind the parameters of each test",
		"TEST\nLOOP=5":                      "routine:2: there is no TEST behind this, so that nothing is run with it",
		"LOOP TEST":                         `routine:1: "LOOP" is neither KEY=VALUE nor TEST`,
		"LOPO=5 TEST":                       `routine:1: "LOPO" is not a parameter of IoTDB-Benchmark; did you mean "LOOP"?`,
		"TEST\nLOOP=0 TEST":                 `routine:2: LOOP: must be a whole number, 1 or more, not "0"`,
		"TEST\nDATA_CLIENT_NUMBER=101 TEST": "routine:2: DATA_CLIENT_NUMBER: 101 clients are more than 100 devices; lower it, or raise DEVICE_NUMBER",
		"TEST\nLOOP=100\nTEST":              "routine:3: this test is the same as the one on line 1; leave it out, and repeat with --repeats or --load-repeats",
		"TEST\nDB_SWITCH=SQLite TEST":       "routine:2: this test connects elsewhere than the first; name the systems with --target, and all are measured in each test",
		strings.Repeat("TEST ", 1001):       "routine:1: there are more than 1000 tests; leave some out",
	} {
		if _, err := readRoutine(fake, routine); err == nil || err.Error() != want {
			t.Errorf("%.40q:\ngot  %v\nwant %s", routine, err, want)
		}
	}
}

// FuzzReadRoutine: any routine gives a sweep that expands into as many points as it has tests, or
// an error of whole lines that name the file.
func FuzzReadRoutine(f *testing.F) {
	for _, routine := range []string{"TEST", "LOOP=5 TEST LOOP=6 TEST", "# x\nOPERATION_PROPORTION=1:1:0:0:0:0:0:0:0:0:0:0:0 TEST\r\nOPERATION_PROPORTION=1:0:0:0:0:0:0:0:0:0:0:0:0 TEST", "TEST IS_OUT_OF_ORDER=true TEST"} {
		f.Add(routine)
	}
	f.Fuzz(func(t *testing.T, routine string) {
		e, err := readRoutine(fake, routine)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "routine") {
					t.Fatalf("error %q", err)
				}
			}
			return
		}
		points, err := e.Expand()
		if err != nil || len(points) != max(len(e.Include), 1) {
			t.Fatalf("%d points of %d tests: %v", len(points), len(e.Include), err)
		}
	})
}
