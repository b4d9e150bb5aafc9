package document

import (
	"testing"
	"time"
)

// A budget between small and full gives every experiment a size that runs, takes roughly
// that long, and says what it is.
func TestWithin(t *testing.T) {
	for _, d := range All() {
		var small, full time.Duration
		for i := range d.Experiments {
			if e := &d.Experiments[i]; e.Missing == "" {
				for size, to := range map[Size]*time.Duration{Small: &small, Full: &full} {
					took, err := d.Duration(e, size, 2)
					if err != nil {
						t.Fatal(err)
					}
					*to += took
				}
			}
		}
		t.Logf("%s takes %v in small, %v in full", d.Name, small.Round(time.Minute), full.Round(time.Minute))
		for _, budget := range []time.Duration{time.Minute, 2 * time.Hour, 1000 * time.Hour} {
			fitted, size, err := d.Within(budget, 2)
			if err != nil {
				t.Fatal(err)
			}
			var sum time.Duration
			whole := 0
			for i := range fitted.Experiments {
				e := &fitted.Experiments[i]
				if e.Missing != "" {
					continue
				}
				took, err := fitted.Duration(e, size, 2)
				if err != nil {
					t.Fatalf("%s, %s in %v: %v", d.Name, e.Name, budget, err)
				}
				sum += took
				if e.Whole(size) {
					whole++
				}
			}
			switch budget {
			case time.Minute:
				if sum >= small {
					t.Errorf("%s: a minute takes %v, small %v", d.Name, sum, small)
				}
			case 2 * time.Hour:
				if sum < small || sum > budget*11/10 {
					t.Errorf("%s: of 2 h %v are taken, small takes %v", d.Name, sum, small)
				}
			default:
				if budget > full && (sum < full*9/10 || whole == 0) {
					t.Errorf("%s: of 1,000 h %v are taken, full takes %v; %d are whole", d.Name, sum, full, whole)
				}
			}
		}
	}
}

// What is made longer keeps the points that claims are about.
func TestStretched(t *testing.T) {
	d, _ := Find("drouzas-2022")
	load, _ := d.Experiment("load-scale")
	cut := load.stretched(2)
	if got := get(cut.Run, "include").([]any)[0]; got == nil || cut.Words[:28] != "as small, with 2 times the r" {
		t.Errorf("%v, %q", got, cut.Words)
	}
	queries, _ := d.Experiment("queries")
	cut = queries.stretched(3)
	if get(cut.Run, "queries", "time-box") != "54s" || get(cut.Run, "workload", "timestamp-end") != "2016-01-01T13:00:00Z" {
		t.Errorf("%v", cut.Run)
	}
}
